/* Matrix products in bf16 by cuBLAS, summed in fp32; and K and V computed from activations with
 * them. Pointers are as in kernels.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

/* A cuBLAS handle with its own workspace, so that products can be recorded in a graph. Use it on
 * one stream at a time. */
struct products;
struct products *products_create(struct error *why);
void products_destroy(struct products *products);

/* out[rows][to] = in[rows][from] . weights[to][from], transposed, as checkpoints have them. */
bool products_multiply(struct products *products, const uint16_t *in, const uint16_t *weights,
                       uint32_t rows, uint32_t from, uint32_t to, uint16_t *out, void *stream,
                       struct error *why);

/* Compute a layer's K and V from activations[tokens][hidden], which stay unchanged: the norm, the
 * product with weights[2][kv_heads][dim][hidden], and positions of K. Written to
 * kv[tokens][2][kv_heads][dim]; `normed` has room for the activations. */
struct kv_recipe {
    const uint16_t *norm_weight, *weights;
    const float *turns; /* kernel_turns() */
    uint32_t hidden, kv_heads, dim;
    float epsilon;
};
bool products_make_kv(struct products *products, const struct kv_recipe *recipe,
                      uint16_t *activations, const uint32_t *positions, uint32_t tokens,
                      uint16_t *normed, uint16_t *kv, void *stream, struct error *why);

#ifdef __cplusplus
}
#endif
