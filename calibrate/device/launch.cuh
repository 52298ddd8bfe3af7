/* Starting a kernel. All launches go through launch(), never through <<<>>>, so that every launch is
 * checked and a C++ compiler without CUDA can compile the code (tests/kernels/emulator). */
#pragma once

#include "calibrate/device/device.h"

/* Bytes of shared memory that a kernel may use without setting the attribute. */
#define SHARED_UNASKED (48U << 10)

/* Queue `kernel` on `stream`, a cudaStream_t, with `shared` bytes of dynamic shared memory. */
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
