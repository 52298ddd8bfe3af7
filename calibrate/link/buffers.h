/* Memory that copies over the link go between, walked through in turn, so that no cache helps. */
#ifndef CALIBRATE_LINK_BUFFERS_H
#define CALIBRATE_LINK_BUFFERS_H

#include "calibrate/device/device.h"

/* As many bytes of pinned as of GPU memory, random. */
struct link_buffers {
    pinned_memory host;
    gpu_memory gpu;
    size_t bytes, next;

    /* `wanted` bytes each, or less where either lacks room; a power of two, at least 16 MiB. */
    bool take(size_t wanted, uint64_t seed, struct error *why);
    /* Where the next `size` bytes lie, in both. */
    size_t turn(size_t size);
};

/* One copy of `size` bytes at the next place. */
bool link_copy(struct link_buffers *buffers, cudaMemcpyKind kind, size_t size, cudaStream_t stream,
               struct error *why);

#endif
