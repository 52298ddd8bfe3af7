#include "calibrate/link/buffers.h"

#include "calibrate/host/memory.h"

#include <assert.h>

#define LEAST (16 * MiB)
#define PARTS 8 /* others need memory, too, and pinned memory is not swapped out */
#define APART ((size_t)512)

bool link_buffers::take(size_t wanted, uint64_t seed, struct error *why)
{
    size_t free, all;
    struct host_memory memory;
    if (!GPU_TRY(cudaMemGetInfo(&free, &all), why) || !host_memory_read("", &memory, why)) {
        return false;
    }
    const struct room_memory memories[] = {{"the GPU", free}, {"the host", (size_t)memory.free}};
    if (!room_find(wanted, LEAST, PARTS, memories, 2, &room, why)) {
        return false;
    }
    bytes = room.bytes;
    next = 0;
    return host.take(bytes, seed, why) && gpu.take(bytes, why) &&
           gpu_fill(gpu.data, bytes, seed + 1, why);
}

size_t link_buffers::turn(size_t size)
{
    assert(size <= bytes);
    size_t place = size <= bytes - next ? next : 0;
    next = (place + (size + APART - 1) / APART * APART) % bytes;
    return place;
}

bool link_copy(struct link_buffers *buffers, cudaMemcpyKind kind, size_t size, cudaStream_t stream,
               struct error *why)
{
    size_t place = buffers->turn(size);
    char *host = buffers->host.data + place, *gpu = buffers->gpu.data + place;
    return kind == cudaMemcpyHostToDevice
               ? GPU_TRY(cudaMemcpyAsync(gpu, host, size, kind, stream), why)
               : GPU_TRY(cudaMemcpyAsync(host, gpu, size, kind, stream), why);
}
