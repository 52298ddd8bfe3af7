/* The part of cuBLAS that products.cu calls: one product, weights transposed, in bf16 with sums in
 * fp32. It is queued on its stream like a kernel. */
#ifndef EMULATOR_CUBLAS_V2_H
#define EMULATOR_CUBLAS_V2_H

#include <cuda_runtime.h>

#include "calibrate/kernels/small_floats.h"

struct emulator_products {
    cudaStream_t stream;
};
typedef struct emulator_products *cublasHandle_t;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_SUPPORTED };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cudaDataType_t { CUDA_R_16BF };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };

inline const char *cublasGetStatusString(cublasStatus_t)
{
    return "a product that the emulator does not have";
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

/* Matrices are stored by column: out[j][i] = sum over l of a[i][l] b[j][l]. */
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t turn_a,
                                   cublasOperation_t turn_b, int m, int n, int k, const float *,
                                   const void *a, cudaDataType_t, int a_stride, const void *b,
                                   cudaDataType_t, int b_stride, const float *, void *out,
                                   cudaDataType_t, int out_stride, cublasComputeType_t,
                                   cublasGemmAlgo_t)
{
    if (turn_a != CUBLAS_OP_T || turn_b != CUBLAS_OP_N) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    emulator_put(handle->stream, [=] {
        for (long j = 0; j < n; j++) {
            for (long i = 0; i < m; i++) {
                const uint16_t *row = (const uint16_t *)a + i * a_stride;
                const uint16_t *column = (const uint16_t *)b + j * b_stride;
                float sum = 0;
                for (long l = 0; l < k; l++) {
                    sum += bf16_value(row[l]) * bf16_value(column[l]);
                }
                ((uint16_t *)out)[j * out_stride + i] = bf16_of(sum);
            }
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}

#endif
