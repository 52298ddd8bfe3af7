/* Decode attention on the CPU: one query for each head of a group over the KV of its KV head.
 *
 * KV is bf16, sums are fp32. Softmax is online (Milakov and Gimelshein, arXiv:1805.02867): a block
 * of rows at a time, whose largest score rescales the earlier sums. The output comes with the
 * logarithm of the sum of the exponentials, so that parts of a context, attended to by GPU and CPU
 * or by several threads, can be merged (Rabe and Staats, arXiv:2112.05682).
 *
 * Tests compare it with kernels/twins.h.
 */
#pragma once

#include "calibrate/host/pool.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ATTENTION_DIM_STEP = 32, ATTENTION_MOST_DIM = 256, ATTENTION_MOST_GROUP = 64 };

struct attention_shape {
    uint32_t group; /* query heads of a KV head, 1 ... ATTENTION_MOST_GROUP */
    uint32_t dim;   /* of a head: a multiple of ATTENTION_DIM_STEP, at most ATTENTION_MOST_DIM */
};

/* One KV head of one sequence, and its queries. */
struct attention_head {
    const uint16_t *keys, *values; /* bf16; those of token t begin at t * stride */
    size_t stride;                 /* in values, at least dim */
    const uint32_t *list;          /* [count] tokens attended to; NULL: 0 ... count - 1 */
    uint32_t count;                /* 0: `out` becomes 0, `lse` -INFINITY */
    const float *queries;          /* [group][dim] */
    float *out;                    /* [group][dim] */
    float *lse;                    /* [group]; natural logarithms */
};

/* Instruction sets, with the compiler's own vectors first. All give nearly the same output. */
enum attention_path { ATTENTION_PORTABLE, ATTENTION_AVX2, ATTENTION_AVX512, ATTENTION_PATHS };

bool attention_has(enum attention_path path);
enum attention_path attention_best(void); /* the last that this processor has */
const char *attention_path_name(enum attention_path path);

/* Attend with one head group on one path. Scores are query . key / sqrt(dim). */
void attention_attend(enum attention_path path, const struct attention_shape *shape,
                      const struct attention_head *head);

/* Attend with all heads on the threads of the pool, on the best path. A thread takes a head at a
 * time. Lists may differ in length; put the longest first. */
void attention_run(struct pool *pool, const struct attention_shape *shape,
                   const struct attention_head *heads, uint32_t count);

/* Merge the part (out, lse) into (whole, whole_lse), which is of the same queries over other
 * tokens.
 */
void attention_merge(const struct attention_shape *shape, const float *out, const float *lse,
                     float *whole, float *whole_lse);

#ifdef __cplusplus
}
#endif
