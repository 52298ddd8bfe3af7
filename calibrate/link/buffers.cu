#include "calibrate/link/buffers.h"

#include "calibrate/measure/copy_fit.h"

#include <unistd.h>

#define LEAST (16 * MiB)
#define APART ((size_t)512)

bool link_buffers::take(size_t wanted, uint64_t seed, struct error *why)
{
    size_t free, all;
    if (!GPU_TRY(cudaMemGetInfo(&free, &all), why)) {
        return false;
    }
    size_t host_free = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    bytes = copy_largest(wanted, LEAST, free, host_free);
    next = 0;
    return host.take(bytes, seed, why) && gpu.take(bytes, why) &&
           gpu_fill(gpu.data, bytes, seed + 1, why);
}

size_t link_buffers::turn(size_t size)
{
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
