/* The kernels between the products of a layer, which read and write every value once: the norm with
 * its residual, and rotary positions. */
#include "calibrate/device/ptx.cuh"
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/launch.cuh"

#include <math.h>

#define NORM_THREADS 256
#define ROPE_THREADS 128
#define CHUNK_VALUES 8

static __device__ uint32_t add_pairs(uint32_t a, uint32_t b, float *squares)
{
    uint32_t sum = ptx_pack(bf16_low(a) + bf16_low(b), bf16_high(a) + bf16_high(b));
    *squares += bf16_low(sum) * bf16_low(sum) + bf16_high(sum) * bf16_high(sum);
    return sum;
}

static __device__ uint32_t scale_pair(uint32_t values, uint32_t weights, float factor)
{
    return ptx_pack(bf16_low(values) * factor * bf16_low(weights),
                    bf16_high(values) * factor * bf16_high(weights));
}

/* The sum of a CTA's values, for all its threads; `warps` has room for a float for each warp. */
static __device__ float cta_sum(float value, float *warps)
{
    value = warp_sum(value);
    if (threadIdx.x % WARP == 0) {
        warps[threadIdx.x / WARP] = value;
    }
    __syncthreads();
    float sum = 0;
    for (uint32_t warp = 0; warp < NORM_THREADS / WARP; warp++) {
        sum += warps[warp];
    }
    return sum;
}

/* A CTA for each row. A thread reads back only the values of the residual that it wrote itself. */
static __global__ void __launch_bounds__(NORM_THREADS)
    norm(uint4 *residual, const uint4 *added, const uint4 *weight, uint32_t chunks, float epsilon,
         uint4 *out)
{
    uint64_t row = (uint64_t)blockIdx.x * chunks;
    float squares = 0;
    for (uint32_t i = threadIdx.x; i < chunks; i += NORM_THREADS) {
        uint4 a = residual[row + i], b = {0, 0, 0, 0};
        if (added != nullptr) {
            b = added[row + i];
        }
        a = {add_pairs(a.x, b.x, &squares), add_pairs(a.y, b.y, &squares),
             add_pairs(a.z, b.z, &squares), add_pairs(a.w, b.w, &squares)};
        if (added != nullptr) {
            residual[row + i] = a;
        }
    }
    squares = cta_sum(squares, (float *)launch_shared);
    float factor = rsqrtf(squares / (float)(chunks * CHUNK_VALUES) + epsilon);
    for (uint32_t i = threadIdx.x; i < chunks; i += NORM_THREADS) {
        uint4 a = residual[row + i], w = weight[i];
        out[row + i] = {scale_pair(a.x, w.x, factor), scale_pair(a.y, w.y, factor),
                        scale_pair(a.z, w.z, factor), scale_pair(a.w, w.w, factor)};
    }
}

bool kernel_norm(uint16_t *residual, const uint16_t *added, const uint16_t *weight, uint32_t rows,
                 uint32_t width, float epsilon, uint16_t *out, void *stream, struct error *why)
{
    if (width == 0 || width % CHUNK_VALUES != 0) {
        return error_set(why, NULL, 0, "the norm of %u values", width);
    }
    return rows == 0 || launch(norm, dim3(rows), NORM_THREADS, NORM_THREADS / WARP * sizeof(float),
                               stream, why, (uint4 *)residual, (const uint4 *)added,
                               (const uint4 *)weight, width / CHUNK_VALUES, epsilon, (uint4 *)out);
}

/* Turn two pairs of values: x with y, cosine and sine of the first, then of the second. */
static __device__ void turn_pairs(uint32_t *x, uint32_t *y, float4 by)
{
    float x0 = bf16_low(*x), x1 = bf16_high(*x), y0 = bf16_low(*y), y1 = bf16_high(*y);
    *x = ptx_pack(x0 * by.x - y0 * by.y, x1 * by.z - y1 * by.w);
    *y = ptx_pack(x0 * by.y + y0 * by.x, x1 * by.w + y1 * by.z);
}

/* A thread has 8 values of a head's first half, and the 8 of the second half that turn with them.
 */
static __global__ void __launch_bounds__(ROPE_THREADS)
    rope(uint16_t *values, const uint32_t *positions, const float4 *turns, uint32_t heads,
         uint32_t dim, uint64_t row_stride)
{
    uint32_t each = dim / (2 * CHUNK_VALUES), at = blockIdx.x * ROPE_THREADS + threadIdx.x;
    if (at >= heads * each) {
        return;
    }
    uint32_t chunk = at % each;
    uint16_t *head = values + (uint64_t)blockIdx.y * row_stride + (uint64_t)(at / each) * dim;
    uint4 *first = (uint4 *)head + chunk, *second = (uint4 *)(head + dim / 2) + chunk;
    const float4 *by = turns + (uint64_t)positions[blockIdx.y] * (dim / 4) + chunk * 4;
    uint4 x = *first, y = *second;
    turn_pairs(&x.x, &y.x, by[0]);
    turn_pairs(&x.y, &y.y, by[1]);
    turn_pairs(&x.z, &y.z, by[2]);
    turn_pairs(&x.w, &y.w, by[3]);
    *first = x;
    *second = y;
}

/* Rows of one launch: that dimension of a grid is at most 65535. */
#define ROPE_ROWS 32768U

bool kernel_rope(uint16_t *values, const uint32_t *positions, const float *turns, uint32_t rows,
                 uint32_t heads, uint32_t dim, uint64_t row_stride, void *stream, struct error *why)
{
    if (dim == 0 || dim % (2 * CHUNK_VALUES) != 0 || row_stride % CHUNK_VALUES != 0) {
        return error_set(why, NULL, 0, "positions of heads of %u values", dim);
    }
    uint32_t ctas = divide_up(heads * (dim / (2 * CHUNK_VALUES)), (uint32_t)ROPE_THREADS);
    bool ok = true;
    for (uint32_t row = 0; ok && heads > 0 && row < rows; row += ROPE_ROWS) {
        uint32_t some = rows - row < ROPE_ROWS ? rows - row : ROPE_ROWS;
        ok = launch(rope, dim3(ctas, some), ROPE_THREADS, 0, stream, why, values + row * row_stride,
                    positions + row, (const float4 *)turns, heads, dim, row_stride);
    }
    return ok;
}

void kernel_turns(uint32_t positions, uint32_t dim, double base, float *turns)
{
    uint32_t half = dim / 2;
    for (uint32_t i = 0; i < half; i++) {
        double frequency = pow(base, -2.0 * i / dim);
        for (uint32_t position = 0; position < positions; position++) {
            float *turn = turns + ((size_t)position * half + i) * 2;
            turn[0] = (float)cos(position * frequency);
            turn[1] = (float)sin(position * frequency);
        }
    }
}
