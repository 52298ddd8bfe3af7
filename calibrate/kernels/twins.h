/* Twins: what each kernel computes, said once in plain C and double precision. Kernels, and the
 * attention of the CPU, are held against these; nothing here is fast.
 *
 * Vectors are of `dim` values. A group is the query heads that share a KV head. Where a unit has a
 * score for each query head of a group, the largest is the unit's.
 */
#ifndef CALIBRATE_KERNELS_TWINS_H
#define CALIBRATE_KERNELS_TWINS_H

#include "calibrate/kernels/small_floats.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

/* Keys and values of one KV head of one sequence; token t's begin at t * stride values. */
struct twin_kv {
    const void *keys, *values;
    enum kv_type type;
    uint32_t dim;
    size_t stride;
    const uint32_t *list; /* [count] the tokens that are attended to; NULL: 0 ... count - 1 */
    uint32_t count;
};

/* Attention of one query: softmax(scale * query . keys) . values in out[dim], and the natural
 * logarithm of the sum of the exponentials in *lse. Of no tokens: zeros and -INFINITY. */
void twin_attend(const struct twin_kv *kv, const float *query, double scale, double *out,
                 double *lse);

/* Attention over a whole from that over its `parts`: out[parts][dim] and lse[parts], each as
 * twin_attend() gives it, into whole[dim] and *whole_lse. (FlashDecoding; Rabe and Staats,
 * arXiv:2112.05682.) */
void twin_merge(const double *out, const double *lse, uint32_t parts, uint32_t dim, double *whole,
                double *whole_lse);

/* Where the k <= count largest scores are, best first, of equal ones the first first. */
bool twin_topk(const float *scores, uint32_t count, uint32_t k, uint32_t *chosen,
               struct error *why);

/* Of a unit, for one query: the product with its centroid; the most that the product with a key of
 * a page can be whose values lie between least and most (Quest, arXiv:2406.10774); that with a key
 * of which each of `parts` is coded as one of 256 entries of its part of a codebook,
 * codebook[parts][256][dim / parts] (product quantisation, as in PQCache, arXiv:2407.12820); the
 * bits that two hashes have in common (HATA, arXiv:2506.02572). */
double twin_centroid_score(const float *query, const uint16_t *centroid, uint32_t dim);
double twin_page_score(const float *query, const uint16_t *least, const uint16_t *most,
                       uint32_t dim);
double twin_code_score(const float *query, const uint16_t *codebook, const uint8_t *code,
                       uint32_t parts, uint32_t dim);
uint32_t twin_hash_score(const uint32_t *query, const uint32_t *key, uint32_t words);

/* How like the queries of a group are to their labels, as QSAC has it (sim/policy/qsac.c): the
 * harmonic mean of the cosines, weighted; -INFINITY where one of weight > 0 is not positive. A null
 * vector is like nothing. queries and labels: [group][dim] bf16; some weight is > 0. */
double twin_similarity(const uint16_t *queries, const uint16_t *labels, const float *weights,
                       uint32_t group, uint32_t dim);

/* RMS norm: in / sqrt(mean of squares + epsilon) * weight. */
void twin_norm(const float *in, const uint16_t *weight, uint32_t count, double epsilon,
               double *out);

/* Rotary position of one head, halves paired (Su et al., arXiv:2104.09864, as Llama has it): the
 * pair (i, i + dim / 2) turns by position * base^(-2 i / dim). */
void twin_rope(const float *in, uint32_t dim, uint32_t position, double base, double *out);

#ifdef __cplusplus
}
#endif
#endif
