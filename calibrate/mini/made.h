/* CAPTURE's static split: of a layer, the host keeps activations for the first half of the tokens,
 * and K and V for the others. This file makes the data, and the reference output: attention to all
 * tokens with K and V made in double precision from the same bf16 activations and weights (norm,
 * product, positions of K).
 *
 * Token t has row t % MADE_DISTINCT, because a double-precision product for each token of a long
 * context would take hours. Positions make the keys of tokens with the same row differ, and
 * MADE_DISTINCT is a prime, so that a tile in the wrong place shows.
 */
#pragma once

#include "core/error.h"
#include "decode/miniature/miniature.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_DISTINCT 509
#define MADE_EPSILON 1e-5
#define MADE_BASE 10000.0 /* of positions; the cost does not depend on it */

struct mini_made {
    uint32_t layers, tokens, hidden, kv_heads, dim, width; /* width: 2 kv_heads dim */
    uint16_t *rows;                                        /* [layers][MADE_DISTINCT][hidden] */
    uint16_t *norm;                                        /* [hidden] */
    uint16_t *weights; /* [layers][width][hidden]: of K's heads, then of V's */
};

/* Zeroed for a shape without activations. The caller releases it, on failure too. */
bool made_init(struct mini_made *made, const struct miniature *shape, struct error *why);
void made_release(struct mini_made *made);

static inline const uint16_t *made_row(const struct mini_made *made, uint32_t layer, uint32_t token)
{
    size_t row = (size_t)layer * MADE_DISTINCT + token % MADE_DISTINCT;
    return made->rows + row * made->hidden;
}

/* K, before its positions, and V of every row: [layers][MADE_DISTINCT][width]; the caller frees it.
 * NULL if memory is out. */
double *made_products(const struct mini_made *made, struct error *why);

/* Attention of one query to all `context` tokens of a KV head, into out[dim]. Tokens after the made
 * ones have their K and V in keys[context][dim] and values[context][dim]. */
bool made_attend(const struct mini_made *made, const double *products, uint32_t layer,
                 uint32_t head, const float *query, const uint16_t *keys, const uint16_t *values,
                 uint64_t context, double *out, struct error *why);
