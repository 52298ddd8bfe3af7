/* Replay: hits and misses, as a pure function of trace, plan and policy.
 *
 * Replay knows no time. It turns the rows of a trace into a ledger row for each reported step and layer of
 * the target model. A recording replays at its native size: each source head runs through the policy once for
 * each distinct importance that its target heads have (the capacity is one share for all), and the target
 * heads read these outcomes with the shifts of traces/FORMAT.md. So the cost of a replay does not grow with
 * the batch. Layers replay in parallel; the result is the same for any number of threads.
 *
 * A replay has sequences of one context. A batch of several contexts has a replay for each; a
 * sequence's place in the whole batch decides which rows it reads. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "core/error.h"
#include "decode/replay/ledger.h"
#include "policy/policy.h"
#include "trace/format/trace.h"
#include "trace/retrieval.h"

struct cores;
struct disk_cache;
struct meter;

/* One target KV head. Importances, 0 ... 1, are for policies that need queries. A group of more query
 * heads than are held has those of the first again. */
enum { REPLAY_MOST_QUERIES = 16 };
struct replay_head {
    bool offloaded; /* false: resident in HBM, not replayed and not counted */
    float importance;
    uint32_t queries; /* query heads with a number of their own; 0: each counts as the KV head */
    float query_importance[REPLAY_MOST_QUERIES];
};

/* What a cache keeps or evicts: units of the trace, in a cache for each head; or blocks, ranges of
 * tokens as long as the manager's unit, in a cache for each head (BLOCK_HEAD) or in one cache for a
 * layer, whose blocks hold all its heads (BLOCK_LAYER). */
enum block_span { BLOCK_UNIT, BLOCK_HEAD, BLOCK_LAYER };

/* How a layer's demands are asked for: with its own query, or a layer ahead, worse for layers 1 and 2. */
enum replay_asks { ASKS_OWN, ASKS_AHEAD, ASKS_AHEAD_EARLY, REPLAY_ASKS };
enum { REPLAY_LAST_EARLY = 2 };

/* The part of a plan that decides hits and misses. */
struct replay_plan {
    uint32_t layers, kv_heads;       /* of the target model (per GPU) */
    uint32_t batch;                  /* sequences */
    uint32_t before, behind;         /* sequences of other contexts in the same batch */
    uint64_t context;                /* tokens a sequence, of the target */
    const struct replay_head *heads; /* [layers * kv_heads] */
    const struct policy_kind *policy;
    uint64_t seed;               /* of random policies */
    const double *policy_values; /* one for each parameter of the policy; NULL: its defaults */
    enum policy_order order;
    double selection; /* share of the context that a head wants; above 0, at most 1 */
    double margin;    /* of these, wants units with at least exp(-margin) of the largest mass; 0:
                         all */
    double capacity;  /* share of the context that a head's cache holds; above 1 is all of it */
    uint32_t sinks, recent; /* tokens: always in HBM, never in the demand */
    bool recent_scales;     /* in the recording `recent` is the same share; else as many tokens */
    bool starts_full;       /* caches hold a guess before the first step (replay_job.h) */
    double manager_unit;    /* tokens of a unit of the cache's manager */
    enum block_span block_span;
    uint32_t block_candidates; /* most blocks that a step touches; 0: all that it wants */
    uint64_t decoded;          /* last tokens of the context that no prompt had */
    uint32_t warmup;           /* steps replayed and not reported */
    uint32_t steps;            /* steps reported; at most the trace's less warmup */
    const uint32_t *rows; /* [warmup + steps + 1] with drafts: the recorded step of a step's first
                             query (replay_demands.c), and where the next one would begin; NULL: a
                             step reads one recorded step */
    uint32_t queries;     /* of a sequence in a step; 1 without drafts */
    bool rejected_before; /* rejected drafts want nothing; else what recorded steps go on to want */
    uint32_t cpu_threads; /* that attend to units which the policy names for the CPU; 0: none */
    uint32_t whole_layers; /* first layers that load whole: what they hold is fixed, whatever the
                              policy, and they load the rest each step */
    uint64_t recomputed;   /* tokens of each of these layers whose K and V are recomputed */
    /* Layers are fetched one layer ahead, except the first and the whole layers: by approximate
     * demands if the trace has them, else by the true ones. Query labels are always compared with
     * true queries, because a trace holds no others. */
    bool speculates;
    bool asks_recorded; /* demands asked for with the own query are approximate rows, too */
    struct retrieval_error errors[REPLAY_ASKS]; /* of demands that are not; one size of pages */
};

