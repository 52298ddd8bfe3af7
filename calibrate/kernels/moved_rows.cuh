/* How kernels move rows: with the threads, the width and the loads in flight of the gather by which
 * link.cta_in_flight is measured (link/loads.cu). Predictions count on it (MINIATURE_CTA_THREADS). */
#pragma once

#include "calibrate/device/device.h"
#include "calibrate/device/row_loop.cuh"

#define MOVE_THREADS 256
#define MOVE_LOADS 1
typedef uint2 moved_value;

/* A row has 2^shift values. Fails unless its bytes are a power of two. */
static inline bool moved_shift(uint32_t row_bytes, uint32_t ctas, int *shift, struct error *why)
{
    uint32_t values = row_bytes / (uint32_t)sizeof(moved_value);
    *shift = values > 0 ? __builtin_ctz(values) : 0;
    return (ctas > 0 && values > 0 && (row_bytes & (row_bytes - 1)) == 0) ||
           error_set(why, NULL, 0,
                     "%u CTAs and rows of %u bytes: the kernels that move rows need a CTA, and a "
                     "power of two of at least 8 bytes",
                     ctas, row_bytes);
}
