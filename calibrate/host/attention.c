/* The kernel is written once, with the compiler's vectors, and compiled for three widths. The
 * processor's features decide which one runs. */
#include "calibrate/host/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* BLOCK: rows that pass together. Their keys and values fit a first cache of 32 KiB beside the
 * queries, and memory answers within the time of half a block. TILE: queries that pass together.
 * With two rows or two vectors of values, their sums fill half of 16 registers. */
enum { BLOCK = 32, TILE = 4 };

struct block {
    uint32_t rows;
    const uint16_t *keys[BLOCK], *values[BLOCK], *next_keys[BLOCK];
};

/* The state of a head: exponentials in powers of 2, vectors in the kernel's order. */
struct softmax {
    float scale;
    float queries[ATTENTION_MOST_GROUP * ATTENTION_MOST_DIM];
    float out[ATTENTION_MOST_GROUP * ATTENTION_MOST_DIM];
    float most[ATTENTION_MOST_GROUP];  /* largest score so far */
    float total[ATTENTION_MOST_GROUP]; /* of 2^(score - most) */
};

static inline size_t row_start(const struct attention_head *head, uint32_t row)
{
    return (head->list != NULL ? head->list[row] : row) * head->stride;
}

/* Take the rows from `row` on. Valid rows stand past the last one, and as the next keys of the last
 * block: they are read, but do not count. */
static inline void block_take(struct block *block, const struct attention_head *head, uint32_t row)
{
    uint32_t left = head->count - row, last = head->count - 1;
    block->rows = left < BLOCK ? left : BLOCK;
    for (uint32_t i = 0; i < BLOCK; i++) {
        size_t start = row_start(head, i < left ? row + i : last);
        block->keys[i] = head->keys + start;
        block->values[i] = head->values + start;
        block->next_keys[i] =
            head->keys + row_start(head, i + BLOCK < left ? row + i + BLOCK : last);
    }
}

/* The position of number `index` in the kernel's order: of every 2 * lanes numbers, those of even
 * index come first. */
static inline uint32_t pair_place(uint32_t index, uint32_t lanes)
{
    uint32_t within = index % (2 * lanes);
    return index - within + within / 2 + within % 2 * lanes;
}

/* Allows fused multiply-add, which the rest of the tree forbids. */
#ifdef __clang__
#define CONTRACTED
#else
#define CONTRACTED optimize("fp-contract=fast")
#endif

#define ATTEND attend_portable
#define LANES 4
#define TARGET __attribute__((CONTRACTED))
#include "calibrate/host/attention_kernel.h"

#if defined(__x86_64__)

#define ATTEND attend_avx2
#define LANES 8
#define TARGET __attribute__((CONTRACTED, target("avx2,fma")))
#include "calibrate/host/attention_kernel.h"

#define ATTEND attend_avx512
#define LANES 16
#define TARGET __attribute__((CONTRACTED, target("avx512f,avx512bw,avx512vl,avx2,fma")))
#include "calibrate/host/attention_kernel.h"

static bool host_attention_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool host_attention_has_avx512(void)
{
    return host_attention_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

#else

static bool has_none(void)
{
    return false;
}

#define host_attention_has_avx2 has_none
#define host_attention_has_avx512 has_none
#define attend_avx2 NULL
#define attend_avx512 NULL

#endif

static bool has_portable(void)
{
    return true;
}

static const struct {
    const char *name;
    bool (*has)(void);
    void (*attend)(const struct attention_shape *shape, const struct attention_head *head,
                   struct softmax *softmax);
} paths[ATTENTION_PATHS] = {
    [ATTENTION_PORTABLE] = {"portable", has_portable, attend_portable},
    [ATTENTION_AVX2] = {"AVX2", host_attention_has_avx2, attend_avx2},
    [ATTENTION_AVX512] = {"AVX-512", host_attention_has_avx512, attend_avx512},
};

bool attention_has(enum attention_path path)
{
    return paths[path].has();
}

enum attention_path attention_best(void)
{
    enum attention_path path = ATTENTION_PATHS - 1;
    while (!attention_has(path)) {
        path--;
    }
    return path;
}

const char *attention_path_name(enum attention_path path)
{
    return paths[path].name;
}

void attention_attend(enum attention_path path, const struct attention_shape *shape,
                      const struct attention_head *head)
{
    assert(shape->group > 0 && shape->group <= ATTENTION_MOST_GROUP);
    assert(shape->dim > 0 && shape->dim <= ATTENTION_MOST_DIM &&
           shape->dim % ATTENTION_DIM_STEP == 0);
    struct softmax softmax;
    softmax.scale = (float)(M_LOG2E / sqrt(shape->dim));
    for (uint32_t q = 0; q < shape->group; q++) {
        softmax.most[q] = -INFINITY;
        softmax.total[q] = 0;
    }
    memset(softmax.out, 0, (size_t)shape->group * shape->dim * sizeof *softmax.out);
    paths[path].attend(shape, head, &softmax);
    for (uint32_t q = 0; q < shape->group; q++) {
        float scale = softmax.total[q] > 0 ? 1 / softmax.total[q] : 0;
        for (uint32_t i = 0; i < shape->dim; i++) {
            head->out[q * shape->dim + i] *= scale;
        }
        head->lse[q] = (float)M_LN2 * (softmax.most[q] + log2f(softmax.total[q]));
    }
}

struct host_attention_heads {
    enum attention_path path;
    const struct attention_shape *shape;
    const struct attention_head *heads;
};

static void attend_head(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct host_attention_heads *heads = context;
    attention_attend(heads->path, heads->shape, &heads->heads[job]);
}

void attention_run(struct pool *pool, const struct attention_shape *shape,
                   const struct attention_head *heads, uint32_t count)
{
    struct host_attention_heads all = {attention_best(), shape, heads};
    pool_run(pool, count, attend_head, &all);
}

/* The weight of a part is its sum of exponentials, divided by the larger of the two sums. */
void attention_merge(const struct attention_shape *shape, const float *out, const float *lse,
                     float *whole, float *whole_lse)
{
    for (uint32_t q = 0; q < shape->group; q++) {
        float most = fmaxf(lse[q], whole_lse[q]);
        if (most == -INFINITY) {
            continue; /* both parts have no tokens */
        }
        float part = expf(lse[q] - most), before = expf(whole_lse[q] - most);
        float total = part + before;
        for (uint32_t i = q * shape->dim; i < (q + 1) * shape->dim; i++) {
            whole[i] = (whole[i] * before + out[i] * part) / total;
        }
        whole_lse[q] = most + logf(total);
    }
}
