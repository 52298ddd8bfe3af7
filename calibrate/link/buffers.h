/* Buffers for copies over the link, used piece after piece, so that no cache helps. */
#pragma once

#include "calibrate/device/device.h"

/* Pinned memory and GPU memory of the same size, filled with random bits. */
struct link_buffers {
    pinned_memory host;
    gpu_memory gpu;
    struct room room;
    size_t bytes, next;

    /* Allocate `wanted` bytes each, a power of two; halved until they are at most an eighth of the
     * free memory of either side, but not below 16 MiB. Fails if that is more than half of it. */
    bool take(size_t wanted, uint64_t seed, struct error *why);
    /* The offset of the next `size` bytes in both buffers; size <= bytes. */
    size_t turn(size_t size);
};

/* Queue one copy of `size` bytes at the next offset. */
bool link_copy(struct link_buffers *buffers, cudaMemcpyKind kind, size_t size, cudaStream_t stream,
               struct error *why);
