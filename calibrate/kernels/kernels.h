/* The kernels of a decode step that are measured, and that a runtime can be put together from.
 *
 * A pair is one KV head of one sequence: pair p is head p % kv_heads of sequence p / kv_heads, and
 * its group of query heads shares its KV. Values are bf16 as uint16_t unless something else is
 * said; scores, attention's output and its log-sum-exp are floats. Pointers are the GPU's (device
 * memory, or pinned host memory as the GPU sees it), aligned to 16 bytes; `stream` is a
 * cudaStream_t. Twins of what is computed stand in twins.h.
 *
 * Every function queues its kernels and returns; none allocates, waits or captures anything, so
 * that all of them can stand in a graph. They fail on a shape that they do not have, and where a
 * launch fails.
 */
#ifndef CALIBRATE_KERNELS_KERNELS_H
#define CALIBRATE_KERNELS_KERNELS_H

#include "calibrate/kernels/small_floats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

#define KERNEL_MOST_GROUP 16

/* ---- attention (attention.cu, merge.cu) ---- */

/* K and V: of a pair, token t begins at values t * token_stride behind sequence_stride and
 * head_stride; strides are multiples of 16 bytes. An fp8 NaN counts as 480. */
struct kernel_kv {
    const void *keys, *values;
    enum kv_type type;
    uint32_t dim; /* 64 or 128 */
    uint64_t sequence_stride, head_stride, token_stride;
};

struct kernel_attention {
    struct kernel_kv kv;
    uint32_t batch, kv_heads, group; /* group <= KERNEL_MOST_GROUP */
    const uint16_t *queries;         /* [pairs][group][dim] */
    const uint32_t *lists;  /* [pairs][most] the tokens attended to; NULL: the first ones */
    const uint32_t *counts; /* [pairs] how many, at most `most`; NULL: `most` */
    uint32_t most;
    float scale;
    uint32_t splits; /* CTAs that share a pair: kernel_attention_splits() */
    float *parts;    /* kernel_attention_scratch() bytes; unused where splits is 1 */
    float *out;      /* [pairs][group][dim] */
    float *lse;      /* [pairs][group]; -INFINITY, and zeros in `out`, where no token is */
};

/* So many that they fill the GPU; and the scratch memory that they need. */
bool kernel_attention_splits(const struct kernel_attention *attention, uint32_t *splits,
                             struct error *why);
size_t kernel_attention_scratch(const struct kernel_attention *attention);
bool kernel_attend(const struct kernel_attention *attention, void *stream, struct error *why);

/* out[parts][rows][dim] and lse[parts][rows] merged into whole[rows][dim] and whole_lse[rows];
 * whole_bf16[rows][dim] too unless NULL. `dim` is a multiple of 4, at most 512; whole may be the
 * first part. */
bool kernel_merge(const float *out, const float *lse, uint32_t parts, uint32_t rows, uint32_t dim,
                  float *whole, float *whole_lse, uint16_t *whole_bf16, void *stream,
                  struct error *why);

/* ---- retrieval (scores.cu, codes.cu, topk.cu, labels.cu) ---- */

/* Scores of every entry of every pair: scores[pairs][entries], each the largest over the group's
 * queries[pairs][group][dim]. Of centroids[pairs][entries][dim] and pages[pairs][entries][2][dim],
 * least before most; dim 64 or 128. */
bool kernel_score_centroids(const uint16_t *queries, const uint16_t *centroids, uint32_t pairs,
                            uint32_t group, uint32_t dim, uint32_t entries, float *scores,
                            void *stream, struct error *why);
bool kernel_score_pages(const uint16_t *queries, const uint16_t *pages, uint32_t pairs,
                        uint32_t group, uint32_t dim, uint32_t entries, float *scores, void *stream,
                        struct error *why);
/* Of codes[pairs][entries][parts], parts 2, 4, 8 or 16, with codebooks[pairs][parts][256]
 * [dim / parts]. */
bool kernel_score_codes(const uint16_t *queries, const uint16_t *codebooks, const uint8_t *codes,
                        uint32_t pairs, uint32_t group, uint32_t dim, uint32_t parts,
                        uint32_t entries, float *scores, void *stream, struct error *why);
/* Of hashes[pairs][entries][words], words 4 or 8, with those of the queries[pairs][group][words].
 */
bool kernel_score_hashes(const uint32_t *queries, const uint32_t *hashes, uint32_t pairs,
                         uint32_t group, uint32_t words, uint32_t entries, float *scores,
                         void *stream, struct error *why);

/* The k <= count largest of each of rows[rows][count] into chosen[rows][k], in no order, of equal
 * ones any. No NaN. `scratch` holds kernel_topk_scratch() bytes. */
size_t kernel_topk_scratch(uint32_t rows);
bool kernel_topk(const float *scores, uint32_t rows, uint32_t count, uint32_t k, uint32_t *chosen,
                 void *scratch, void *stream, struct error *why);

