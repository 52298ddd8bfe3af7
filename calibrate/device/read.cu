#include "calibrate/device/read.h"

#include "calibrate/device/launch.cuh"

#define THREADS 256
#define WARP 32
#define MANY 4

/* A thread has LOADS loads in flight. MANY of them and 4 CTAs make 64 KiB an SM, twice the product
 * of bandwidth and latency of any HBM. A warp writes one word, so that the compiler keeps the
 * loads. */
template <int LOADS>
static __global__ void __launch_bounds__(THREADS, GPU_READ_FULL)
    read_all(const uint4 *data, uint64_t count, uint32_t *sums)
{
    uint64_t step = (uint64_t)gridDim.x * THREADS * LOADS;
    uint32_t sum = 0;
    for (uint64_t first = (uint64_t)blockIdx.x * THREADS * LOADS + threadIdx.x; first < count;
         first += step) {
        uint4 loaded[LOADS];
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            uint64_t at = first + load * THREADS;
            loaded[load] = at < count ? __ldcs(data + at) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int load = 0; load < LOADS; load++) {
            sum ^= loaded[load].x ^ loaded[load].y ^ loaded[load].z ^ loaded[load].w;
        }
    }
    sum = __reduce_xor_sync(0xffffffffu, sum);
    if (threadIdx.x % WARP == 0) {
        sums[blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP] = sum;
    }
}

bool gpu_read_sums(uint32_t *words, struct error *why)
{
    int sms;
    if (!gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why)) {
        return false;
    }
    *words = (uint32_t)sms * GPU_READ_FULL * (THREADS / WARP);
    return true;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* A small read is spread over all SMs rather than over the loads of few threads. */
bool gpu_read_launch(const void *data, size_t bytes, uint32_t ctas_per_sm, uint32_t *sums,
                     uint32_t *used, cudaStream_t stream, struct error *why)
{
    int sms;
    if (!gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why)) {
        return false;
    }
    uint64_t count = bytes / sizeof(uint4), most = (uint64_t)sms * ctas_per_sm;
    bool small = count < (uint64_t)sms * THREADS * MANY;
    uint64_t wanted = divide_up(count, THREADS * (small ? 1 : MANY));
    uint32_t ctas = (uint32_t)(wanted < most ? wanted : most);
    if (ctas == 0 || ctas_per_sm > GPU_READ_FULL) {
        return error_set(why, NULL, 0, "no read of %zu bytes by %u CTAs an SM", bytes, ctas_per_sm);
    }
    if (used != nullptr) {
        *used = ctas * (THREADS / WARP);
    }
    return launch(small ? read_all<1> : read_all<MANY>, dim3(ctas), THREADS, 0, stream, why,
                  (const uint4 *)data, count, sums);
}
