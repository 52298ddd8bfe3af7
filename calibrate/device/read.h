/* A kernel that reads memory as fast as it comes and keeps a checksum of it. */
#ifndef CALIBRATE_DEVICE_READ_H
#define CALIBRATE_DEVICE_READ_H

#include "calibrate/device/device.h"

/* CTAs an SM: as many as fill it; and half of those, to leave room beside them. */
#define GPU_READ_FULL 4
#define GPU_READ_HALF 2

/* Words that `sums` must hold for reads of any size. */
bool gpu_read_sums(uint32_t *words, struct error *why);

/* Read `bytes`, a multiple of 16, at `data`, aligned to 16. The exclusive or of all words of
 * sums[*used] is that of all 32-bit words read. `used` may be NULL. */
bool gpu_read_launch(const void *data, size_t bytes, uint32_t ctas_per_sm, uint32_t *sums,
                     uint32_t *used, cudaStream_t stream, struct error *why);

#endif
