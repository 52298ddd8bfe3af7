#include "calibrate/kernels/products.h"

#include "calibrate/device/cublas.h"
#include "calibrate/device/device.h"
#include "calibrate/kernels/kernels.h"

#include <stdlib.h>

#include <new>

/* The size that NVIDIA recommends for Hopper; other GPUs need less. */
#define WORKSPACE_BYTES ((size_t)32 << 20)

struct products {
    struct cublas cublas = {};
    struct cublas_handle *handle = nullptr;
    gpu_memory workspace;
};

static bool ok(const struct products *products, int status, const char *call, struct error *why)
{
    return status == CUBLAS_DONE ||
           error_set(why, NULL, 0, "cuBLAS: %s: %s", call, products->cublas.describe(status));
}

static bool set_workspace(const struct products *products, struct error *why)
{
    return ok(
        products,
        products->cublas.set_workspace(products->handle, products->workspace.data, WORKSPACE_BYTES),
        "setting the workspace", why);
}

struct products *products_create(struct error *why)
{
    struct products *products = new (std::nothrow) struct products;
    if (products == nullptr) {
        error_set(why, NULL, 0, "out of memory: no room for a handle of cuBLAS");
        return nullptr;
    }
    if (!cublas_load(&products->cublas, why) ||
        !ok(products, products->cublas.create(&products->handle), "creating a handle", why) ||
        !products->workspace.take(WORKSPACE_BYTES, why) || !set_workspace(products, why)) {
        products_destroy(products);
        return nullptr;
    }
    return products;
}

void products_destroy(struct products *products)
{
    if (products != nullptr && products->handle != nullptr) {
        products->cublas.destroy(products->handle);
    }
    delete products;
}

/* A new stream resets the workspace to cuBLAS's own, so ours is set again after it. */
static bool use_stream(const struct products *products, void *stream, struct error *why)
{
    return ok(products, products->cublas.set_stream(products->handle, stream), "setting the stream",
              why) &&
           set_workspace(products, why);
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
           ok(products,
              products->cublas.multiply(
                  products->handle, CUBLAS_TRANSPOSED, CUBLAS_AS_STORED, (int)to, (int)rows,
                  (int)from, &one, weights, CUBLAS_BF16, (int)from, in, CUBLAS_BF16, (int)from,
                  &zero, out, CUBLAS_BF16, (int)to, CUBLAS_SUMS_IN_FP32, CUBLAS_ANY_ALGORITHM),
              "a product", why);
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
