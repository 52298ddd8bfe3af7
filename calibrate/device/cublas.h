/* cuBLAS, NVIDIA's library of matrix products. It is loaded when it is needed, so that programs
 * start where it is missing, and everything that multiplies nothing is measured there.
 *
 * Source: the cuBLAS documentation. Versions 11 to 13 have the same signatures and values.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

/* Values of cublasStatus_t, cublasOperation_t, cudaDataType_t, cublasComputeType_t and
 * cublasGemmAlgo_t. */
enum {
    CUBLAS_DONE = 0,
    CUBLAS_AS_STORED = 0,
    CUBLAS_TRANSPOSED = 1,
    CUBLAS_BF16 = 14,
    CUBLAS_SUMS_IN_FP32 = 68,
    CUBLAS_ANY_ALGORITHM = -1,
};

struct cublas_handle;

/* Each function but `describe` returns a status. Matrices are stored by column. */
struct cublas {
    const char *(*describe)(int status); /* a text that lives for ever */
    int (*create)(struct cublas_handle **handle);
    int (*destroy)(struct cublas_handle *handle);
    /* Later products are queued on `stream`, a cudaStream_t. */
    int (*set_stream)(struct cublas_handle *handle, void *stream);
    /* Later products use this GPU memory. A new stream resets it to cuBLAS's own. */
    int (*set_workspace)(struct cublas_handle *handle, void *memory, size_t bytes);
    /* out[m][n] = alpha a . b + beta out, where a is [m][k] and b is [k][n] after the operations
     * `turn_a` and `turn_b`. Strides, between columns as stored, are in values. */
    int (*multiply)(struct cublas_handle *handle, int turn_a, int turn_b, int m, int n, int k,
                    const void *alpha, const void *a, int a_type, int a_stride, const void *b,
                    int b_type, int b_stride, const void *beta, void *out, int out_type,
                    int out_stride, int compute, int algorithm);
};

/* Load the newest version that the loader finds, or else the default one of /usr/local. It is never
 * unloaded, because the CUDA runtime knows its kernels. Fails if there is none. */
bool cublas_load(struct cublas *cublas, struct error *why);

#ifdef __cplusplus
}
#endif
