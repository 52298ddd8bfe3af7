/* Miniatures on a GPU: what each mechanism attends to, and what it counts; with a cache twice over,
 * for it must begin as it did. */
#include "kernel_test.h"

extern "C" {
#include "calibrate/host_topology.h"
#include "calibrate/mini.h"
#include "calibrate/mini_check.h"
}

static const char recording[] = "traces/smollm2-135m.swt";

/* Few heads and tokens, for an emulator's sake. */
static struct miniature shape_here(const struct trace *trace)
{
    struct topology topology;
    struct miniature shape = {};
    MUST(topology_init(&topology, "", &why));
    shape.site = MINIATURE_GPU;
    shape.layers = 3;   /* one more than buffers that a stream has */
    shape.kv_heads = 4; /* more than were recorded: some begin later */
    shape.query_heads = 8;
    shape.head_dim = 64;
    shape.hidden = 72; /* of no round size */
    shape.repeat = 1;
    shape.context = trace_header(trace)->units;
    shape.selection = 0.02;
    shape.capacity = 0.06;
    shape.warmup = 6;
    shape.steps = 2;
    shape.threads = topology.cores;
    topology_release(&topology);
    return shape;
}

static struct trace *open_trace()
{
    struct error why;
    struct trace *trace = trace_open(recording, &why);
    must(trace != nullptr, why);
    return trace;
}

struct fixture {
    struct trace *trace = open_trace();
    struct miniature shape = shape_here(trace);
    struct mini mini;
    struct policy_env env = mini_env(&shape, trace);
    struct mini_check check = {};
    const struct mini_runtime *runtime = nullptr;
    void *own = nullptr;

    fixture()
    {
        struct error why;
        must(mini_init(&mini, &shape, trace, &why), why);
        runtime = mini_gpu_runtime(&why);
        must(runtime != nullptr, why);
        own = runtime->create(&mini, &why);
        must(own != nullptr, why);
        check.mini = &mini;
        check.env = &env;
    }
    ~fixture()
    {
        mini_check_release(&check);
        runtime->destroy(own);
        mini_release(&mini);
        trace_close(trace);
    }
};

/* What a replay counts. */
static std::string check_counts(fixture &all, enum miniature_id id, const struct mini_counts &found)
{
    struct ledger ledger;
    uint64_t wanted = 0, missed = 0;
    MUST(miniature_replay(&all.shape, id, all.trace, &ledger, &why));
    for (uint32_t i = 0; i < ledger.steps * ledger.layers; i++) {
        wanted += ledger.rows[i].wanted;
        missed += ledger.rows[i].missed;
    }
    ledger_release(&ledger);
    if (!found.agrees) {
        return "the policy counted other hits";
    }
    if (miniature_qsac(id) != nullptr && (missed == 0 || missed == wanted)) {
        return "a test in which all is reused, or nothing";
    }
    std::string wrong = compare("wanted of mechanism", id, (double)found.wanted, (double)wanted, 0);
    return wrong.empty()
               ? compare("missed of mechanism", id, (double)found.missed, (double)missed, 0)
               : wrong;
}

static std::string check_mechanism(const void *at, generator &)
{
    static fixture all;
    enum miniature_id id = *(const enum miniature_id *)at;
    std::string wrong;
    int times = strcmp(miniature_kinds[id].policy, "none") == 0 ? 1 : 2;
    struct error absent;
    if (all.runtime->can != nullptr && !all.runtime->can(all.own, id, &absent)) {
        printf("# %s is absent: %s\n", miniature_kinds[id].name, absent.found);
        return "";
    }
    for (int again = 0; again < times && wrong.empty(); again++) {
        struct error why;
        struct mini_counts counts;
        double worst, ns[3 * 2];
        must(all.runtime->start(all.own, id, &all.env, &why), why);
        must(all.runtime->play(all.own, id, ns, &counts, &why), why);
        wrong =
            mini_check(&all.check, id, &worst, &why) ? check_counts(all, id, counts) : why.found;
    }
    return wrong;
}

void miniature_cases(std::vector<kernel_case> &cases)
{
    static enum miniature_id ids[MINIATURE_COUNT];
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        ids[id] = (enum miniature_id)id;
        if (miniature_kinds[id].site == MINIATURE_GPU) {
            cases.push_back(
                {std::string("miniature, ") + miniature_kinds[id].name, check_mechanism, &ids[id]});
        }
    }
}
