/* The kernels of a decode step. The groups time them, and the miniature runtime is built from them.
 *
 * A pair is one KV head of one sequence: pair p is head p % kv_heads of sequence p / kv_heads, and
 * its group of query heads shares its KV. Values are bf16 as uint16_t unless stated otherwise;
 * scores, the output of attention and its log-sum-exp are floats. Pointers are GPU addresses
 * (device memory, or pinned host memory as the GPU sees it), aligned to 16 bytes; `stream` is a
 * cudaStream_t. twins.h computes the same in plain C.
 *
 * Every function queues its kernels and returns. None allocates, waits or captures, so that all of
 * them can be recorded in a graph. They fail on a shape that is not supported, and if a launch
 * fails.
 */
#pragma once

#include "calibrate/kernels/small_floats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

#define KERNEL_MOST_GROUP 16

/* ---- attention (attention.cu, merge.cu) ---- */

/* K and V. Token t of a pair begins at value sequence * sequence_stride + head * head_stride +
 * t * token_stride; strides are multiples of 16 bytes. An fp8 NaN counts as 480. */
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
    const uint32_t *lists;  /* [pairs][most] the tokens attended to; NULL: the first tokens */
    const uint32_t *counts; /* [pairs] number of tokens, at most `most`; NULL: `most` */
    uint32_t most;
    float scale;
    uint32_t splits; /* CTAs that share a pair: kernel_attention_splits() */
    float *parts;    /* kernel_attention_scratch() bytes; unused if splits is 1 */
    float *out;      /* [pairs][group][dim] */
    float *lse;      /* [pairs][group]; a pair without tokens has -INFINITY, and zeros in `out` */
};

/* The number of splits that fills the GPU, and the bytes of scratch memory that they need. */
bool kernel_attention_splits(const struct kernel_attention *attention, uint32_t *splits,
                             struct error *why);
size_t kernel_attention_scratch(const struct kernel_attention *attention);
bool kernel_attend(const struct kernel_attention *attention, void *stream, struct error *why);

/* Merge out[parts][rows][dim] and lse[parts][rows] into whole[rows][dim] and whole_lse[rows], and,
 * unless it is NULL, into whole_bf16[rows][dim]. There are at most 128 parts; `dim` is a multiple
 * of 4, at most 128; `whole` may be the first part. */
bool kernel_merge(const float *out, const float *lse, uint32_t parts, uint32_t rows, uint32_t dim,
                  float *whole, float *whole_lse, uint16_t *whole_bf16, void *stream,
                  struct error *why);

/* ---- retrieval (scores.cu, codes.cu, topk.cu, labels.cu) ---- */

/* Score every entry of every pair: scores[pairs][entries], each the largest over the group's
 * queries[pairs][group][dim]. Entries are centroids[pairs][entries][dim], or
 * pages[pairs][entries][2][dim] with the minima before the maxima; dim is 64 or 128. */
bool kernel_score_centroids(const uint16_t *queries, const uint16_t *centroids, uint32_t pairs,
                            uint32_t group, uint32_t dim, uint32_t entries, float *scores,
                            void *stream, struct error *why);
bool kernel_score_pages(const uint16_t *queries, const uint16_t *pages, uint32_t pairs,
                        uint32_t group, uint32_t dim, uint32_t entries, float *scores, void *stream,
                        struct error *why);
/* The same for codes[pairs][entries][parts] with codebooks[pairs][parts][256][dim / parts]; parts
 * is 2, 4, 8 or 16. */
bool kernel_score_codes(const uint16_t *queries, const uint16_t *codebooks, const uint8_t *codes,
                        uint32_t pairs, uint32_t group, uint32_t dim, uint32_t parts,
                        uint32_t entries, float *scores, void *stream, struct error *why);
/* The same for hashes[pairs][entries][words] with the hashes queries[pairs][group][words]; words is
 * 4 or 8. */
bool kernel_score_hashes(const uint32_t *queries, const uint32_t *hashes, uint32_t pairs,
                         uint32_t group, uint32_t words, uint32_t entries, float *scores,
                         void *stream, struct error *why);

/* Write the indices of the k <= count largest of each row of scores[rows][count] into
 * chosen[rows][k], in any order; among equal scores any may be chosen. Scores may not be NaN.
 * `scratch` holds kernel_topk_scratch() bytes, zeros before the first call; every call leaves it
 * ready for the next. */
size_t kernel_topk_scratch(uint32_t rows);
bool kernel_topk(const float *scores, uint32_t rows, uint32_t count, uint32_t k, uint32_t *chosen,
                 void *scratch, void *stream, struct error *why);

/* QSAC's test of a layer, and its update. reuse[pairs] becomes 1 if similarity[pairs], of the
 * group's queries to labels[pairs][group][dim] under weights[pairs][group], reaches
 * threshold[pairs]. Otherwise it becomes 0, and the queries become the labels. */
