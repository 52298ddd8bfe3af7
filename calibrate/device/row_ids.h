/* Row numbers in random order, in GPU memory, for gathers. Every row comes once before any row
 * comes again, so that no cache helps. */
#pragma once

#include "calibrate/device/device.h"

/* 0 ... rows - 1, shuffled by `seed`, in host memory; the caller frees it. NULL if memory is out.
 */
uint32_t *row_ids_shuffled(size_t rows, uint64_t seed, struct error *why);

struct row_ids {
    gpu_memory memory;
    uint32_t count = 0, next = 0;

    /* 0 ... rows - 1, shuffled by `seed`. */
    bool create(size_t rows, uint64_t seed, struct error *why);
    /* The next `rows` numbers, rows <= count. */
    const uint32_t *turn(uint32_t rows);
};
