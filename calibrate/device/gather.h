/* Gather: a kernel that copies scattered rows into a dense array, as a fetch of missed KV does.
 *
 * Either side may be HBM or pinned host memory; the kernel's loads or stores then cross the link.
 * A CTA has GATHER_THREADS threads and takes consecutive rows. Each thread loads `width` bytes at a
 * time, and makes `loads` loads before its first store, so that a CTA has at most GATHER_THREADS x
 * width x loads bytes in flight. Row numbers are loaded one turn ahead.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

#define GATHER_THREADS 256

struct gpu_gather {
    const void *from; /* rows, as the GPU sees them, aligned to `width` */
    void *to;         /* its row i becomes row ids[i] of `from`; the two do not overlap */
    const uint32_t *ids;
    uint32_t rows;
    uint32_t row_bytes; /* a power of two, at least `width` */
    uint32_t ctas;
    uint32_t width; /* 8, or 16 */
    uint32_t loads; /* 1, 2, 4, 8 */
};

/* Queue the gather on `stream`, a cudaStream_t. Fails on a shape that is not supported. */
bool gpu_gather_launch(const struct gpu_gather *gather, void *stream, struct error *why);

#ifdef __cplusplus
}
#endif
