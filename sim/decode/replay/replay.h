/* Replay: what hits and what misses, as a pure function of trace, plan and policy.
 *
 * Replay knows no time. It turns the rows of a trace into a ledger row for each reported step and
 * layer of the target model. A recording replays at its native size: each source head is run
 * through the policy once for each distinct setting that its target heads have (importance; the
 * capacity is one share for all), and the target heads read those outcomes with the shifts of
 * traces/FORMAT.md. So the cost of a replay does not grow with the batch. Layers replay in
 * parallel; the result is the same for any number of threads.
 *
 * A replay is of sequences of one context. In a batch of several contexts each has its own, in
 * which a sequence reads the rows that its place in the whole batch gives it.
 */
#ifndef DECODE_REPLAY_REPLAY_H
#define DECODE_REPLAY_REPLAY_H

#include "base/error.h"
#include "decode/replay/ledger.h"
#include "policy/policy.h"
#include "trace/format/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* What replay is told about one target KV head. */
struct replay_head {
    bool offloaded;   /* false: resident in HBM, never replayed, in no count */
    float importance; /* 0 ... 1; used by policies that need queries */
};

/* What a cache keeps or evicts: units of the trace, a cache a head; or blocks, ranges of as many
 * tokens as the manager's unit: a cache a head, or one a layer whose blocks hold all its heads. */
enum block_span { BLOCK_UNIT, BLOCK_HEAD, BLOCK_LAYER };

/* The integers of a plan that decide what hits. */
struct replay_plan {
    uint32_t layers, kv_heads;       /* of the target model (per GPU) */
    uint32_t batch;                  /* sequences */
    uint32_t before, behind;         /* sequences of other contexts in the same batch */
    uint64_t context;                /* tokens a sequence, of the target */
    const struct replay_head *heads; /* [layers * kv_heads] */
    const struct policy_kind *policy;
    uint64_t seed;               /* of policies that draw lots */
    const double *policy_values; /* one for each parameter of the policy; NULL: its defaults */
    enum policy_order order;
    double selection; /* share of the context that a head wants, over 0 and at most 1 */
    double margin;    /* of that, what has at least exp(-margin) of the heaviest's mass; 0: all */
    double capacity;  /* share of the context that a head's cache holds; over 1 is all of it */
    uint32_t sinks, recent; /* tokens, always in HBM, never in the demand */
    bool recent_scales;     /* as large a share of what was recorded; else as many tokens */
    double manager_unit;    /* tokens of a unit of the cache's manager */
    enum block_span block_span;
    uint32_t block_candidates; /* blocks that a step touches; 0: all that it wants */
    uint32_t warmup;           /* steps replayed and not reported */
    uint32_t steps;            /* steps reported; at most the trace's less warmup */
    uint32_t cpu_threads;      /* that attend to what the policy names for the CPU; 0: none do */
    uint32_t whole_layers;     /* first layers that load whole what their cache does not hold, by
                                  position: they replay nothing, whatever the policy */
    uint64_t recomputed;       /* tokens of each of them whose K and V are made again */
    /* Layers but the first and these are asked for a layer ahead: where the trace has approximate
     * rows, with those; else with the true query. Labels are compared with the true queries: a
     * trace holds no other. */
    bool speculates;
};

/* Which source head a target head reads (trace/generate/mapping.h), and with what shift of `rows` reported
 * rows. */
void replay_source(const struct trace_header *source, uint32_t layers, uint32_t kv_heads,
                   uint32_t layer, uint32_t head, uint32_t rows, uint32_t *source_layer,
                   uint32_t *source_head, uint32_t *shift);

/* A share of the context in whole units of the trace, at least one where the share is not 0. */
uint32_t replay_units(const struct trace_header *header, double share);

/* The units that a selection of this share wants. Fails where the trace keeps fewer of each row. */
bool replay_wanted(const struct trace *trace, double selection, uint32_t *wanted,
                   struct error *why);

/* The seed of the policy of one source head: each draws lots of its own under every seed, which an
 * odd factor keeps apart. */
static inline uint64_t replay_seed(uint64_t seed, const struct trace_header *source,
                                   uint32_t sequence, uint32_t layer, uint32_t head)
{
    uint64_t place = ((uint64_t)sequence * source->layers + layer) * source->kv_heads + head;
    return seed * 0x9E3779B97F4A7C15u + place;
}

/* Sequences of the whole batch. */
static inline uint64_t replay_all_sequences(const struct replay_plan *plan)
{
    return (uint64_t)plan->before + plan->batch + plan->behind;
}

/* The rows of the plan's whole layers. */
void replay_load_whole(const struct replay_plan *plan, struct ledger *ledger);

/* Refuse a plan in which a count is 0 or a share is none. */
bool replay_check(const struct replay_plan *plan, struct error *why);

/* Replay `trace` under `plan` into `ledger` on `threads` threads (0: one a processor). Shares of
 * the context become whole units, at least one where the share is not 0. Counts scale by target
 * context / recorded context, rounded to whole tokens per (pair, step) with wanted = hit + missed
 * + for_cpu kept. Fails when the trace has too few steps, lacks the queries that the policy needs,
 * or keeps fewer units than the selection wants (a policy that chooses its own looks at what there
 * is). `ledger` is the caller's to release, on failure too. */
bool replay_run(const struct trace *trace, const struct replay_plan *plan, uint32_t threads,
                struct ledger *ledger, struct error *why);

/* The same of `count` plans that differ in capacity, in batch, in heads and in what of these
 * follows (threads of the CPU, whole layers, what is recomputed), and in nothing else: the trace is
 * read once for all, and each head is run through caches of all capacities that are wanted of it.
 * `ledgers` has one for each, which is the one that replay_run() would write. */
bool replay_run_all(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                    uint32_t threads, struct ledger *ledgers, struct error *why);

/* A ledger without a trace: `assumed:hit=93%,spread=5%`. Each offloaded (layer, head) has one hit
 * ratio for all steps and sequences: an equal slice of a beta distribution of that mean and
 * standard deviation, dealt in a fixed shuffled order under `seed`. Mass is 1, nothing is reused,
 * and a manager looks up what is wanted, promotes hits and inserts misses. Where the CPU attends,
 * the ratio is of what the cache, its window, does not hold: a hit is let go, a miss is for the
 * CPU, which so keeps 1 - hit. Spread 0 gives the mean everywhere; a spread that no beta
 * distribution of that mean has is an error. */
bool replay_assumed(double hit, double spread, uint64_t seed, const struct replay_plan *plan,
                    struct ledger *ledger, struct error *why);

#endif
