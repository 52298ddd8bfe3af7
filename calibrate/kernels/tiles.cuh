/* Rows of K, V, centroids or pages in shared memory, multiplied on the tensor cores.
 *
 * A tile is a few rows of equal length; a chunk is 16 bytes of a row. The chunks of one column in
 * eight rows would fall into the same banks, so a row's chunks are permuted by the row's number.
 * One warp copies a tile and multiplies it, so that no barrier of the CTA is needed.
 *
 * The left side is always the queries of a group, as 16 rows; rows past the group are zero. On
 * tensor cores idle rows cost less than a second shape of kernel. fp8 is widened to bf16 exactly:
 * its bits are moved to their places in bf16, and multiplied by 2^120, the difference of the
 * biases. The tensor cores take values of a pair of columns (of K) or rows (of V) together, but a
 * load of fp8 brings a pair of the other. So columns are permuted, alike in queries and keys, and
 * permuted back in the output (tile_column()).
 */
#pragma once

#include "calibrate/device/ptx.cuh"
#include "calibrate/kernels/launch.cuh"
#include "calibrate/kernels/small_floats.h"

#define CHUNK 16
#define QUERY_ROWS 16

template <enum kv_type TYPE, int DIM> struct tile_rows {
    static constexpr int BYTES = DIM * (TYPE == KV_FP8 ? 1 : 2);
    static constexpr int CHUNKS = BYTES / CHUNK;
    /* Rows of which one instruction of a warp copies a chunk. */
    static constexpr int ROWS_AT_ONCE = WARP / CHUNKS;
    static_assert(CHUNKS >= 4 && CHUNKS <= WARP, "4 to 32 chunks a row");

    /* The index of a chunk in its tile. Two rows of 64 bytes fill all banks; of longer rows, one
     * row or a part of it does. */
    static __device__ int place(int row, int chunk)
    {
        return row * CHUNKS + (chunk ^ (CHUNKS == 4 ? row >> 1 & 3 : row & 7));
    }
};

/* Two fp8 values, each in the upper byte of 16 bits (from __byte_perm()), as bf16. */
__device__ inline uint32_t fp8_widen(uint32_t bytes)
{
    const uint32_t scale = 0x7b807b80; /* 2^120, twice */
    return ptx_times((bytes & 0x80008000) | (bytes >> 4 & 0x07f007f0), scale);
}

#define FP8_PAIR(word, low, high)                                                                  \
    fp8_widen(__byte_perm((word), 0, 0x0404 | (low) << 4 | (high) << 12))

/* Queries as the left side, with columns in the order of keys of this type. */
template <enum kv_type TYPE, int DIM>
__device__ inline void tile_queries(uint32_t (&left)[DIM / 16][4], const uint16_t *queries,
                                    int group)
{
    int row = (int)(threadIdx.x % WARP / 4), quad = (int)(threadIdx.x % 4);
    for (int step = 0; step < DIM / 16; step++) {
        for (int part = 0; part < 4; part++) {
            int head = row + 8 * (part & 1), half = part >> 1;
            int column = 16 * step + (TYPE == KV_FP8 ? 4 * quad + 2 * half : 8 * half + 2 * quad);
            left[step][part] =
                head < group ? *(const uint32_t *)(queries + head * DIM + column) : 0;
        }
    }
}

/* products[block of 8 rows] += queries . rows of a tile, 16 rows from `first` on. */
template <enum kv_type TYPE, int DIM>
__device__ inline void tile_multiply_keys(float (&low)[4], float (&high)[4],
                                          const uint32_t (&left)[DIM / 16][4], const uint4 *tile,
                                          int first)
{
    using rows = tile_rows<TYPE, DIM>;
    int lane = (int)(threadIdx.x % WARP), in_eight = lane & 7, second = lane >> 3 & 1;
    uint32_t right[4];
    if constexpr (TYPE == KV_FP8) {
        int row = first + in_eight + 8 * second;
        for (int step = 0; step < DIM / 16; step += 2) {
            ptx_load_matrices(right, tile + rows::place(row, step + (lane >> 4)));
            for (int part = 0; part < 2; part++) {
                const uint32_t a = right[2 * part], b = right[2 * part + 1];
                ptx_multiply(low, left[step + part], FP8_PAIR(a, 0, 1), FP8_PAIR(a, 2, 3));
                ptx_multiply(high, left[step + part], FP8_PAIR(b, 0, 1), FP8_PAIR(b, 2, 3));
            }
        }
    } else {
        int row = first + in_eight + 8 * (lane >> 4);
        for (int step = 0; step < DIM / 16; step++) {
            ptx_load_matrices(right, tile + rows::place(row, 2 * step + second));
            ptx_multiply(low, left[step], right[0], right[1]);
            ptx_multiply(high, left[step], right[2], right[3]);
        }
    }
}

/* sums[DIM / 8] += weights[16 heads][16 rows] . rows of a tile, 16 of them from `first` on. */
template <enum kv_type TYPE, int DIM>
__device__ inline void tile_multiply_values(float (&sums)[DIM / 8][4], const uint32_t (&weights)[4],
                                            const uint4 *tile, int first)
{
    using rows = tile_rows<TYPE, DIM>;
    int lane = (int)(threadIdx.x % WARP);
    int row = first + (lane & 7) + 8 * (lane >> 3 & 1);
    uint32_t right[4];
    for (int chunk = 0; chunk < rows::CHUNKS; chunk += 2) {
        ptx_load_transposed(right, tile + rows::place(row, chunk + (lane >> 4)));
        for (int part = 0; part < 2; part++) {
            const uint32_t a = right[2 * part], b = right[2 * part + 1];
            if constexpr (TYPE == KV_FP8) {
                int block = 2 * (chunk + part);
                ptx_multiply(sums[block], weights, FP8_PAIR(a, 0, 2), FP8_PAIR(b, 0, 2));
                ptx_multiply(sums[block + 1], weights, FP8_PAIR(a, 1, 3), FP8_PAIR(b, 1, 3));
            } else {
                ptx_multiply(sums[chunk + part], weights, a, b);
            }
        }
    }
}

/* The column of V to which sums[block][value] of this thread belongs. */
template <enum kv_type TYPE> __device__ inline int tile_column(int block, int value)
{
    int quad = (int)(threadIdx.x % 4), next = value & 1;
    return TYPE == KV_FP8 ? block / 2 * 16 + 4 * quad + 2 * next + (block & 1)
                          : block * 8 + 2 * quad + next;
}
