/* Each figure is a row: a statistic of trace/stats.h, or the replay of one policy at one setting. */
#include "decode/replay/likeness.h"

#include "decode/replay/replay.h"

#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

const struct likeness_figure likeness_figures[LIKENESS_FIGURES] = {
    {"overlap_1", "demand also wanted 1 step before", LIKENESS_STATS, TRACE_OVERLAP_1, NULL, 0},
    {"overlap_4", "demand also wanted 4 steps before", LIKENESS_STATS, TRACE_OVERLAP_4, NULL, 0},
    {"overlap_16", "demand also wanted 16 steps before", LIKENESS_STATS, TRACE_OVERLAP_16, NULL, 0},
    {"cosine_1", "cosine to the query 1 step before", LIKENESS_STATS, TRACE_COSINE_1, NULL, 0},
    {"cosine_4", "cosine to the query 4 steps before", LIKENESS_STATS, TRACE_COSINE_4, NULL, 0},
    {"cosine_16", "cosine to the query 16 steps before", LIKENESS_STATS, TRACE_COSINE_16, NULL, 0},
    {"fresh_mass", "attention mass of demand and window", LIKENESS_MASS, 0, "none", 0},
    {"lru_10", "hits of LRU, begun empty: 10 % of context", LIKENESS_HITS, 0, "lru", 0.1},
    {"lru_20", "hits of LRU, 20 %", LIKENESS_HITS, 0, "lru", 0.2},
    {"lru_30", "hits of LRU, 30 %", LIKENESS_HITS, 0, "lru", 0.3},
    {"lru_50", "hits of LRU, 50 %", LIKENESS_HITS, 0, "lru", 0.5},
    {"fifo_10", "hits of FIFO, 10 %", LIKENESS_HITS, 0, "fifo", 0.1},
    {"fifo_20", "hits of FIFO, 20 %", LIKENESS_HITS, 0, "fifo", 0.2},
    {"fifo_30", "hits of FIFO, 30 %", LIKENESS_HITS, 0, "fifo", 0.3},
    {"fifo_50", "hits of FIFO, 50 %", LIKENESS_HITS, 0, "fifo", 0.5},
    {"reuse_.9", "sets that QSAC reuses, threshold .9 for all heads", LIKENESS_REUSES, 0, "qsac",
     0.9},
    {"reuse_.8", "threshold .8", LIKENESS_REUSES, 0, "qsac", 0.8},
    {"reuse_.7", "threshold .7", LIKENESS_REUSES, 0, "qsac", 0.7},
    {"reuse_.6", "threshold .6", LIKENESS_REUSES, 0, "qsac", 0.6},
    {"mass_.9", "attention mass of QSAC's sets and the window, threshold .9", LIKENESS_MASS, 0,
     "qsac", 0.9},
    {"mass_.8", "threshold .8", LIKENESS_MASS, 0, "qsac", 0.8},
    {"mass_.7", "threshold .7", LIKENESS_MASS, 0, "qsac", 0.7},
    {"mass_.6", "threshold .6", LIKENESS_MASS, 0, "qsac", 0.6},
};

/* Replays that take one reading of the trace together. */
struct likeness_replays {
    struct replay_plan plans[LIKENESS_FIGURES];
    double values[LIKENESS_FIGURES][POLICY_MOST_PARAMS];
    struct ledger ledgers[LIKENESS_FIGURES];
    uint32_t figures[LIKENESS_FIGURES]; /* of each plan */
    uint32_t count;
};

/* Add the figure's replay, of the first sequence and with the trace's own layers and heads. */
static void add_replay(struct likeness_replays *all, const struct trace_header *header,
                       const struct replay_head *heads, double share, uint32_t figure,
                       const struct policy_kind *policy)
{
    const struct likeness_figure *source = &likeness_figures[figure];
    bool is_hits = source->kind == LIKENESS_HITS;
    uint32_t i = all->count++, warmup = header->steps / 2;
    all->figures[i] = figure;
    all->values[i][0] = source->setting; /* of qsac: threshold, ... */
    all->values[i][1] = 1;               /* ... power */
    all->plans[i] = (struct replay_plan){
        .layers = header->layers,
        .kv_heads = header->kv_heads,
        .batch = 1,
        .context = header->context,
        .heads = heads,
        .policy = policy,
        .policy_values = is_hits ? NULL : all->values[i],
        .order = POLICY_BATCH,
        .selection = share,
        .capacity = is_hits ? source->setting : share,
        .sinks = header->sinks,
        .recent = header->recent,
        .manager_unit = 1,
        .warmup = warmup,
        .steps = header->steps - warmup,
        .queries = 1,
    };
    ledger_init(&all->ledgers[i]);
}

static double mean_of(const struct ledger *ledger, enum likeness_kind kind)
{
    double wanted = 0, got = 0;
    for (size_t i = 0; i < (size_t)ledger->steps * ledger->layers; i++) {
        const struct ledger_row *row = &ledger->rows[i];
        wanted += kind == LIKENESS_HITS ? (double)row->wanted : row->offloaded_heads;
        got += kind == LIKENESS_HITS     ? (double)row->hit
               : kind == LIKENESS_REUSES ? row->reused_heads
                                         : row->mass;
    }
    return got / wanted;
}

/* The figures of policies that compare queries, or of the others. */
static bool measure_policies(const struct trace *trace, double share, bool queries,
                             uint32_t threads, double *mean, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    size_t count = (size_t)header->layers * header->kv_heads;
    struct replay_head *heads = array_zeroed(count, sizeof *heads, why);
    struct likeness_replays all = {.count = 0};
    bool ok = heads != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        heads[i] = (struct replay_head){.offloaded = true, .importance = 1};
    }
    for (uint32_t f = 0; ok && f < LIKENESS_FIGURES; f++) {
        const char *name = likeness_figures[f].policy;
        const struct policy_kind *policy = name != NULL ? policy_find(name, NULL, 0, why) : NULL;
        if (policy != NULL && policy->needs_queries == queries) {
            add_replay(&all, header, heads, share, f, policy);
        }
    }
    const struct replay_means means = {.threads = threads};
    ok = ok && replay_run_many(trace, all.plans, all.count, &means, all.ledgers, why);
    for (uint32_t i = 0; i < all.count; i++) {
        uint32_t f = all.figures[i];
        mean[f] = ok ? mean_of(&all.ledgers[i], likeness_figures[f].kind) : 0;
        ledger_release(&all.ledgers[i]);
    }
    free(heads);
    return ok;
}

static bool measure_stats(const struct trace *trace, double share, uint32_t threads, double *mean,
                          struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_selection selection = {share, header->sinks, header->recent};
    struct trace_stats stats;
    if (!trace_stats_measure(trace, &selection, threads, &stats, why)) {
        return false;
    }
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        if (likeness_figures[f].kind == LIKENESS_STATS) {
            mean[f] = gsl_stats_mean(stats.figures[likeness_figures[f].figure], 1,
                                     (size_t)header->layers * header->kv_heads);
        }
    }
    trace_stats_release(&stats);
    return true;
}

bool likeness_measure(const struct trace *trace, double share, uint32_t threads,
                      double mean[LIKENESS_FIGURES], struct error *why)
{
    if (!trace_header(trace)->has_queries) {
        return error_set(why, trace_path(trace), 0, "the trace has no queries");
    }
    return measure_stats(trace, share, threads, mean, why) &&
           measure_policies(trace, share, false, threads, mean, why) &&
           measure_policies(trace, share, true, threads, mean, why);
}
