/* Instructions of sm_80 and later that CUDA C++ does not name: asynchronous copies into shared
 * memory, loads of 8 x 8 matrices from it, products on the tensor cores, and a clock (PTX ISA,
 * "cp.async", "ldmatrix", "mma", "%globaltimer"). Fragments are those of the PTX ISA: of an 8 x 8
 * matrix of 16-bit values, lane l of a warp holds row l / 4, columns 2 (l % 4) and the next. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

/* Copy 16 bytes, past L1. If `there` is false, nothing is read and the bytes become 0. */
__device__ inline void ptx_copy(void *shared, const void *global, bool there)
{
    uint32_t to = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
                 "r"(there ? 16 : 0)
                 : "memory");
}

/* Close a group: the copies since the last commit. */
__device__ inline void ptx_copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Wait until at most `PENDING` of this thread's groups are still under way. */
template <int PENDING> __device__ inline void ptx_copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* Load four matrices; lane 8 m + r gives the address of row r of matrix m. */
__device__ inline void ptx_load_matrices(uint32_t (&matrix)[4], const void *row)
{
    uint32_t from = (uint32_t)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(from)
                 : "memory");
}

__device__ inline void ptx_load_transposed(uint32_t (&matrix)[4], const void *row)
{
    uint32_t from = (uint32_t)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
                 : "r"(from)
                 : "memory");
}

/* sum[16 x 8] += a[16 x 16] . b[16 x 8] in bf16. Lane l holds of the sum row l / 4 (values 0, 1)
 * and row l / 4 + 8 (values 2, 3), columns 2 (l % 4) and the next. */
__device__ inline void ptx_multiply(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0,
                                    uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Two floats as bf16, the first in the lower half. */
__device__ inline uint32_t ptx_pack(float low, float high)
{
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/* Products of two pairs of bf16. */
__device__ inline uint32_t ptx_times(uint32_t a, uint32_t b)
{
    uint32_t product;
    const uint32_t minus_zero = 0x80008000;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(a), "r"(b), "r"(minus_zero));
    return product;
}

__device__ inline float ptx_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Load a word from memory, each time that it is asked for. */
__device__ inline uint32_t ptx_load_again(const uint32_t *at)
{
    return *(const volatile uint32_t *)at;
}

/* The GPU's clock, the same on all SMs, for deadlines. It advances in steps of up to 1 us. */
__device__ inline uint64_t ptx_clock_ns()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
