#include "calibrate/host/kmeans.h"

#include <string.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDEST
#endif

/* The scores of a tile of centroids stay in registers while the values of a key pass. */
enum { LANES = 8, TILE = 4 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

static inline __attribute__((always_inline)) void
multiply_tile(const struct kmeans *kmeans, const float *keys, uint32_t first,
              float scores[KMEANS_TOGETHER][KMEANS_CENTROIDS])
{
    lanes sums[KMEANS_TOGETHER][TILE];
#pragma GCC unroll 4
    for (uint32_t t = 0; t < TILE; t++) {
#pragma GCC unroll 2
        for (uint32_t k = 0; k < KMEANS_TOGETHER; k++) {
            sums[k][t] = -*(const lanes *)(kmeans->halves + first + t * LANES);
        }
    }
    for (uint32_t d = 0; d < kmeans->dim; d++) {
        const float *values = kmeans->centroids + (size_t)d * KMEANS_CENTROIDS + first;
#pragma GCC unroll 4
        for (uint32_t t = 0; t < TILE; t++) {
#pragma GCC unroll 2
            for (uint32_t k = 0; k < KMEANS_TOGETHER; k++) {
                sums[k][t] += keys[k * kmeans->dim + d] * *(const lanes *)(values + t * LANES);
            }
        }
    }
#pragma GCC unroll 4
    for (uint32_t t = 0; t < TILE; t++) {
#pragma GCC unroll 2
        for (uint32_t k = 0; k < KMEANS_TOGETHER; k++) {
            *(lanes *)&scores[k][first + t * LANES] = sums[k][t];
        }
    }
}

static inline __attribute__((always_inline)) uint32_t largest_of(const float *scores)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c < KMEANS_CENTROIDS; c++) {
        best = scores[c] > scores[best] ? c : best;
    }
    return best;
}

static inline __attribute__((always_inline)) void kmeans_take(const struct kmeans *kmeans,
                                                              uint32_t key, const float *scores)
{
    uint32_t nearest = largest_of(scores);
    float *sum = kmeans->sums + (size_t)nearest * kmeans->dim;
    const float *values = kmeans->keys + (size_t)key * kmeans->dim;
    kmeans->nearest[key] = (uint8_t)nearest;
    kmeans->members[nearest]++;
    for (uint32_t d = 0; d < kmeans->dim; d++) {
        sum[d] += values[d];
    }
}

WIDEST void kmeans_iterate(const struct kmeans *kmeans)
{
    float scores[KMEANS_TOGETHER][KMEANS_CENTROIDS];
    memset(kmeans->sums, 0, sizeof *kmeans->sums * KMEANS_CENTROIDS * kmeans->dim);
    memset(kmeans->members, 0, sizeof *kmeans->members * KMEANS_CENTROIDS);
    for (uint32_t key = 0; key < kmeans->count; key += KMEANS_TOGETHER) {
        for (uint32_t first = 0; first < KMEANS_CENTROIDS; first += TILE * LANES) {
            multiply_tile(kmeans, kmeans->keys + (size_t)key * kmeans->dim, first, scores);
        }
        for (uint32_t k = 0; k < KMEANS_TOGETHER; k++) {
            kmeans_take(kmeans, key + k, scores[k]);
        }
    }
}
