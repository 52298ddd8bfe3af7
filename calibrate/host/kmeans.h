/* One iteration of k-means (Lloyd, 1982) on the CPU, over the keys of a head: assigns each key to
 * the nearest of KMEANS_CENTROIDS centroids, and adds up the keys of each for the next centroids.
 *
 * The centroid c nearest to key k has the least |c|^2 / 2 - k . c. That is a product of matrices,
 * as in libraries, with 2 * dim operations for each key and centroid; the sums take another dim
 * operations a key.
 */
#pragma once

#include <stdint.h>

enum {
    KMEANS_CENTROIDS = 64, /* 6 bits: PQCache */
    KMEANS_TOGETHER = 2,   /* keys for which a loaded value of the centroids is used */
};

struct kmeans {
    uint32_t dim, count;    /* count: a multiple of KMEANS_TOGETHER */
    const float *keys;      /* [count][dim] */
    const float *centroids; /* [dim][KMEANS_CENTROIDS]: values of all centroids together */
    const float *halves;    /* [KMEANS_CENTROIDS] of |c|^2 */
    uint8_t *nearest;       /* [count] out; of equally near centroids the first */
    float *sums;            /* [KMEANS_CENTROIDS][dim] out: sum of the keys of each */
    uint32_t *members;      /* [KMEANS_CENTROIDS] out: number of keys of each */
};

void kmeans_iterate(const struct kmeans *kmeans);
