/* What kernels share. */
#pragma once

#include "calibrate/device/launch.cuh"

#define WARP 32
#define WHOLE_WARP 0xffffffffU

/* The shared memory of the launch. */
extern __shared__ uint4 launch_shared[];

template <typename Number> __host__ __device__ constexpr Number divide_up(Number a, Number b)
{
    return (a + b - 1) / b;
}

__device__ inline float bf16_low(uint32_t pair)
{
    return __uint_as_float(pair << 16);
}

__device__ inline float bf16_high(uint32_t pair)
{
    return __uint_as_float(pair & 0xffff0000U);
}

__device__ inline float warp_sum(float value)
{
    for (int apart = WARP / 2; apart > 0; apart /= 2) {
        value += __shfl_xor_sync(WHOLE_WARP, value, apart);
    }
    return value;
}

__device__ inline float warp_most(float value)
{
    for (int apart = WARP / 2; apart > 0; apart /= 2) {
        value = fmaxf(value, __shfl_xor_sync(WHOLE_WARP, value, apart));
    }
    return value;
}

/* The sum over this lane and those before it. */
__device__ inline uint32_t warp_sum_through(uint32_t value)
{
    for (uint32_t apart = 1; apart < WARP; apart *= 2) {
        uint32_t other = __shfl_up_sync(WHOLE_WARP, value, apart);
        value += threadIdx.x % WARP >= apart ? other : 0;
    }
    return value;
}

/* The sum over the CTA's threads before this one; *all becomes the sum over the CTA. `sums` is
 * shared: [WARPS]. */
template <uint32_t WARPS>
__device__ uint32_t cta_sum_before(uint32_t mine, uint32_t *sums, uint32_t *all)
{
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t through = warp_sum_through(mine);
    if (lane == WARP - 1) {
        sums[warp] = through;
    }
    __syncthreads();
    uint32_t warps = warp_sum_through(lane < WARPS ? sums[lane] : 0);
    uint32_t before = __shfl_sync(WHOLE_WARP, warps, warp - 1);
    *all = __shfl_sync(WHOLE_WARP, warps, WARP - 1);
    __syncthreads(); /* read before it is written again */
    return (warp > 0 ? before : 0) + through - mine;
}
