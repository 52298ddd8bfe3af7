/* Starting a kernel, and what kernels share. */
#ifndef CALIBRATE_KERNELS_LAUNCH_CUH
#define CALIBRATE_KERNELS_LAUNCH_CUH

#include "calibrate/device/device.h"

#define WARP 32
#define WHOLE_WARP 0xffffffffU

/* Bytes of shared memory that a kernel may use without setting the attribute. */
#define SHARED_UNASKED (48U << 10)

/* The shared memory of the launch. */
extern __shared__ uint4 launch_shared[];

template <typename... Parameters, typename... Arguments>
static bool launch(void (*kernel)(Parameters...), dim3 grid, uint32_t threads, size_t shared,
                   void *stream, struct error *why, Arguments... arguments)
{
    if (grid.y > 65535 || grid.z > 65535) {
        return error_set(why, NULL, 0, "a grid of %u x %u x %u CTAs", grid.x, grid.y, grid.z);
    }
    if (shared > SHARED_UNASKED &&
        !GPU_TRY(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
            why)) {
        return false;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = (cudaStream_t)stream;
    return GPU_TRY(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), why);
}

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

#endif
