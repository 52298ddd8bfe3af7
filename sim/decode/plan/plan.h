/* The plan: what a system does with its memory on a machine, in integers.
 *
 * Resolve looks at model, hardware, system and the trace's heads; replay and pipeline look at the
 * plan.
 */
#ifndef DECODE_PLAN_PLAN_H
#define DECODE_PLAN_PLAN_H

#include "decode/plan/packing.h"
#include "decode/plan/representation.h"
#include "decode/replay/replay.h"
#include "decode/setup.h"

#include <stdint.h>

enum limit { LIMIT_HBM, LIMIT_HOST };

struct memory {
    uint64_t weights;
    uint64_t resident; /* KV of heads that stay whole in HBM */
    uint64_t window;   /* sinks and recent tokens of the others */
    uint64_t cache;
    uint64_t metadata; /* what retrieval reads */
    uint64_t buffers;  /* prefetch or execution buffers: with workspace, at the fullest moment */
    uint64_t workspace;
    bool peak_in_prefill;
    uint64_t hbm;          /* the sum */
    uint64_t host_kv;      /* or what stands for it */
    uint64_t host_weights; /* that are streamed */
    uint64_t host_buffers; /* pinned: staging, and an index that is streamed */
    uint64_t host_padding; /* of what is pinned, by allocators that round up */
    uint64_t dram;         /* the sum */
};

/* Sizes of a KV head of one sequence. They depend on its context, and only where the budget is in
 * bytes on the batch. */
struct head_sizes {
    uint64_t entries; /* of retrieval: tokens, pages or clusters */
    uint64_t selected_tokens;
    uint64_t estimated_entries;
    uint64_t cache_tokens; /* of K and V */
    struct split split;    /* of the sequence's context, where K and V are recomputed */
};

/* The sequences of a batch that have one context. */
struct cohort {
    uint64_t context, prompt; /* tokens */
    uint32_t sequences;       /* 0 where the batch is too small for its share */
    struct head_sizes sizes;
};

struct plan {
    uint32_t layers, kv_heads, batch;
    struct cohort *cohorts; /* [cohort_count], by context, owned; all contexts alike: one */
    uint32_t cohort_count;
    struct packing micro_batches; /* of the cohorts' sequences */
    struct replay_head *heads;    /* [layers * kv_heads], of every sequence; owned */
    uint32_t *offloaded;          /* heads a layer that are offloaded, owned */
    uint64_t budget_bytes;
    uint32_t cpu_threads; /* that attend to what is kept outside HBM; 0: none do */
    struct memory memory;
    uint64_t hbm_limit, dram_limit;
    bool fits;
    enum limit limit; /* what stops one sequence more */
    uint32_t max_batch;
    uint64_t max_context; /* of this batch's sequences, of a plan that does not fit; 0: none */
    uint32_t warmup, steps;
    bool importance_assumed; /* importances were laid over another model's heads */
};

/* Resolve. A setup that does not fit is no error: `fits` is false, and memory says by how much.
 * `head_cosine` is the trace's mean adjacent query cosine, [layers * kv_heads] of the trace, NULL
 * without queries. */
bool plan_resolve(const struct setup *setup, const double *head_cosine, struct plan *out,
                  struct trust *trust, struct error *why);
void plan_release(struct plan *plan);

/* The part of the plan that decides what hits of a cohort. */
struct replay_plan plan_replay(const struct setup *setup, const struct plan *plan, uint32_t cohort);

/* Heads that leave HBM, over all layers. */
uint64_t plan_offloaded_heads(const struct plan *plan);

/* XXH64 of everything that plan_replay() says: cohorts of one trace with equal hashes replay alike.
 */
uint64_t plan_replay_hash(const struct replay_plan *replay);
uint64_t plan_hash(const struct setup *setup,
                   const struct plan *plan); /* the same, of all cohorts */

/* The same of what all plans of one replay_run_all() must have in common. */
uint64_t plan_family(const struct replay_plan *replay);

#endif
