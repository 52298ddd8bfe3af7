/* Speed of the replays of `whatif --over budget`: at 128K tokens, with the shipped profile, whose
 * trace is generated while it is read, several budgets together. Accesses (wanted units, once a
 * budget) a second, compared with reading the same demands once a budget. It runs two layers of
 * llama-3-8b, a sixteenth. */
#include "bench.h"
#include "decode/replay/replay.h"
#include "trace/demand.h"
#include "trace/generate/generate.h"

#include <math.h>

enum { LAYERS = 2, HEADS = 8, STEPS = 64, CONTEXT = 131072, MOST_BUDGETS = 15, ROUNDS = 2 };

static struct trace *open_trace(void)
{
    struct error why;
    struct trace_profile profile;
    const struct trace_geometry geometry = {
        .layers = LAYERS,
        .kv_heads = HEADS,
        .query_heads = 32,
        .head_dim = 128,
        .context = CONTEXT,
        .keep = 0.1005, /* a scenario keeps the selected units and the window */
        .sequences = 1,
        .steps = STEPS,
        .seed = 1,
    };
    struct trace *trace = NULL;
    if (trace_profile_load(NULL, "traces/llama-3-8b-like.yaml", &profile, &why)) {
        trace = trace_open_generated(&profile, "llama-3-8b-like", &geometry, &why);
        trace_profile_release(&profile);
    }
    if (trace == NULL) {
        die(&why);
    }
    return trace;
}

/* Seconds of reading all demands; `sorted` says whether they are made of the frames, too. */
static double read_demands(const struct trace *trace, bool sorted)
{
    const struct trace_header *header = trace_header(trace);
    struct demand_shape shape = demand_shape(header, CONTEXT / 10, 4, 64);
    struct trace_frame frame = {0};
    struct demand_buffer buffer = {0};
    struct demand demand;
    struct error why;
    double start = seconds();
    for (uint32_t i = 0; i < LAYERS * trace_tiles(header); i++) {
        bool good = trace_read(trace, 0, i / LAYERS, i % LAYERS, &frame, &why);
        for (uint32_t row = 0; good && sorted && row < HEADS * frame.steps; row++) {
            good = demand_from_frame(header, &frame, row / frame.steps, row % frame.steps, &shape,
                                     &buffer, &demand, &why);
        }
        if (!good) {
            die(&why);
        }
    }
    double took = seconds() - start;
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
    return took;
}

/* Seconds of replaying so many budgets together, from none to all in equal ratios; with `beside`,
 * of both policies in turns. */
static double run_replays(const struct trace *trace, const char *policy, const char *beside,
                          uint32_t budgets)
{
    static struct replay_head heads[LAYERS * HEADS];
    struct replay_plan plans[MOST_BUDGETS];
    struct ledger ledgers[MOST_BUDGETS];
    struct error why;
    for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
        heads[i] = (struct replay_head){.offloaded = true};
    }
    for (uint32_t i = 0; i < budgets; i++) {
        plans[i] = (struct replay_plan){
            .layers = LAYERS,
            .kv_heads = HEADS,
            .batch = 1,
            .context = CONTEXT,
            .heads = heads,
            .policy = policy_find(beside != NULL && i % 2 == 1 ? beside : policy, NULL, 0, &why),
            .selection = 0.1,
            .capacity = budgets == 1 ? 0.3 : pow(0.01, 1 - (double)i / (budgets - 1)),
            .sinks = 4,
            .recent = 64,
            .manager_unit = 16,
            .warmup = STEPS / 2,
            .steps = STEPS / 2,
        };
        ledger_init(&ledgers[i]);
    }
    double start = seconds();
    const struct replay_means means = {.threads = 1};
    if (!replay_run_many(trace, plans, budgets, &means, ledgers, &why)) {
        die(&why);
    }
    double took = seconds() - start;
    for (uint32_t i = 0; i < budgets; i++) {
        ledger_release(&ledgers[i]);
    }
    return took;
}

int main(void)
{
    static const struct {
        const char *policy;
        uint32_t budgets;
    } rows[] = {{"none", 1}, {"lru", 1}, {"lru", 2}, {"lru", 15}, {"fifo", 1}, {"fifo", 15}};
    const double accesses = (double)LAYERS * HEADS * STEPS * (CONTEXT / 10);
    struct trace *trace = open_trace();
    double generated = INFINITY, read = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        generated = fmin(generated, read_demands(trace, false));
        read = fmin(read, read_demands(trace, true));
    }
    print_row("frames generated", accesses, "wanted units", generated, NULL, 0);
    print_row("demands of them", accesses, "wanted units", read, NULL, 0);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char name[32];
        double best = INFINITY, budgets = rows[r].budgets;
        for (int round = 0; round < ROUNDS; round++) {
            best = fmin(best, run_replays(trace, rows[r].policy, NULL, rows[r].budgets));
        }
        snprintf(name, sizeof name, "%s, %u budgets", rows[r].policy, rows[r].budgets);
        print_row(name, budgets * accesses, "accesses", best, "reading for each", budgets * read);
    }
    double alone = INFINITY, together = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        alone =
            fmin(alone, run_replays(trace, "lru", NULL, 4) + run_replays(trace, "fifo", NULL, 4));
        together = fmin(together, run_replays(trace, "lru", "fifo", 8));
    }
    print_row("lru and fifo, 4 each", 8 * accesses, "accesses", together, "one after the other",
              alone);
    trace_close(trace);
    return 0;
}
