/* The instructions of calibrate/device/ptx.cuh, by their definition in the PTX ISA. A copy is done
 * when the thread waits for it, and not before. */
#pragma once

#include <cuda_runtime.h>

void ptx_copy(void *shared, const void *global, bool there);
void ptx_copy_commit();
void emulator_copy_wait(int pending);
template <int PENDING> void ptx_copy_wait()
{
    emulator_copy_wait(PENDING);
}

void ptx_load_matrices(uint32_t (&matrix)[4], const void *row);
void ptx_load_transposed(uint32_t (&matrix)[4], const void *row);
void ptx_multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
uint32_t ptx_pack(float low, float high);
uint32_t ptx_times(uint32_t a, uint32_t b);

inline float ptx_exp2(float x)
{
    return exp2f(x);
}

inline uint32_t ptx_load_again(const uint32_t *at)
{
    return __ldcs(at);
}

/* The kernel may be suspended here. */
uint64_t ptx_clock_ns();