/* QSAC's test of a layer, and its update, in one: reuse[pairs] becomes 1 where similarity[pairs] of
 * the group's queries to labels[pairs][group][dim] reaches threshold[pairs], else 0, and the
 * queries become the labels. weights[pairs][group]. */
bool kernel_compare_labels(const uint16_t *queries, uint16_t *labels, const float *weights,
                           const float *threshold, uint32_t pairs, uint32_t group, uint32_t dim,
                           float *similarity, uint32_t *reuse, void *stream, struct error *why);

/* ---- what a GPU asks a CPU for (sets.cu) ---- */

/* Of each pair whose `reuse` is 0, what it wants; of others nothing. `asked`, `asked_counts` and
 * `flag` are the host's memory. */
struct kernel_sets {
    const uint32_t *reuse;         /* [pairs] */
    const uint32_t *wanted;        /* [pairs][most] */
    const uint32_t *wanted_counts; /* [pairs] */
    uint32_t most;
    uint32_t *counts;       /* [pairs] of the sets that are held: what is asked for will be */
    uint32_t *asked;        /* [pairs][most] */
    uint32_t *asked_counts; /* [pairs] */
    uint32_t *asking;       /* 0 before and behind */
    uint32_t *flag, value;  /* what it becomes when all else is written */
};
bool kernel_ask_sets(const struct kernel_sets *sets, uint32_t pairs, void *stream,
                     struct error *why);

/* Hold the stream until the host's `flag` is at least `value`; at the deadline let it go, and say
 * so: given_up becomes `value`. What must happen before the flag comes stands on another stream,
 * and no kernel is loaded or memory taken meanwhile. */
bool kernel_await_flag(const uint32_t *flag, uint32_t value, uint64_t deadline_ns,
                       uint32_t *given_up, void *stream, struct error *why);

/* ---- rows (move.cu) ---- */

/* Row from_rows[i] of `from` becomes row to_rows[i] of `to`, i < count; NULL: row i. Rows have
 * row_bytes, a multiple of 8, and no two become the same. A thread of each CTA's 256 has 8 bytes in
 * flight at a time. */
bool kernel_move_rows(const void *from, const uint32_t *from_rows, void *to,
                      const uint32_t *to_rows, uint32_t count, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why);

/* ---- a cache that the GPU manages (lru.cu) ---- */

#define KERNEL_NOWHERE UINT32_MAX

/* Caches of `capacity` slots, and what pairs want of them: pair p of caches[p], which is nobody
 * else's. A token that is missed takes the slot touched longest ago, as with sim/policy/lru.c.
 *
 * Empty: slot_of and token_of are KERNEL_NOWHERE, and order is 0 ... capacity - 1. */
struct kernel_lru {
    uint32_t pairs, capacity; /* capacity <= 392192 */
    uint32_t tokens, most;    /* tokens of a pair are below the one, at most the other are wanted */
    const uint32_t *caches;   /* [pairs] */
    const uint32_t *wanted;   /* [pairs][most] best first, none twice */
    const uint32_t *counts;   /* [pairs] how many, at most `capacity` */
    uint32_t *slot_of;        /* [caches][tokens] */
    uint32_t *token_of;       /* [caches][capacity] */
    uint32_t *order;          /* [caches][capacity] slots, the one touched longest ago first */
    uint32_t *slots;  /* [pairs][most] out: where what is wanted lies: cache * capacity + slot */
    uint32_t *missed; /* [pairs][most] out: places in `wanted` of what was not there, ascending */
    uint32_t *miss_counts; /* [pairs] out */
};

/* Look up, choose who leaves, and update; rows are fetched behind it. */
bool kernel_lru_touch(const struct kernel_lru *lru, void *stream, struct error *why);
/* Of keys and of values: row pair * tokens + token into the row that `slots` names, by so many CTAs
 * a pair; row_bytes a multiple of 8. A thread of each CTA's 256 has 8 bytes in flight at a time. */
bool kernel_lru_fetch(const struct kernel_lru *lru, const void *keys, const void *values,
                      void *keys_to, void *values_to, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why);

/* ---- what stands around the products (rows.cu) ---- */

/* stream[rows][width] += added[rows][width] (unless NULL), and its RMS norm in out; width a
 * multiple of 8. */
bool kernel_norm(uint16_t *residual, const uint16_t *added, const uint16_t *weight, uint32_t rows,
                 uint32_t width, float epsilon, uint16_t *out, void *stream, struct error *why);

/* Turn the first `heads` heads of each of rows[rows][row_stride] in place by its position:
 * turns[position][dim / 2] holds cosine and sine (kernel_turns()); dim a multiple of 16. */
bool kernel_rope(uint16_t *values, const uint32_t *positions, const float *turns, uint32_t rows,
                 uint32_t heads, uint32_t dim, uint64_t row_stride, void *stream,
                 struct error *why);
/* Fill turns[positions][dim / 2][2], in host memory. */
void kernel_turns(uint32_t positions, uint32_t dim, double base, float *turns);

#ifdef __cplusplus
}
#endif
#endif
