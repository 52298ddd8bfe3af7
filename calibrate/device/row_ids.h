/* Numbers of rows in random order, on the GPU: what a gather reads. Every row once before one comes
 * again, so that no cache helps. */
#ifndef CALIBRATE_DEVICE_ROW_IDS_H
#define CALIBRATE_DEVICE_ROW_IDS_H

#include "calibrate/device/device.h"

/* 0 ... rows - 1, shuffled by `seed`, in host memory that free() frees; NULL when it is out. */
uint32_t *row_ids_shuffled(size_t rows, uint64_t seed, struct error *why);

struct row_ids {
    gpu_memory memory;
    uint32_t count = 0, next = 0;

    /* 0 ... rows - 1, shuffled by `seed`. */
    bool create(size_t rows, uint64_t seed, struct error *why);
    /* The next `rows` of them, rows <= count. */
    const uint32_t *turn(uint32_t rows);
};

#endif
