/* Merges attention over parts of a context by their log-sum-exps: a CTA for each row; each of its
 * warps has every fourth part, and each lane 4 columns at a time. */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#include <math.h>

#define WARPS 4
#define MOST_DIM 512
#define LANE_COLUMNS (WARP * 4)

struct merge_task {
    const float *out, *lse; /* [parts][rows], rows = CTAs */
    uint32_t parts, dim;
    float *whole, *whole_lse;
    uint16_t *whole_bf16;
};

/* The sums over a warp's parts, as multiples of exp(most). */
struct alignas(16) warp_sum {
    float out[MOST_DIM], most, weight;
};

static __device__ uint16_t round_bf16(float value)
{
    uint32_t bits = __float_as_uint(value);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static __device__ void add_parts(const struct merge_task &task, struct warp_sum &sum)
{
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, rows = gridDim.x;
    float most = -INFINITY, weight = 0;
    for (uint32_t part = warp; part < task.parts; part += WARPS) {
        most = fmaxf(most, task.lse[(uint64_t)part * rows + blockIdx.x]);
    }
    for (uint32_t column = lane * 4; column < task.dim; column += LANE_COLUMNS) {
        float4 all = {0, 0, 0, 0};
        weight = 0;
#pragma unroll 4
        for (uint32_t part = warp; most > -INFINITY && part < task.parts; part += WARPS) {
            uint64_t at = (uint64_t)part * rows + blockIdx.x;
            float share = expf(task.lse[at] - most);
            float4 some = *(const float4 *)(task.out + at * task.dim + column);
            weight += share;
            all.x += share * some.x;
            all.y += share * some.y;
            all.z += share * some.z;
            all.w += share * some.w;
        }
        *(float4 *)(sum.out + column) = all;
    }
    if (lane == 0) { /* lane 0 always has a column */
        sum.most = most;
        sum.weight = weight;
    }
}

static __global__ void __launch_bounds__(WARPS *WARP) merge(const struct merge_task task)
{
    struct warp_sum *sums = (struct warp_sum *)launch_shared;
    add_parts(task, sums[threadIdx.x / WARP]);
    __syncthreads();
    float most = -INFINITY, weight = 0, share[WARPS];
    for (int warp = 0; warp < WARPS; warp++) {
        most = fmaxf(most, sums[warp].most);
    }
    for (int warp = 0; warp < WARPS; warp++) {
        share[warp] = most > -INFINITY ? expf(sums[warp].most - most) : 0;
        weight += share[warp] * sums[warp].weight;
    }
    for (uint32_t column = threadIdx.x; column < task.dim; column += blockDim.x) {
        float out = 0;
        for (int warp = 0; warp < WARPS; warp++) {
            out += share[warp] * sums[warp].out[column];
        }
        out = weight > 0 ? out / weight : 0;
        task.whole[(uint64_t)blockIdx.x * task.dim + column] = out;
        if (task.whole_bf16 != nullptr) {
            task.whole_bf16[(uint64_t)blockIdx.x * task.dim + column] = round_bf16(out);
        }
    }
    if (threadIdx.x == 0) {
        task.whole_lse[blockIdx.x] = weight > 0 ? most + logf(weight) : -INFINITY;
    }
}

bool kernel_merge(const float *out, const float *lse, uint32_t parts, uint32_t rows, uint32_t dim,
                  float *whole, float *whole_lse, uint16_t *whole_bf16, void *stream,
                  struct error *why)
{
    if (dim == 0 || dim % 4 != 0 || dim > MOST_DIM) {
        return error_set(why, NULL, 0, "merging rows of %u values", dim);
    }
    const struct merge_task task = {out, lse, parts, dim, whole, whole_lse, whole_bf16};
    return rows == 0 || launch(merge, dim3(rows), WARPS * WARP, WARPS * sizeof(struct warp_sum),
                               stream, why, task);
}
