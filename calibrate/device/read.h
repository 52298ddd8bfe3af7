/* A kernel that reads memory as fast as possible and keeps a checksum. */
#pragma once

#include "calibrate/device/device.h"

/* CTAs for each SM: as many as fill it, and half of those, which leave room for another kernel. */
#define GPU_READ_FULL 4
#define GPU_READ_HALF 2

/* How many words `sums` needs for a read of any size. */
bool gpu_read_sums(uint32_t *words, struct error *why);

/* Queue a read of `bytes`, a multiple of 16, at `data`, aligned to 16. The exclusive or of
 * sums[*used] equals that of all 32-bit words read. `used` may be NULL. */
bool gpu_read_launch(const void *data, size_t bytes, uint32_t ctas_per_sm, uint32_t *sums,
                     uint32_t *used, cudaStream_t stream, struct error *why);
