/* Scores of centroids and of pages: products with the queries on the tensor cores, and the largest
 * over the group.
 *
 * A page's bound is a product too: positive values of a query are multiplied by the page's maxima,
 * negative ones by its minima. So the negative and the positive part of a query, in the order of
 * the page's halves, form a query of twice the width. As in attention, a CTA has a stretch of a
 * pair's entries; a warp has every fourth tile of it, and loads two tiles ahead.
 */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/tiles.cuh"

#include <math.h>

#define WARPS 4
#define STAGES 3
#define TILES_EACH 8 /* for each warp: enough to be worth its set-up */

/* Tiles of 4 KiB, but at least the 16 rows that a product takes. */
template <int WIDTH> struct score_tile {
    using rows = tile_rows<KV_BF16, WIDTH>;
    static constexpr int ROWS = 4096 / rows::BYTES > 16 ? 4096 / rows::BYTES : 16;
    static constexpr int CHUNKS = ROWS * rows::CHUNKS;
    static constexpr int CTA_ROWS = WARPS * TILES_EACH * ROWS;
};

template <int WIDTH>
static __device__ void scores_kernel_copy_rows(uint4 *stage, const uint16_t *entries,
                                               uint32_t first, uint32_t end)
{
    using rows = typename score_tile<WIDTH>::rows;
    int lane = (int)(threadIdx.x % WARP);
#pragma unroll
    for (int n = 0; n < score_tile<WIDTH>::CHUNKS / WARP; n++) {
        int row = n * rows::ROWS_AT_ONCE + lane / rows::CHUNKS, chunk = lane % rows::CHUNKS;
        uint64_t entry = first + (uint64_t)row;
        bool there = entry < end;
        ptx_copy(stage + rows::place(row, chunk),
                 entries + (there ? entry * WIDTH + (uint64_t)chunk * 8 : 0), there);
    }
    ptx_copy_commit();
}

static __device__ uint32_t clip(uint32_t pair, bool positive)
{
    float low = bf16_low(pair), high = bf16_high(pair);
    return positive ? ptx_pack(fmaxf(low, 0), fmaxf(high, 0))
                    : ptx_pack(fminf(low, 0), fminf(high, 0));
}

/* Queries for pages, whose minima come first: the negative parts, then the positive ones. */
template <int WIDTH, bool PAGES>
static __device__ void load_queries(uint32_t (&left)[WIDTH / 16][4], const uint16_t *queries,
                                    int group)
{
    if constexpr (PAGES) {
        uint32_t bare[WIDTH / 32][4];
        tile_queries<KV_BF16, WIDTH / 2>(bare, queries, group);
        for (int step = 0; step < WIDTH / 16; step++) {
            for (int part = 0; part < 4; part++) {
                left[step][part] = clip(bare[step % (WIDTH / 32)][part], step >= WIDTH / 32);
            }
        }
    } else {
        tile_queries<KV_BF16, WIDTH>(left, queries, group);
    }
}

/* For each of 8 entries, the largest product over the group's heads, which are the rows. The lanes
 * of the first row write them, 2 entries each. */
static __device__ void write_largest(const float (&products)[4], uint32_t group, float *scores,
                                     uint32_t first, uint32_t end)
{
    uint32_t row = threadIdx.x % WARP / 4, quad = threadIdx.x % 4;
    for (uint32_t next = 0; next < 2; next++) {
        float largest = row < group ? products[next] : -INFINITY;
        largest = row + 8 < group ? fmaxf(largest, products[2 + next]) : largest;
        for (int apart = 4; apart < WARP; apart *= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(WHOLE_WARP, largest, apart));
        }
        uint32_t entry = first + 2 * quad + next;
        if (row == 0 && entry < end) {
            scores[entry] = largest;
        }
    }
}

