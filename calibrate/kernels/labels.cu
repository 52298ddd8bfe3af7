/* QSAC's test and update in one kernel: a CTA for each pair, a warp for each query head. */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#include <math.h>

struct label_task {
    const uint16_t *queries;
    uint16_t *labels;
    const float *weights, *threshold;
    uint32_t dim;
    float *similarity;
    uint32_t *reuse;
};

/* The cosine, with two values for each lane and step. It is 0 for a null vector. */
static __device__ float labels_cosine(const uint32_t *query, const uint32_t *label, uint32_t pairs)
{
    float product = 0, query_squared = 0, label_squared = 0;
    for (uint32_t i = threadIdx.x % WARP; i < pairs; i += WARP) {
        float a = bf16_low(query[i]), b = bf16_high(query[i]);
        float c = bf16_low(label[i]), d = bf16_high(label[i]);
        product += a * c + b * d;
        query_squared += a * a + b * b;
        label_squared += c * c + d * d;
    }
    product = warp_sum(product);
    query_squared = warp_sum(query_squared);
    label_squared = warp_sum(label_squared);
    bool null = query_squared == 0 || label_squared == 0;
    return null ? 0 : product / (sqrtf(query_squared) * sqrtf(label_squared));
}

/* The weighted harmonic mean; -INFINITY if a head of weight > 0 has a cosine that is not positive.
 */
static __device__ float aggregate(const float *cosines, const float *weights, uint32_t group)
{
    float weight = 0, inverse = 0;
    for (uint32_t j = 0; j < group; j++) {
        if (weights[j] > 0) {
            if (cosines[j] <= 0) {
                return -INFINITY;
            }
            weight += weights[j];
            inverse += weights[j] / cosines[j];
        }
    }
    return weight / inverse;
}

static __global__ void __launch_bounds__(KERNEL_MOST_GROUP *WARP)
    compare_labels(const struct label_task task)
{
    float *cosines = (float *)launch_shared;
    uint32_t group = blockDim.x / WARP, head = threadIdx.x / WARP, words = task.dim / 2;
    uint64_t at = ((uint64_t)blockIdx.x * group + head) * words;
    const uint32_t *query = (const uint32_t *)task.queries + at;
    uint32_t *label = (uint32_t *)task.labels + at;
    float like = labels_cosine(query, label, words);
    if (threadIdx.x % WARP == 0) {
        cosines[head] = like;
    }
    __syncthreads();
    float similarity = aggregate(cosines, task.weights + (uint64_t)blockIdx.x * group, group);
    bool reuse = similarity >= task.threshold[blockIdx.x];
    for (uint32_t i = threadIdx.x % WARP; !reuse && i < words; i += WARP) {
        label[i] = query[i];
    }
    if (threadIdx.x == 0) {
        task.similarity[blockIdx.x] = similarity;
        task.reuse[blockIdx.x] = reuse ? 1 : 0;
    }
}

bool kernel_compare_labels(const uint16_t *queries, uint16_t *labels, const float *weights,
                           const float *threshold, uint32_t pairs, uint32_t group, uint32_t dim,
                           float *similarity, uint32_t *reuse, void *stream, struct error *why)
{
    if (group == 0 || group > KERNEL_MOST_GROUP || dim == 0 || dim % 2 != 0) {
        return error_set(why, NULL, 0, "labels of %u queries of %u values", group, dim);
    }
    const struct label_task task = {queries, labels, weights, threshold, dim, similarity, reuse};
    return pairs == 0 || launch(compare_labels, dim3(pairs), group * WARP, group * sizeof(float),
                                stream, why, task);
}
