/* Twins: each kernel's computation in plain C and double precision. Tests compare the kernels, and
 * attention on the CPU, with these; nothing here is fast.
 *
 * Vectors have `dim` values. A group is the query heads that share a KV head. The score of a unit
 * is the largest of its scores over the query heads of the group.
 */
#pragma once

#include "calibrate/kernels/small_floats.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

/* Keys and values of one KV head of one sequence; token t's begin at t * stride values. */
struct twin_kv {
    const void *keys, *values;
    enum kv_type type;
    uint32_t dim;
    size_t stride;
    const uint32_t *list; /* [count] the tokens attended to; NULL: 0 ... count - 1 */
    uint32_t count;
};

/* Attention of one query: softmax(scale * query . keys) . values in out[dim], and the natural
 * logarithm of the sum of the exponentials in *lse. Without tokens: zeros and -INFINITY. */
void twin_attend(const struct twin_kv *kv, const float *query, double scale, double *out,
                 double *lse);

/* Merge attention over `parts` of a context, out[parts][dim] and lse[parts] as twin_attend() gives
 * them, into attention over the whole, whole[dim] and *whole_lse. (FlashDecoding; Rabe and Staats,
 * arXiv:2112.05682.) */
void twin_merge(const double *out, const double *lse, uint32_t parts, uint32_t dim, double *whole,
                double *whole_lse);

/* The indices of the k <= count largest scores, best first; equal scores in order of index. */
bool twin_topk(const float *scores, uint32_t count, uint32_t k, uint32_t *chosen,
               struct error *why);

/* The score of a unit for one query, by kind of unit.
 *   centroid  product of query and centroid
 *   page      upper bound of the product with any key whose values lie between `least` and `most`
 *             (Quest, arXiv:2406.10774)
 *   code      product with a key of which each of `parts` parts is coded as one of 256 entries of
 *             codebook[parts][256][dim / parts] (product quantisation, as in PQCache,
 *             arXiv:2407.12820)
 *   hash      number of equal bits of two hashes (HATA, arXiv:2506.02572) */
double twin_centroid_score(const float *query, const uint16_t *centroid, uint32_t dim);
double twin_page_score(const float *query, const uint16_t *least, const uint16_t *most,
                       uint32_t dim);
double twin_code_score(const float *query, const uint16_t *codebook, const uint8_t *code,
                       uint32_t parts, uint32_t dim);
uint32_t twin_hash_score(const uint32_t *query, const uint32_t *key, uint32_t words);

/* QSAC's similarity of a group's queries to their labels (sim/policy/qsac.c): the weighted harmonic
 * mean of the cosines; -INFINITY if a cosine of weight > 0 is not positive. The cosine with a null
 * vector counts as not positive. queries and labels: [group][dim] bf16; some weight is > 0. */
double twin_similarity(const uint16_t *queries, const uint16_t *labels, const float *weights,
                       uint32_t group, uint32_t dim);

/* RMS norm: in / sqrt(mean of squares + epsilon) * weight. */
void twin_norm(const float *in, const uint16_t *weight, uint32_t count, double epsilon,
               double *out);

/* Rotary position of one head with paired halves (Su et al., arXiv:2104.09864, as in Llama): the
 * pair (i, i + dim / 2) turns by position * base^(-2 i / dim). */
void twin_rope(const float *in, uint32_t dim, uint32_t position, double base, double *out);

#ifdef __cplusplus
}
#endif
