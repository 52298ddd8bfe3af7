#include "calibrate/mini/gpu_cold.h"

#include "calibrate/device/launch.cuh"

#define THREADS 256
#define CTAS_PER_SM 8

static __global__ void __launch_bounds__(THREADS)
    read_plainly(const uint4 *data, uint64_t count, uint32_t *sums)
{
    uint64_t first = (uint64_t)blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS;
    uint32_t sum = 0;
#pragma unroll 4
    for (uint64_t at = first; at < count; at += step) {
        uint4 loaded = data[at];
        sum ^= loaded.x ^ loaded.y ^ loaded.z ^ loaded.w;
    }
    sums[first] = sum;
}

static bool ctas(uint32_t *count, struct error *why)
{
    int sms;
    bool ok = gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why);
    *count = ok ? (uint32_t)sms * CTAS_PER_SM : 0;
    return ok;
}

bool gpu_cold::create(struct error *why)
{
    uint32_t count;
    return elsewhere.create(0, 1, why) && ctas(&count, why) &&
           sums.take((size_t)count * THREADS * sizeof(uint32_t), why);
}

bool gpu_cold::fill(const gpu_stream &stream, struct error *why) const
{
    uint32_t count;
    return ctas(&count, why) &&
           launch(read_plainly, dim3(count), THREADS, 0, stream.at, why,
                  (const uint4 *)elsewhere.memory.data, elsewhere.memory.bytes / sizeof(uint4),
                  (uint32_t *)sums.data) &&
           stream.wait(why);
}
