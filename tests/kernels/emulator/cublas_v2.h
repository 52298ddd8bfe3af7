/* The part of cuBLAS that products.cu calls: one product, weights transposed, in bf16 with sums in
 * fp32. It is queued on its stream like a kernel. */
#ifndef EMULATOR_CUBLAS_V2_H
#define EMULATOR_CUBLAS_V2_H

#include "emulator.h"

#include "calibrate/kernels/small_floats.h"

struct emulator_products {
    cudaStream_t stream;
};
typedef struct emulator_products *cublasHandle_t;
enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS,
    CUBLAS_STATUS_EXECUTION_FAILED,
    CUBLAS_STATUS_NOT_SUPPORTED,
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cudaDataType_t { CUDA_R_16BF };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };

inline const char *cublasGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_EXECUTION_FAILED ? "the function failed to launch on the GPU"
                                                    : "a product that the emulator does not have";
}

inline cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = new emulator_products{nullptr};
    return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

/* In a hurry, products of more multiplications than this come out as 0: they would take too long. */
#define EMULATOR_PRODUCT_MOST 2e7
#define EMULATOR_PRODUCT_FLOPS_A_NS 10000.0

/* Matrices are stored by column: out[j][i] = sum over l of a[i][l] b[j][l]. */
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t turn_a,
                                   cublasOperation_t turn_b, int m, int n, int k, const float *,
                                   const void *a, cudaDataType_t, int a_stride, const void *b,
                                   cudaDataType_t, int b_stride, const float *, void *out,
                                   cudaDataType_t, int out_stride, cublasComputeType_t,
                                   cublasGemmAlgo_t)
{
    if (emulator_call() != cudaSuccess) {
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (turn_a != CUBLAS_OP_T || turn_b != CUBLAS_OP_N) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (emulator_memory_at(a, 2 * ((size_t)(m - 1) * a_stride + k)) != EMULATOR_GPU ||
        emulator_memory_at(b, 2 * ((size_t)(n - 1) * b_stride + k)) != EMULATOR_GPU ||
        emulator_memory_at(out, 2 * ((size_t)(n - 1) * out_stride + m)) != EMULATOR_GPU) {
        emulator_fail("a product past the end of GPU memory");
    }
    double multiplications = (double)m * n * k;
    const void *starts[] = {emulator_start_of(a), emulator_start_of(b), emulator_start_of(out)};
    const int sizes[] = {m, n, k, a_stride, b_stride, out_stride};
    std::string key((const char *)starts, sizeof starts);
    key.append((const char *)sizes, sizeof sizes);
    auto act = [=] {
        bool zero = emulator_hurries() && multiplications > EMULATOR_PRODUCT_MOST;
        for (long j = 0; j < n; j++) {
            if (zero) {
                memset((uint16_t *)out + j * out_stride, 0, sizeof(uint16_t) * (size_t)m);
            }
            for (long i = 0; !zero && i < m; i++) {
                const uint16_t *row = (const uint16_t *)a + i * a_stride;
                const uint16_t *column = (const uint16_t *)b + j * b_stride;
                float sum = 0;
                for (long l = 0; l < k; l++) {
                    sum += bf16_value(row[l]) * bf16_value(column[l]);
                }
                ((uint16_t *)out)[j * out_stride + i] = bf16_of(sum);
            }
        }
    };
    uint64_t ns = (uint64_t)(2 * multiplications / EMULATOR_PRODUCT_FLOPS_A_NS);
    emulator_put(handle->stream, act, 3000 + ns, std::hash<std::string>()(key) | 1);
    return CUBLAS_STATUS_SUCCESS;
}

#endif