bool kernel_compare_labels(const uint16_t *queries, uint16_t *labels, const float *weights,
                           const float *threshold, uint32_t pairs, uint32_t group, uint32_t dim,
                           float *similarity, uint32_t *reuse, void *stream, struct error *why);

/* ---- requests of a GPU to a CPU (sets.cu) ---- */

/* A pair whose `reuse` is 0 asks for all its wanted tokens, any other pair for none. `asked`,
 * `asked_counts` and `flag` are host memory. */
struct kernel_sets {
    const uint32_t *reuse;         /* [pairs] */
    const uint32_t *wanted;        /* [pairs][most] */
    const uint32_t *wanted_counts; /* [pairs] */
    uint32_t most;
    uint32_t *counts;       /* [pairs] tokens in the set that a pair holds, once it is fetched */
    uint32_t *asked;        /* [pairs][most] */
    uint32_t *asked_counts; /* [pairs] */
    uint32_t *asking;       /* a counter: 0 before and after */
    uint32_t *flag, value;  /* the flag becomes `value` when all else is written */
};
bool kernel_ask_sets(const struct kernel_sets *sets, uint32_t pairs, void *stream,
                     struct error *why);

/* Hold the stream until the host's `flag` is at least `value`. At the deadline, release it and set
 * *given_up to `value`. All work that must precede the flag has to be on another stream, and
 * meanwhile no kernel may be loaded and no memory allocated. */
bool kernel_await_flag(const uint32_t *flag, uint32_t value, uint64_t deadline_ns,
                       uint32_t *given_up, void *stream, struct error *why);

/* ---- rows (move.cu) ---- */

/* Copy row from_rows[i] of `from` to row to_rows[i] of `to`, for i < count; NULL stands for row i.
 * Rows have row_bytes, a power of two of at least 8; no two go to the same row. A CTA has 256
 * threads, each with 8 bytes in flight at a time: the gather by which link.cta_in_flight is
 * measured. */
bool kernel_move_rows(const void *from, const uint32_t *from_rows, void *to,
                      const uint32_t *to_rows, uint32_t count, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why);

/* ---- a cache that the GPU manages (lru.cu) ---- */

#define KERNEL_NOWHERE UINT32_MAX

/* LRU caches of `capacity` slots. Pair p uses cache caches[p], and no other pair does. A missed
 * token takes the slot touched longest ago, as in sim/policy/lru.c.
 *
 * In an empty cache slot_of and token_of are KERNEL_NOWHERE, and order is 0 ... capacity - 1. */
struct kernel_lru {
    uint32_t pairs, capacity; /* capacity <= 392192 */
    uint32_t tokens, most;    /* token numbers are below `tokens`; a pair wants at most `most` */
    const uint32_t *caches;   /* [pairs] */
    const uint32_t *wanted;   /* [pairs][most] tokens, best first, none twice */
    const uint32_t *counts;   /* [pairs] number of wanted tokens, at most `capacity` */
    uint32_t *slot_of;        /* [caches][tokens] */
    uint32_t *token_of;       /* [caches][capacity] */
    uint32_t *order;          /* [caches][capacity] slots, the one touched longest ago first */
    uint32_t *slots;          /* [pairs][most] out: cache * capacity + slot of each wanted token */
    uint32_t *missed;         /* [pairs][most] out: indices into `wanted` of misses, ascending */
    uint32_t *miss_counts;    /* [pairs] out */
};

/* Look up, choose the slots to evict, and update the tables. kernel_lru_fetch() then fetches. */
bool kernel_lru_touch(const struct kernel_lru *lru, void *stream, struct error *why);
/* For each missed token, copy row pair * tokens + token of keys and of values into the row that
 * `slots` names, with `ctas` CTAs a pair, as kernel_move_rows() does. */
bool kernel_lru_fetch(const struct kernel_lru *lru, const void *keys, const void *values,
                      void *keys_to, void *values_to, uint32_t row_bytes, uint32_t ctas,
                      void *stream, struct error *why);

/* ---- norms and positions (rows.cu) ---- */

/* residual[rows][width] += added[rows][width] (unless NULL); `out` becomes its RMS norm; `width` is
 * a multiple of 8. */
bool kernel_norm(uint16_t *residual, const uint16_t *added, const uint16_t *weight, uint32_t rows,
                 uint32_t width, float epsilon, uint16_t *out, void *stream, struct error *why);

/* Rotary positions: turn the first `heads` heads of each of values[rows][row_stride] in place by
 * the row's position. turns[position][dim / 2] holds cosine and sine (kernel_turns()); `dim` is a
 * multiple of 16. */
bool kernel_rope(uint16_t *values, const uint32_t *positions, const float *turns, uint32_t rows,
                 uint32_t heads, uint32_t dim, uint64_t row_stride, void *stream,
                 struct error *why);
/* Fill turns[positions][dim / 2][2], in host memory. */
void kernel_turns(uint32_t positions, uint32_t dim, double base, float *turns);

#ifdef __cplusplus
}
#endif
