/* Tests miniatures on a GPU: each mechanism's outputs and counts. With a cache, two samples are
 * played, because the second must start from the same state. */
#include "kernel_test.h"

#include "calibrate/mini/gpu.h"

extern "C" {
#include "core/named.h"
#include "calibrate/host/topology.h"
#include "calibrate/mini/check.h"
#include "calibrate/mini/mini.h"
#include "decode/replay/ledger.h"
}

#include <limits.h>

#include <algorithm>

/* Few heads and tokens, for an emulator's sake. */
static struct miniature shape_here(const struct trace *trace)
{
    struct topology topology;
    struct miniature shape = {};
    MUST(topology_init(&topology, "", &why));
    shape.site = MINIATURE_GPU;
    shape.layers = 3;   /* one more than a stream has buffers */
    shape.kv_heads = 4; /* more than were recorded: some are shifted */
    shape.query_heads = 8;
    shape.head_dim = 64;
    shape.hidden = 72; /* not a round size */
    shape.repeat = 1;
    shape.context = trace_header(trace)->units;
    shape.selection = 0.02;
    shape.capacity = 0.06;
    shape.warmup = 6;
#ifdef __SANITIZE_ADDRESS__
    shape.steps = 1; /* a bad access shows in the first */
#else
    shape.steps = 2;
#endif
    shape.threads = topology.cores;
    topology_release(&topology);
    return shape;
}

static struct trace *open_trace()
{
    struct error why;
    char path[PATH_MAX];
    MUST(find_path("traces", "smollm2-135m", "swt", path, sizeof path, &why));
    struct trace *trace = trace_open(path, &why);
    must(trace != nullptr, why);
    return trace;
}

/* A cache with room for less than the warm-up wants: only for its better half. */
static void halve_reported(struct mini *mini)
{
    for (uint32_t h = 0; h < mini->shape.layers * mini->shape.kv_heads; h++) {
        struct mini_head *head = &mini->heads[h];
        for (uint32_t step = head->warmup; step < head->warmup + head->steps; step++) {
            struct mini_demand *demand = &head->demands[step];
            demand->count /= 2;
            for (uint32_t i = 0; i < demand->count; i++) {
                demand->ordered[i] = head->first + demand->units[i];
            }
            std::sort(demand->ordered, demand->ordered + demand->count);
        }
    }
}

struct fixture {
    struct trace *trace = open_trace();
    struct miniature shape = shape_here(trace);
    struct mini mini;
    struct policy_env env = mini_env(&shape, trace);
    struct mini_check check = {};
    const struct mini_runtime *runtime = nullptr;
    void *own = nullptr;

    explicit fixture(bool halved)
    {
        struct error why;
        must(mini_init(&mini, &shape, trace, &why), why);
        if (halved) {
            halve_reported(&mini);
        }
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

/* The counts of a replay. */
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
    if (id >= MINIATURE_GPU_QSAC_COPY && (missed == 0 || missed == wanted)) {
        return "a test in which all is reused, or nothing";
    }
    std::string wrong = compare("wanted of mechanism", id, (double)found.wanted, (double)wanted, 0);
    return wrong.empty()
               ? compare("missed of mechanism", id, (double)found.missed, (double)missed, 0)
               : wrong;
}

/* Play a sample, and check its outputs. */
static std::string play(fixture &all, enum miniature_id id, struct mini_counts *counts)
{
    struct error why;
    double worst, ns[3 * 2];
    must(all.runtime->start(all.own, id, &all.env, &why), why);
    must(all.runtime->play(all.own, id, ns, counts, &why), why);
    return mini_check(&all.check, id, &worst, &why) ? "" : why.found;
}

static fixture &whole_fixture()
{
    static fixture all(false);
    return all;
}

static uint32_t sum_of(const gpu_memory &memory)
{
    std::vector<uint32_t> words(memory.bytes / sizeof(uint32_t));
    MUST(GPU_TRY(cudaMemcpy(words.data(), memory.data, words.size() * sizeof words[0],
                            cudaMemcpyDeviceToHost),
                 &why));
    uint32_t sum = 0;
    for (uint32_t word : words) {
        sum ^= word;
    }
    return sum;
}

/* A sample reads memory of several times the L2: the sums of what each thread reads say so. */
static std::string check_cold(const void *, generator &)
{
    fixture &all = whole_fixture();
    const gpu_cold &cold = ((const gpu_mini *)all.own)->cold;
    struct mini_counts counts;
    int l2;
    MUST(gpu_attribute(cudaDevAttrL2CacheSize, &l2, &why));
    MUST(GPU_TRY(cudaMemset(cold.sums.data, 0, cold.sums.bytes), &why));
    std::string wrong = play(all, MINIATURE_GPU_FULL, &counts);
    if (cold.elsewhere.memory.bytes < 2 * (size_t)l2) {
        return "the memory that is read is too small to fill the L2";
    }
    uint32_t expected = sum_of(cold.elsewhere.memory);
    return wrong.empty() && (expected == 0 || sum_of(cold.sums) != expected)
               ? "the L2 was not filled with other data"
               : wrong;
}

static std::string check_mechanism(const void *at, generator &)
{
    fixture &all = whole_fixture();
    enum miniature_id id = *(const enum miniature_id *)at;
    std::string wrong;
    int times = strcmp(miniature_kinds[id].policy, "none") == 0 ? 1 : 2;
    struct error absent;
    if (all.runtime->can != nullptr && !all.runtime->can(all.own, id, &absent)) {
        printf("# %s is absent: %s\n", miniature_kinds[id].name, absent.found);
        return "";
    }
    for (int again = 0; again < times && wrong.empty(); again++) {
        struct mini_counts counts;
        wrong = play(all, id, &counts);
        wrong = wrong.empty() ? check_counts(all, id, counts) : wrong;
    }
    return wrong;
}

/* A replay does not know the better half, so hits are compared with the policy alone. */
static std::string check_larger_warmup(const void *at, generator &)
{
    static fixture all(true);
    struct mini_counts counts;
    std::string wrong = play(all, *(const enum miniature_id *)at, &counts);
    return wrong.empty() && !counts.agrees ? "the policy counted other hits" : wrong;
}

/* The same kernels launched one by one and as a graph: in the emulator, the sanitizers see the former,
 * and the reverse order the latter. */
static bool is_played_here(int id)
{
#ifdef __SANITIZE_ADDRESS__
    return id != MINIATURE_GPU_FULL_GRAPH && id != MINIATURE_GPU_LRU_GRAPH;
#else
    bool plain = id == MINIATURE_GPU_FULL || id == MINIATURE_GPU_LRU_KERNELS;
    return !plain || getenv("EMULATOR_REVERSE") == nullptr;
#endif
}

void miniature_cases(std::vector<kernel_case> &cases)
{
    static enum miniature_id ids[MINIATURE_COUNT];
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        ids[id] = (enum miniature_id)id;
        if (miniature_kinds[id].site == MINIATURE_GPU && is_played_here(id)) {
            cases.push_back(
                {std::string("miniature, ") + miniature_kinds[id].name, check_mechanism, &ids[id]});
        }
    }
    cases.push_back({"miniature, cold caches", check_cold, nullptr});
    for (int id : {MINIATURE_GPU_LRU_GRAPH, MINIATURE_GPU_QSAC_COPY}) {
        cases.push_back(
            {std::string("miniature whose warm-up wants more, ") + miniature_kinds[id].name,
             check_larger_warmup, &ids[id]});
    }
}
