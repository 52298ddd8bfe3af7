#include "calibrate/kernels/twins.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>

/* A running sum of vectors with weights exp(log). A weight may be too large for a double, so that
 * the sum is kept as a multiple of exp(most). */
struct weighted {
    double most, weight;
};

/* Rescale the sum for a vector of weight exp(log). Returns the factor with which to add it. */
static double weighted_add(struct weighted *sum, double log, double *out, uint32_t dim)
{
    double most = fmax(sum->most, log);
    double keep = sum->weight > 0 ? exp(sum->most - most) : 0;
    double term = exp(log - most);
    for (uint32_t i = 0; i < dim; i++) {
        out[i] *= keep;
    }
    sum->weight = sum->weight * keep + term;
    sum->most = most;
    return term;
}

static double weighted_end(const struct weighted *sum, double *out, uint32_t dim)
{
    for (uint32_t i = 0; i < dim && sum->weight > 0; i++) {
        out[i] /= sum->weight;
    }
    return sum->weight > 0 ? sum->most + log(sum->weight) : -INFINITY;
}

static void twins_clear(double *out, uint32_t dim)
{
    for (uint32_t i = 0; i < dim; i++) {
        out[i] = 0;
    }
}

void twin_attend(const struct twin_kv *kv, const float *query, double scale, double *out,
                 double *lse)
{
    struct weighted sum = {-INFINITY, 0};
    twins_clear(out, kv->dim);
    for (uint32_t t = 0; t < kv->count; t++) {
        size_t row = (kv->list ? kv->list[t] : t) * kv->stride;
        double product = 0;
        for (uint32_t i = 0; i < kv->dim; i++) {
            product += (double)query[i] * (double)kv_value(kv->type, kv->keys, row + i);
        }
        double term = weighted_add(&sum, scale * product, out, kv->dim);
        for (uint32_t i = 0; i < kv->dim; i++) {
            out[i] += term * (double)kv_value(kv->type, kv->values, row + i);
        }
    }
    *lse = weighted_end(&sum, out, kv->dim);
}

void twin_merge(const double *out, const double *lse, uint32_t parts, uint32_t dim, double *whole,
                double *whole_lse)
{
    struct weighted sum = {-INFINITY, 0};
    twins_clear(whole, dim);
    for (uint32_t p = 0; p < parts; p++) {
        if (lse[p] == -INFINITY) {
            continue; /* a part without tokens */
        }
        double term = weighted_add(&sum, lse[p], whole, dim);
        for (uint32_t i = 0; i < dim; i++) {
            whole[i] += term * out[(size_t)p * dim + i];
        }
    }
    *whole_lse = weighted_end(&sum, whole, dim);
}

struct twins_ranked {
    float score;
    uint32_t index;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct twins_ranked *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

bool twin_topk(const float *scores, uint32_t count, uint32_t k, uint32_t *chosen, struct error *why)
{
    struct twins_ranked *ranked = array_zeroed(count, sizeof *ranked, why);
    if (!ranked) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        ranked[i] = (struct twins_ranked){scores[i], i};
    }
    qsort(ranked, count, sizeof *ranked, ranked_compare);
    for (uint32_t i = 0; i < k; i++) {
        chosen[i] = ranked[i].index;
    }
    free(ranked);
    return true;
}

double twin_centroid_score(const float *query, const uint16_t *centroid, uint32_t dim)
{
    double product = 0;
    for (uint32_t i = 0; i < dim; i++) {
        product += (double)query[i] * (double)bf16_value(centroid[i]);
    }
    return product;
}

double twin_page_score(const float *query, const uint16_t *least, const uint16_t *most,
                       uint32_t dim)
{
    double bound = 0;
    for (uint32_t i = 0; i < dim; i++) {
        double q = (double)query[i];
        bound += fmax(q * (double)bf16_value(least[i]), q * (double)bf16_value(most[i]));
    }
    return bound;
}

double twin_code_score(const float *query, const uint16_t *codebook, const uint8_t *code,
                       uint32_t parts, uint32_t dim)
{
    uint32_t width = dim / parts;
    double product = 0;
    for (uint32_t p = 0; p < parts; p++) {
        const uint16_t *entry = codebook + ((size_t)p * 256 + code[p]) * width;
        product += twin_centroid_score(query + (size_t)p * width, entry, width);
    }
    return product;
}

uint32_t twin_hash_score(const uint32_t *query, const uint32_t *key, uint32_t words)
{
    uint32_t common = 0;
    for (uint32_t w = 0; w < words; w++) {
        common += (uint32_t)__builtin_popcount(~(query[w] ^ key[w]));
    }
    return common;
}

static double twins_cosine(const uint16_t *a, const uint16_t *b, uint32_t dim)
{
    double product = 0, a_squared = 0, b_squared = 0;
    for (uint32_t i = 0; i < dim; i++) {
        double x = (double)bf16_value(a[i]), y = (double)bf16_value(b[i]);
        product += x * y;
        a_squared += x * x;
        b_squared += y * y;
    }
    return a_squared > 0 && b_squared > 0 ? product / sqrt(a_squared * b_squared) : 0;
}

double twin_similarity(const uint16_t *queries, const uint16_t *labels, const float *weights,
                       uint32_t group, uint32_t dim)
{
    double weight = 0, inverse = 0;
    for (uint32_t j = 0; j < group; j++) {
        double like = twins_cosine(queries + (size_t)j * dim, labels + (size_t)j * dim, dim);
        if (weights[j] > 0) {
            if (like <= 0) {
                return -INFINITY;
            }
            weight += (double)weights[j];
            inverse += (double)weights[j] / like;
        }
    }
    return weight / inverse;
}

void twin_norm(const float *in, const uint16_t *weight, uint32_t count, double epsilon, double *out)
{
    double squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        squares += (double)in[i] * (double)in[i];
    }
    double factor = 1 / sqrt(squares / count + epsilon);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (double)in[i] * factor * (double)bf16_value(weight[i]);
    }
}

void twin_rope(const float *in, uint32_t dim, uint32_t position, double base, double *out)
{
    uint32_t half = dim / 2;
    for (uint32_t i = 0; i < half; i++) {
        double angle = position * pow(base, -2.0 * i / dim);
        double x = (double)in[i], y = (double)in[i + half];
        out[i] = x * cos(angle) - y * sin(angle);
        out[i + half] = x * sin(angle) + y * cos(angle);
    }
}
