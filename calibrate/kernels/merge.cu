/* Merges attention over parts of a context by their log-sum-exps: a CTA for each row; each of its
 * warps has every fourth part, and each lane 4 columns. A warp's first parts are already under way
 * when it makes the shares, so that a row of up to WARPS * AHEAD parts takes one round trip to
 * memory. */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#include <math.h>

#define WARPS 4
#define AHEAD 8 /* parts that a warp loads at a time */
#define MOST_DIM (WARP * 4)
#define MOST_PARTS (WARPS * WARP) /* a lane for the log-sum-exp of each part of the warp */

struct merge_task {
    const float *out, *lse; /* [parts][rows], rows = CTAs */
    uint32_t parts, dim;
    float *whole, *whole_lse;
    uint16_t *whole_bf16;
};

/* The sums over a warp's parts, as multiples of exp(most). */
struct alignas(16) warp_parts {
    float out[MOST_DIM], most, weight;
};

static __device__ uint16_t round_bf16(float value)
{
    uint32_t bits = __float_as_uint(value);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Where the n-th part of this warp has its row; n may be behind the last. */
static __device__ uint64_t row_of_part(uint32_t n)
{
    return (uint64_t)(threadIdx.x / WARP + n * WARPS) * gridDim.x + blockIdx.x;
}

/* Start to load this lane's columns of parts first ... first + AHEAD - 1 of the warp's `parts`. */
static __device__ void load_parts(const struct merge_task &task, uint32_t parts, uint32_t first,
                                  float4 (&some)[AHEAD])
{
    uint32_t column = threadIdx.x % WARP * 4, count = column < task.dim ? parts : 0;
    const float *from = task.out + row_of_part(first) * task.dim + column;
    uint64_t apart = (uint64_t)WARPS * gridDim.x * task.dim;
#pragma unroll
    for (uint32_t i = 0; i < AHEAD; i++, from += apart) {
        some[i] = {0, 0, 0, 0};
        if (first + i < count) {
            some[i] = *(const float4 *)from;
        }
    }
}

static __device__ void merge_kernel_add_parts(const struct merge_task &task, struct warp_parts &sum)
{
    uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    uint32_t parts = task.parts > warp ? divide_up(task.parts - warp, (uint32_t)WARPS) : 0;
    float lse = lane < parts ? task.lse[row_of_part(lane)] : -INFINITY;
    float4 some[AHEAD], all = {0, 0, 0, 0};
    load_parts(task, parts, 0, some);
    float most = warp_most(lse), share = most > -INFINITY ? expf(lse - most) : 0;
    for (uint32_t first = 0; first < parts; first += AHEAD) {
        if (first > 0) {
            load_parts(task, parts, first, some);
        }
#pragma unroll
        for (uint32_t i = 0; i < AHEAD; i++) {
            float of_part = __shfl_sync(WHOLE_WARP, share, first + i);
            all.x += of_part * some[i].x;
            all.y += of_part * some[i].y;
            all.z += of_part * some[i].z;
            all.w += of_part * some[i].w;
        }
    }
    *(float4 *)(sum.out + lane * 4) = all;
    float weight = warp_sum(share);
    if (lane == 0) {
        sum.most = most;
        sum.weight = weight;
    }
}

static __global__ void __launch_bounds__(WARPS *WARP) merge(const struct merge_task task)
{
    struct warp_parts *sums = (struct warp_parts *)launch_shared;
    merge_kernel_add_parts(task, sums[threadIdx.x / WARP]);
    __syncthreads();
    float most = -INFINITY, weight = 0, share[WARPS];
    for (int warp = 0; warp < WARPS; warp++) {
        most = fmaxf(most, sums[warp].most);
    }
    for (int warp = 0; warp < WARPS; warp++) {
        share[warp] = most > -INFINITY ? expf(sums[warp].most - most) : 0;
        weight += share[warp] * sums[warp].weight;
    }
    uint32_t column = threadIdx.x;
    if (column < task.dim) {
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
static_assert(WARPS * WARP >= MOST_DIM, "a thread for each column");

bool kernel_merge(const float *out, const float *lse, uint32_t parts, uint32_t rows, uint32_t dim,
                  float *whole, float *whole_lse, uint16_t *whole_bf16, void *stream,
                  struct error *why)
{
    if (dim == 0 || dim % 4 != 0 || dim > MOST_DIM || parts > MOST_PARTS) {
        return error_set(why, NULL, 0, "merging %u parts of %u values", parts, dim);
    }
    const struct merge_task task = {out, lse, parts, dim, whole, whole_lse, whole_bf16};
    return rows == 0 || launch(merge, dim3(rows), WARPS * WARP, WARPS * sizeof(struct warp_parts),
                               stream, why, task);
}