/* How to replay; results do not depend on it. */
struct replay_means {
    uint32_t threads;         /* 0: one a processor */
    struct cores *cores;      /* instead: all that are free (core/parallel.h); may be NULL */
    struct meter *meter;      /* counts replay_work(); may be NULL */
    struct disk_cache *cache; /* of replay_run_kept() (replay_kept.h); NULL: nothing is kept */
};

/* The source head that a target head reads (trace_profile.h), and its shift among the reported steps. */
struct replay_source {
    uint32_t layer, head, shift;
};
struct replay_source replay_source(const struct trace_header *source,
                                   const struct replay_plan *plan, uint32_t layer, uint32_t head);

/* A share of the context in whole units of the trace; at least one if the share is above 0. */
uint32_t replay_units(const struct trace_header *header, double share);

/* The units that a selection of this share wants. Fails if the rows of the trace keep fewer. */
bool replay_wanted(const struct trace *trace, double selection, uint32_t *wanted,
                   struct error *why);

/* The seed of the policy of one source head. The odd factor keeps streams of different run seeds apart. */
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

/* Write the rows of the plan's whole layers (ledger_load_whole()). */
void replay_load_whole(const struct replay_plan *plan, struct ledger *ledger);

static inline uint32_t replay_steps_read(const struct replay_plan *plan)
{
    uint32_t steps = plan->warmup + plan->steps;
    return plan->rows == NULL ? steps : plan->rows[steps - 1] + plan->queries;
}

/* The work of a replay of this plan, and of all that replay with it, in units of a meter. */
uint64_t replay_work(const struct trace_header *header, const struct replay_plan *plan);

/* Refuse a plan with a count of 0 or a share out of range. */
bool replay_check(const struct replay_plan *plan, struct error *why);

/* Replay `trace` under `plan` into `ledger` on `threads` threads (0: one a processor). Shares of
 * the context become whole units (replay_units()). Counts scale by target context / recorded
 * context and are rounded to whole tokens for each pair and step, so that wanted = hit + missed +
 * for_cpu still holds. Fails if the trace has too few steps, lacks the queries that the policy
 * needs, or keeps fewer units than the selection wants (a policy that makes its own choice uses all
 * that the rows keep). The caller releases `ledger`, on failure too. */
bool replay_run(const struct trace *trace, const struct replay_plan *plan, uint32_t threads,
                struct ledger *ledger, struct error *why);

/* Plans that differ only in capacity, batch and heads, in what follows from these (threads of the
 * CPU, whole layers, recomputed tokens), and in the policy, unless caches keep blocks; policies must
 * have the same needs (queries, next uses, chooses_own, by_position). The trace is read once for
 * all, and each head runs through caches of all policies and capacities needed. The ledgers are
 * equal to those that replay_run() writes; on failure none counts. */
bool replay_run_many(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                     const struct replay_means *means, struct ledger *ledgers, struct error *why);

/* A ledger without a trace: `assumed:hit=93%,spread=5%`. Each offloaded (layer, head) has one hit
 * ratio for all steps and sequences: the mean of one of equally probable slices of a beta
 * distribution with that mean and standard deviation, dealt in an order shuffled under `seed`. Mass
 * is 1, nothing is reused, and the manager looks up all that is wanted, promotes hits and inserts
 * misses. If the CPU attends, the ratio applies to tokens outside the cache, which is the GPU's
 * window: the CPU attends to the share 1 - hit of them, and the others are skipped. Spread 0 gives
 * the mean everywhere; a spread that no beta distribution of that mean has is an error. */
bool replay_assumed(double hit, double spread, uint64_t seed, const struct replay_plan *plan,
                    struct ledger *ledger, struct error *why);

/* How much of the work of a question is done, counted by the threads that do it. */

/* Both in units that take equally long: those of a trace's context, for each step and head. */
struct meter {
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t spared; /* need not be done: it was kept from an earlier question */
};
