/* Buffers for copies over the link, used piece after piece, so that no cache helps. */
#ifndef CALIBRATE_LINK_BUFFERS_H
#define CALIBRATE_LINK_BUFFERS_H

#include "calibrate/device/device.h"

/* Pinned memory and GPU memory of the same size, filled with random bits. */
struct link_buffers {
    pinned_memory host;
    gpu_memory gpu;
    size_t bytes, next;

    /* Allocate `wanted` bytes each, or less if either side lacks room; a power of two, at least
     * 16 MiB. */
    bool take(size_t wanted, uint64_t seed, struct error *why);
    /* The offset of the next `size` bytes in both buffers. */
    size_t turn(size_t size);
};

/* Queue one copy of `size` bytes at the next offset. */
bool link_copy(struct link_buffers *buffers, cudaMemcpyKind kind, size_t size, cudaStream_t stream,
               struct error *why);

#endif
