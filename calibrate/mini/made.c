#include "calibrate/mini/made.h"

#include "core/array.h"
#include "core/random.h"
#include "calibrate/kernels/small_floats.h"
#include "calibrate/kernels/twins.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The standard deviation of a number of K or V; with it, that of scores is about 1 (mini.c). */
#define MADE_DEVIATION 0.06

static void fill(gsl_rng *random, uint16_t *values, size_t count, double mean, double deviation)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = bf16_of((float)(mean + gsl_ran_gaussian_ziggurat(random, deviation)));
    }
}

bool made_init(struct mini_made *made, const struct miniature *shape, struct error *why)
{
    uint32_t width = 2 * shape->kv_heads * shape->head_dim, hidden = shape->hidden;
    size_t rows = (size_t)shape->layers * MADE_DISTINCT * hidden;
    size_t weights = (size_t)shape->layers * width * hidden;
    *made = (struct mini_made){0};
    if (hidden == 0) {
        return true;
    }
    *made = (struct mini_made){
        .layers = shape->layers,
        .tokens = (uint32_t)(shape->context / 2),
        .hidden = hidden,
        .kv_heads = shape->kv_heads,
        .dim = shape->head_dim,
        .width = width,
    };
    gsl_rng *random = random_stream(1, "miniature.activations", 0, why);
    bool good = random != NULL &&
                (made->rows = array_zeroed(rows, sizeof *made->rows, why)) != NULL &&
                (made->norm = array_zeroed(hidden, sizeof *made->norm, why)) != NULL &&
                (made->weights = array_zeroed(weights, sizeof *made->weights, why)) != NULL;
    if (good) {
        fill(random, made->rows, rows, 0, 1);
        fill(random, made->norm, hidden, 1, 0.1);
        fill(random, made->weights, weights, 0, MADE_DEVIATION / sqrt(hidden));
    }
    gsl_rng_free(random);
    return good;
}

void made_release(struct mini_made *made)
{
    free(made->rows);
    free(made->norm);
    free(made->weights);
}

/* ---- K and V ---- */

enum { LANES = 8 }; /* separate sums, which a compiler may keep in one register */

static double product(const double *a, const double *b, uint32_t count)
{
    double sums[LANES] = {0}, sum = 0;
    for (uint32_t i = 0; i + LANES <= count; i += LANES) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    for (uint32_t i = count - count % LANES; i < count; i++) {
        sum += a[i] * b[i];
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        sum += sums[lane];
    }
    return sum;
}

static void normalise(const struct mini_made *made, uint32_t layer, float *row, double *out)
{
    for (uint32_t r = 0; r < MADE_DISTINCT; r++) {
        const uint16_t *values = made_row(made, layer, r);
        for (uint32_t i = 0; i < made->hidden; i++) {
            row[i] = bf16_value(values[i]);
        }
        twin_norm(row, made->norm, made->hidden, MADE_EPSILON, out + (size_t)r * made->hidden);
    }
}

static void multiply_layer(const struct mini_made *made, uint32_t layer, const double *normed,
                           double *column, double *products)
{
    uint32_t hidden = made->hidden, width = made->width;
    for (uint32_t to = 0; to < width; to++) {
        const uint16_t *weights = made->weights + ((size_t)layer * width + to) * hidden;
        for (uint32_t i = 0; i < hidden; i++) {
            column[i] = bf16_value(weights[i]);
        }
        for (size_t r = 0; r < MADE_DISTINCT; r++) {
            products[((size_t)layer * MADE_DISTINCT + r) * width + to] =
                product(normed + r * hidden, column, hidden);
        }
    }
}

double *made_products(const struct mini_made *made, struct error *why)
{
    size_t numbers = (size_t)made->layers * MADE_DISTINCT * made->width, hidden = made->hidden;
    double *normed = array_zeroed(MADE_DISTINCT * hidden, sizeof *normed, why);
    double *column = normed != NULL ? array_zeroed(hidden, sizeof *column, why) : NULL;
    float *row = column != NULL ? array_zeroed(hidden, sizeof *row, why) : NULL;
    double *products = row != NULL ? array_zeroed(numbers, sizeof *products, why) : NULL;
    for (uint32_t layer = 0; products != NULL && layer < made->layers; layer++) {
        normalise(made, layer, row, normed);
        multiply_layer(made, layer, normed, column, products);
    }
    free(normed);
    free(column);
    free(row);
    return products;
}

/* ---- attention ---- */

/* The score of a key at `position`: the pairs (i, i + dim / 2) are turned as in twin_rope(). */
static double turned_score(const double *key, const float *query, uint32_t dim, uint32_t position,
                           const double *frequencies)
{
    double score = 0;
    uint32_t half = dim / 2;
    for (uint32_t i = 0; i < half; i++) {
        double angle = position * frequencies[i], c = cos(angle), s = sin(angle);
        score += query[i] * (key[i] * c - key[i + half] * s);
        score += query[i + half] * (key[i + half] * c + key[i] * s);
    }
    return score;
}

static double plain_score(const uint16_t *key, const float *query, uint32_t dim)
{
    double score = 0;
    for (uint32_t i = 0; i < dim; i++) {
        score += (double)query[i] * bf16_value(key[i]);
    }
    return score;
}

/* K and V of a token for all heads. */
static const double *product_of(const struct mini_made *made, const double *products,
                                uint32_t layer, uint64_t token)
{
    return products + ((size_t)layer * MADE_DISTINCT + token % MADE_DISTINCT) * made->width;
}

static void score_all(const struct mini_made *made, const double *products, uint32_t layer,
                      uint32_t head, const float *query, const uint16_t *keys, uint64_t context,
                      double *scores)
{
    uint32_t dim = made->dim;
    double frequencies[512];
    for (uint32_t i = 0; i < dim / 2; i++) {
        frequencies[i] = pow(MADE_BASE, -2.0 * i / dim);
    }
    for (uint64_t t = 0; t < context; t++) {
        scores[t] = t < made->tokens
                        ? turned_score(product_of(made, products, layer, t) + (size_t)head * dim,
                                       query, dim, (uint32_t)t, frequencies)
                        : plain_score(keys + t * dim, query, dim);
        scores[t] /= sqrt(dim);
    }
}

bool made_attend(const struct mini_made *made, const double *products, uint32_t layer,
                 uint32_t head, const float *query, const uint16_t *keys, const uint16_t *values,
                 uint64_t context, double *out, struct error *why)
{
    uint32_t dim = made->dim;
    double most = -INFINITY, sum = 0;
    double *scores = array_zeroed(context, sizeof *scores, why);
    if (scores == NULL) {
        return false;
    }
    score_all(made, products, layer, head, query, keys, context, scores);
    for (uint64_t t = 0; t < context; t++) {
        most = fmax(most, scores[t]);
    }
    memset(out, 0, dim * sizeof *out);
    for (uint64_t t = 0; t < context; t++) {
        size_t value = (size_t)(made->kv_heads + head) * dim;
        const double *made_value = product_of(made, products, layer, t) + value;
        double weight = exp(scores[t] - most);
        sum += weight;
        for (uint32_t i = 0; i < dim; i++) {
            out[i] += weight * (t < made->tokens ? made_value[i] : bf16_value(values[t * dim + i]));
        }
    }
    for (uint32_t i = 0; i < dim; i++) {
        out[i] /= sum;
    }
    free(scores);
    return true;
}
