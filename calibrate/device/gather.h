/* Scattered rows made dense: what fetches missed KV, from HBM, or through the link by loads of
 * pinned memory; to HBM, or through the link by stores.
 *
 * A CTA of GATHER_THREADS threads takes rows in a row. Each thread loads `width` bytes at a time
 * and `loads` of them before it stores the first, so that a CTA has GATHER_THREADS x width x loads
 * bytes in flight at most. Row numbers are loaded one turn ahead.
 */
#ifndef CALIBRATE_DEVICE_GATHER_H
#define CALIBRATE_DEVICE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

#define GATHER_THREADS 256

struct gpu_gather {
    const void *from; /* rows, as the GPU sees them, aligned to `width` */
    void *to;         /* row i of it is row ids[i] of `from`; the two do not overlap */
    const uint32_t *ids;
    uint32_t rows;
    uint32_t row_bytes; /* a power of two, at least `width` */
    uint32_t ctas;
    uint32_t width; /* 8, or 16 */
    uint32_t loads; /* 1, 2, 4, 8 */
};

/* Queue it on a cudaStream_t. Fails on a shape that it does not have. */
bool gpu_gather_launch(const struct gpu_gather *gather, void *stream, struct error *why);

#ifdef __cplusplus
}
#endif
#endif
