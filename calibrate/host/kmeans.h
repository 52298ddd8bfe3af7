/* An iteration of k-means (Lloyd, 1982) on the CPU, over the keys of a head: each key to the
 * nearest of KMEANS_CENTROIDS centroids, and what the next centroids are made of.
 *
 * The nearest centroid c of key k has the least |c|^2 / 2 - k . c: a product of matrices, as in
 * libraries, with 2 * dim operations a key and centroid; sums take a key's own dim beside it.
 */
#ifndef CALIBRATE_HOST_KMEANS_H
#define CALIBRATE_HOST_KMEANS_H

#include <stdint.h>

enum {
    KMEANS_CENTROIDS = 64, /* 6 bits: PQCache */
    KMEANS_TOGETHER = 2,   /* keys that share a value of the centroids once it is loaded */
};

struct kmeans {
    uint32_t dim, count;    /* count: a multiple of KMEANS_TOGETHER */
    const float *keys;      /* [count][dim] */
    const float *centroids; /* [dim][KMEANS_CENTROIDS]: values of all centroids together */
    const float *halves;    /* [KMEANS_CENTROIDS] of |c|^2 */
    uint8_t *nearest;       /* [count] out; of equally near ones the first */
    float *sums;            /* [KMEANS_CENTROIDS][dim] out, of their keys */
    uint32_t *members;      /* [KMEANS_CENTROIDS] out */
};

void kmeans_iterate(const struct kmeans *kmeans);

#endif
