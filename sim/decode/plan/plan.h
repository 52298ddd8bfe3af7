/* The plan: how a system uses the memory of a machine, in integers.
 *
 * plan_resolve() reads model, hardware, system and the trace's heads; replay and pipeline read the
 * plan.
 */
#pragma once

#include "decode/plan/packing.h"
#include "decode/plan/representation.h"
#include "decode/replay/replay.h"
#include "decode/setup.h"
#include "machine/tier.h"

#include <stdint.h>

/* Bytes of a batch in a tier: of one GPU, or of all GPUs in a tier that they share. */
struct memory_held {
    uint64_t weights; /* below HBM: those that are streamed */
    uint64_t kv;      /* of heads that stay whole in HBM, and what stays of others; below it all KV,
                          or activations in its place */
    uint64_t window;  /* sinks and recent tokens of the others */
    uint64_t cache;
    uint64_t metadata; /* the index that retrieval reads, and averages for attention on the CPU */
    uint64_t buffers;  /* in HBM with workspace: temporary memory at the fullest moment (peak.h); on
                          the host pinned: staging, what a disk is read into, a streamed index */
    uint64_t workspace;
    uint64_t padding; /* of pinned memory, by allocators that round up */
    uint64_t all;     /* the sum */
};

struct memory {
    struct memory_held in[TIER_COUNT];
    bool peak_in_prefill;
};

/* Sizes of a KV head of one sequence. They depend on its context; with a budget in bytes, on the
 * batch, too. */
struct head_sizes {
    uint64_t entries; /* of the index: tokens, pages or clusters */
    uint64_t selected_tokens;
    uint64_t estimated_entries;
    uint64_t cache_tokens; /* tokens of K and V in the cache */
    struct split split;    /* of the sequence's context, if K and V are recomputed */
};

/* The sequences of a batch that have the same context. */
struct cohort {
    uint64_t context, prompt; /* tokens */
    uint32_t sequences;       /* 0 if the batch is too small for its share */
    struct head_sizes sizes;
};

struct plan {
    uint32_t layers, kv_heads, batch;
    struct cohort *cohorts;       /* [cohort_count], shortest context first, owned */
    uint32_t cohort_count;        /* 1 if all contexts are equal */
    struct packing micro_batches; /* of the cohorts' sequences */
    struct replay_head *heads;    /* [layers * kv_heads], alike in every sequence; owned */
    uint32_t *offloaded;          /* [layers] offloaded heads, owned */
    uint64_t budget_bytes;
    double resident_share; /* of the KV that may leave HBM; 0 unless `residency: pressure` */
    uint32_t cpu_threads;  /* that attend to KV outside HBM; 0: none do */
    struct memory memory;
    uint64_t limit[TIER_COUNT]; /* bytes that may be used */
    bool fits;
    enum tier_id full;    /* the tier that has no room for one more sequence */
    uint32_t max_batch;   /* the setup's batch if it says one and memory is unlimited */
    uint64_t max_context; /* tokens that would fit at this batch, if the plan does not; 0: none */
    uint32_t warmup, steps;
    uint32_t *rows; /* of steps that verify drafts (replay.h), owned; NULL: none read a trace */
};

/* Resolve a setup into a plan. A setup that does not fit is no error: `fits` is false, and `memory`
 * says by how much. `head_cosine` is the mean cosine of adjacent queries, [layers * kv_heads] of
 * the trace, or NULL if the trace has no queries. `trust` is lowered to that of the figures read.
 * The caller calls plan_release() after success. */
bool plan_resolve(const struct setup *setup, const double *head_cosine, struct plan *out,
                  struct trust *trust, struct error *why);
void plan_release(struct plan *plan);

/* The part of the plan that decides the hits of a cohort. It borrows from `setup` and `plan`. */
struct replay_plan plan_replay(const struct setup *setup, const struct plan *plan, uint32_t cohort);

/* The first tier that has no room for what it would hold; TIER_COUNT: all of them have. */
enum tier_id plan_overfull(const struct plan *plan);

/* Heads that leave HBM, over all layers. */
uint64_t plan_offloaded_heads(const struct plan *plan);

/* XXH64 of a replay plan: cohorts of one trace with equal hashes have equal ledgers. plan_hash()
 * covers all cohorts. */
uint64_t plan_replay_hash(const struct replay_plan *replay);
uint64_t plan_hash(const struct setup *setup, const struct plan *plan);

/* XXH64 of the fields in which all plans of one replay_run_all() must be equal. */
uint64_t plan_family(const struct replay_plan *replay);
