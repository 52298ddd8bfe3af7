#include "calibrate/kernels/products.h"

#include "calibrate/device/device.h"
#include "calibrate/kernels/kernels.h"

#include <cublas_v2.h>
#include <stdlib.h>

#include <new>

/* The size that NVIDIA recommends for Hopper; other GPUs need less. */
#define WORKSPACE_BYTES ((size_t)32 << 20)

struct products {
    cublasHandle_t handle = nullptr;
    gpu_memory workspace;
};

static bool ok(cublasStatus_t status, const char *call, struct error *why)
{
    return status == CUBLAS_STATUS_SUCCESS ||
           error_set(why, NULL, 0, "%s: %s", call, cublasGetStatusString(status));
}

struct products *products_create(struct error *why)
{
    struct products *products = new (std::nothrow) struct products;
    if (products == nullptr) {
        error_set(why, NULL, 0, "out of memory: no room for a handle of cuBLAS");
        return nullptr;
    }
    if (!ok(cublasCreate(&products->handle), "cublasCreate()", why) ||
        !products->workspace.take(WORKSPACE_BYTES, why) ||
        !ok(cublasSetWorkspace(products->handle, products->workspace.data, WORKSPACE_BYTES),
            "cublasSetWorkspace()", why)) {
        products_destroy(products);
        return nullptr;
    }
    return products;
}

void products_destroy(struct products *products)
{
    if (products != nullptr && products->handle != nullptr) {
        cublasDestroy(products->handle);
    }
    delete products;
}

/* cublasSetStream() resets the workspace to cuBLAS's own, so ours is set again after it. */
static bool use_stream(struct products *products, void *stream, struct error *why)
{
    return ok(cublasSetStream(products->handle, (cudaStream_t)stream), "cublasSetStream()", why) &&
           ok(cublasSetWorkspace(products->handle, products->workspace.data, WORKSPACE_BYTES),
              "cublasSetWorkspace()", why);
}

/* cuBLAS stores matrices by column: to cuBLAS, `weights` is from x to, `in` is from x rows, and
 * `out` is to x rows. */
bool products_multiply(struct products *products, const uint16_t *in, const uint16_t *weights,
                       uint32_t rows, uint32_t from, uint32_t to, uint16_t *out, void *stream,
                       struct error *why)
{
    const float one = 1, zero = 0;
    if (rows == 0) {
        return true;
    }
    return use_stream(products, stream, why) &&
           ok(cublasGemmEx(products->handle, CUBLAS_OP_T, CUBLAS_OP_N, (int)to, (int)rows,
                           (int)from, &one, weights, CUDA_R_16BF, (int)from, in, CUDA_R_16BF,
                           (int)from, &zero, out, CUDA_R_16BF, (int)to, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx()", why);
}

bool products_make_kv(struct products *products, const struct kv_recipe *recipe,
                      uint16_t *activations, const uint32_t *positions, uint32_t tokens,
                      uint16_t *normed, uint16_t *kv, void *stream, struct error *why)
{
    uint32_t width = 2 * recipe->kv_heads * recipe->dim;
    return kernel_norm(activations, NULL, recipe->norm_weight, tokens, recipe->hidden,
                       recipe->epsilon, normed, stream, why) &&
           products_multiply(products, normed, recipe->weights, tokens, recipe->hidden, width, kv,
                             stream, why) &&
           kernel_rope(kv, positions, recipe->turns, tokens, recipe->kv_heads, recipe->dim, width,
                       stream, why);
}