template <int WIDTH, bool PAGES>
static __global__ void __launch_bounds__(WARPS *WARP)
    score(const uint16_t *queries, const uint16_t *all, uint32_t group, uint32_t entries,
          float *scores)
{
    using tile = score_tile<WIDTH>;
    uint4 *stages = launch_shared + threadIdx.x / WARP * (STAGES * tile::CHUNKS);
    const uint16_t *rows = all + (uint64_t)blockIdx.y * entries * WIDTH;
    uint32_t begin = blockIdx.x * tile::CTA_ROWS;
    uint32_t end = entries - begin > tile::CTA_ROWS ? begin + tile::CTA_ROWS : entries;
    uint32_t first = begin + threadIdx.x / WARP * tile::ROWS, ahead = first;
    const uint32_t apart = WARPS * tile::ROWS;
    for (int stage = 0; stage < STAGES - 1; stage++, ahead += apart) {
        scores_kernel_copy_rows<WIDTH>(stages + stage * tile::CHUNKS, rows, ahead, end);
    }
    uint32_t left[WIDTH / 16][4];
    load_queries<WIDTH, PAGES>(
        left, queries + (uint64_t)blockIdx.y * group * (PAGES ? WIDTH / 2 : WIDTH), (int)group);
    for (int stage = 0; first < end; first += apart, ahead += apart) {
        int free = stage == 0 ? STAGES - 1 : stage - 1;
        scores_kernel_copy_rows<WIDTH>(stages + free * tile::CHUNKS, rows, ahead, end);
        ptx_copy_wait<STAGES - 1>();
        __syncwarp();
        for (int row = 0; row < tile::ROWS; row += 16) {
            float low[4] = {}, high[4] = {};
            tile_multiply_keys<KV_BF16, WIDTH>(low, high, left, stages + stage * tile::CHUNKS, row);
            float *of_pair = scores + (uint64_t)blockIdx.y * entries;
            write_largest(low, group, of_pair, first + (uint32_t)row, end);
            write_largest(high, group, of_pair, first + (uint32_t)row + 8, end);
        }
        __syncwarp();
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
    ptx_copy_wait<0>();
}

template <int WIDTH, bool PAGES>
static bool launch_score(const uint16_t *queries, const uint16_t *all, uint32_t pairs,
                         uint32_t group, uint32_t entries, float *scores, void *stream,
                         struct error *why)
{
    using tile = score_tile<WIDTH>;
    dim3 grid(divide_up(entries, (uint32_t)tile::CTA_ROWS), pairs);
    return launch(score<WIDTH, PAGES>, grid, WARPS * WARP,
                  WARPS * STAGES * tile::CHUNKS * sizeof(uint4), stream, why, queries, all, group,
                  entries, scores);
}

static bool is_scored(uint32_t group, uint32_t dim, uint32_t entries, struct error *why)
{
    bool known = group > 0 && group <= KERNEL_MOST_GROUP && (dim == 64 || dim == 128) &&
                 entries <= UINT32_MAX / 2;
    return known || error_set(why, NULL, 0, "scores of %u entries for %u queries of %u values",
                              entries, group, dim);
}

bool kernel_score_centroids(const uint16_t *queries, const uint16_t *centroids, uint32_t pairs,
                            uint32_t group, uint32_t dim, uint32_t entries, float *scores,
                            void *stream, struct error *why)
{
    return is_scored(group, dim, entries, why) &&
           (pairs == 0 || entries == 0 ||
            (dim == 64 ? launch_score<64, false> : launch_score<128, false>)(queries, centroids,
                                                                             pairs, group, entries,
                                                                             scores, stream, why));
}

bool kernel_score_pages(const uint16_t *queries, const uint16_t *pages, uint32_t pairs,
                        uint32_t group, uint32_t dim, uint32_t entries, float *scores, void *stream,
                        struct error *why)
{
    return is_scored(group, dim, entries, why) &&
           (pairs == 0 || entries == 0 ||
            (dim == 64 ? launch_score<128, true> : launch_score<256, true>)(queries, pages, pairs,
                                                                            group, entries, scores,
                                                                            stream, why));
}
