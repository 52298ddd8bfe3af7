/* The plan: how a system uses the memory of a machine, in integers. Replay and pipeline read it. */
#pragma once

#include <stdint.h>

#include "core/array.h"
#include "core/error.h"
#include "decode/cost/cost.h"
#include "decode/replay/replay.h"
#include "decode/setup.h"
#include "machine/places.h"

/* Packing: which sequences of a batch pass a layer together.
 *
 * Sequences of one context are alike. So a batch is a count for each context, and micro-batches
 * come in runs with equal counts:
 *
 *     2000 x 5, 3000 x 5, bins of 8192    | 1 x 2000, 2 x 3000 | twice
 *                                         | 2 x 2000, 1 x 3000 | once, with 1 x 2000 left
 *
 * A block has a fixed number of sequences, in the order of their contexts. A balanced micro-batch
 * is a bin with a fixed number of tokens, filled by first fit decreasing: the longest sequence left
 * goes to the first bin with room for it, and a sequence longer than a bin gets a bin to itself.
 *
 * CAPTURE's mini-batches must fit two buffers, of activations and of KV, and should take as long to
 * recompute K and V from the first as to load the second. Here all sequences have the same ratio of
 * both, so a limit on tokens keeps both limits, and every bin is equally well balanced. */

struct cohort; /* sequences of one context */

struct packing {
    uint32_t cohorts;
    uint32_t runs;
    uint32_t *times;     /* [runs] micro-batches of each run, in the order they pass */
    uint32_t *sequences; /* [runs * cohorts] of each cohort in one micro-batch */
    uint32_t count;      /* micro-batches of all runs */
    uint32_t whole;      /* those of the whole batch: more than `count` if some are left out */
};

/* An empty packing of `cohorts` cohorts, in `arrays`, whose owner sees whether that failed. */
void packing_init(struct packing *packing, struct arrays *arrays, uint32_t cohorts,
                  struct error *why);

/* Pack `batch` [cohorts] into blocks of `most` (> 0) sequences; the last one may be smaller. */
void packing_blocks(struct packing *packing, const struct cohort *batch, uint32_t most);

/* Pack `batch` [cohorts] into bins of `most` tokens. */
void packing_bins(struct packing *packing, const struct cohort *batch, uint64_t most);

/* [cohorts] the sequences of each cohort in micro-batch `index`. */
const uint32_t *packing_of(const struct packing *packing, uint32_t index);

/* Representation: the form in which K and V are stored until attention reads them.
 *
 * A token's K and V in a layer can be stored as they are, or recomputed: from the layer's input activations,
 * which are half as large if every query head has its own KV head; or from the token itself, by running it
 * through the whole model. Recomputing costs arithmetic and saves bytes on the link.
 *
 *   a sequence's context, in every layer that offloads:
 *     | act_hbm | act_host |          kv          |   act, hybrid: HBM holds activations only
 *     |      ids       |          kv              |   tokens
 *
 * CAPTURE's allocation (its algorithm 1) divides the host's memory M: the GPU computes K and V while
 * the link carries the next layer's weights and KV, so both should take equally long:
 *
 *   first     t_gen (act_hbm of the batch + act) = T_weights + t_kv kv     act or kv is 0
 *   the rest  t_gen act = t_kv kv + t_act act, in M - weights - what is set apart first
 *
 * with t_gen, t_kv and t_act the times for one token in one layer. Each sequence is split as all of
 * M is. The paper leaves the last term out, and so does `balance_counts_act: no`. If the term counts
 * and t_act is at least t_kv, act_host is 0: an activation would cost both the GPU and the link more. */

/* Tokens of a sequence. They add up to its context. */
struct split {
    uint64_t act_hbm, act_host, ids, kv;
};

/* Bytes of a batch in a tier: of one GPU, or of all GPUs in a tier that they share. */
struct memory_held {
    uint64_t weights; /* below HBM: those that are streamed */
    uint64_t kv;      /* of heads that stay whole in HBM, and what stays of others; below it all KV,
                          or activations in its place */
    uint64_t window;  /* sinks and recent tokens of the others */
    uint64_t cache;
    uint64_t metadata; /* the index that retrieval reads, and averages for attention on the CPU */
    /* In HBM with workspace: temporary memory at the fullest moment (memory.h); on the host pinned: staging,
     * what a disk is read into, a streamed index. */
    uint64_t buffers;
    uint64_t workspace;
    uint64_t padding; /* of pinned memory, by allocators that round up */
    uint64_t all;     /* the sum */
};

struct memory {
    struct memory_held in[TIER_COUNT];
    bool peak_in_prefill;
};

/* Sizes of a KV head of one sequence. They depend on its context; in bytes, on the batch, too. */
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
    struct arrays arrays; /* of all that it points to */
    uint32_t layers, kv_heads, batch;
    struct cohort *cohorts;       /* [cohort_count], shortest context first */
    uint32_t cohort_count;        /* 1 if all contexts are equal */
    struct packing micro_batches; /* of the cohorts' sequences */
    struct replay_head *heads;    /* [layers * kv_heads], alike in every sequence */
    uint32_t *offloaded;          /* [layers] offloaded heads */
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
    uint32_t *rows; /* of steps that verify drafts (replay.h); NULL: none read a trace */
};

/* Resolve a setup into a plan. If it does not fit, `fits` is false, and `memory` says by how much.
 * `head_cosine` is the mean cosine of adjacent queries, [layers * kv_heads], or NULL. `trust` is lowered to
 * that of the figures read. The caller calls plan_release() after success. */
bool plan_resolve(const struct setup *setup, const double *head_cosine, struct plan *out,
                  struct trust *trust, struct error *why);
void plan_release(struct plan *plan);

/* The part of the plan that decides the hits of a cohort. It borrows from `setup` and `plan`. */
struct replay_plan plan_replay(const struct setup *setup, const struct plan *plan, uint32_t cohort);

/* The first tier that has no room for what it would hold; TIER_COUNT: all of them have. */
enum tier_id plan_overfull(const struct plan *plan);

/* Heads that leave HBM, over all layers. */
uint64_t plan_offloaded_heads(const struct plan *plan);

/* XXH64 of the replays of all cohorts. */
uint64_t plan_hash(const struct setup *setup, const struct plan *plan);

/* The share of the tokens outside HBM kept as activations, or recomputed: the one that balances the sum of
 * `batch` sequences of mean `context`, of which HBM holds `act_hbm` as activations. */
double representation_share(const struct setup *setup, uint32_t batch, double context,
                            double act_hbm);

/* Split a context of which HBM holds `act_hbm` tokens as activations; the recomputed part is whole blocks. */
struct split representation_split(const struct setup *setup, uint64_t context, uint64_t act_hbm,
                                  double share);

/* Bytes of one sequence in one layer, in host memory and on each pass over the link. */
double split_host_bytes(const struct setup *setup, const struct split *split);

/* What a micro-batch recomputes in a layer; all 0 at first. */
struct remaking {
    double activations; /* tokens recomputed from their activations */
    double tokens;      /* tokens that run through the model again */
    double flops;       /* of these, in all layers */
};

void representation_add(const struct setup *setup, const struct split *split, uint32_t sequences,
                        struct remaking *remaking);

/* Recomputing K and V of one layer. */
struct kernel representation_recompute(const struct setup *setup, const struct remaking *remaking);
