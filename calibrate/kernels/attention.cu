/* Decode attention for grouped heads over a dense context or a list of tokens, split over CTAs.
 *
 * FlashDecoding (Dao et al., 2023) on the tensor cores: a CTA has a stretch of one pair's tokens,
 * and each of its warps has every fourth tile of it. A warp keeps its own running maximum, sum and
 * output, and loads two tiles ahead. It does not wait for the other warps until the end, when the
 * CTA merges its warps. merge.cu merges the parts of CTAs. All query heads of the group share the
 * load of a tile.
 *
 * Exponentials have base 2: maxima are those of unscaled products, and `scale` contains log2(e).
 */
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/tiles.cuh"

#include <math.h>

#define WARPS 4
#define STAGES 3
#define TILE_BYTES 4096
#define TILE_CHUNKS (TILE_BYTES / CHUNK)
#define SHARED_BYTES (WARPS * STAGES * 2 * TILE_BYTES)
#define LOG2_E 1.44269504088896340736f

struct attend_task {
    const uint8_t *keys, *values;
    uint64_t sequence_bytes, head_bytes, token_bytes;
    const uint16_t *queries;
    const uint32_t *lists, *counts;
    uint32_t most, kv_heads, group;
    float scale;
    float *out, *lse; /* [splits][pairs][group] */
};

/* The tiles of a warp: every WARPS-th tile of the CTA's stretch of a pair. */
struct stretch {
    const uint8_t *keys, *values;
    const uint32_t *list;
    uint64_t token_bytes;
    uint32_t count, last;
};

/* The tokens of a tile, as lanes hold them: a lane has those of rows lane and lane + 32. */
template <int ROWS> struct tile_tokens {
    uint32_t of[ROWS > WARP ? ROWS / WARP : 1];
};

template <int ROWS>
static __device__ tile_tokens<ROWS> find_tokens(const struct stretch &stretch, uint32_t tile)
{
    tile_tokens<ROWS> tokens;
    for (int slot = 0; slot < (ROWS > WARP ? ROWS / WARP : 1); slot++) {
        uint32_t at = tile * ROWS + threadIdx.x % WARP + slot * WARP;
        bool there = tile < stretch.last && at < stretch.count;
        tokens.of[slot] = stretch.list != nullptr && there ? stretch.list[at] : at;
    }
    return tokens;
}

/* Start to copy a tile's keys, then its values; rows after the last are zeros. */
template <class rows, int ROWS>
static __device__ void attention_copy_tile(uint4 *stage, const struct stretch &stretch,
                                           uint32_t tile, const tile_tokens<ROWS> &tokens)
{
    int lane = (int)(threadIdx.x % WARP), chunk = lane % rows::CHUNKS;
#pragma unroll
    for (int n = 0; n < TILE_CHUNKS / WARP; n++) {
        int row = n * rows::ROWS_AT_ONCE + lane / rows::CHUNKS;
        uint32_t token = __shfl_sync(WHOLE_WARP, tokens.of[n / rows::CHUNKS], row % WARP);
        bool there = tile < stretch.last && tile * ROWS + (uint32_t)row < stretch.count;
        uint64_t from = there ? token * stretch.token_bytes + (uint64_t)chunk * CHUNK : 0;
        uint4 *to = stage + rows::place(row, chunk);
        ptx_copy(to, stretch.keys + from, there);
        ptx_copy(to + TILE_CHUNKS, stretch.values + from, there);
    }
    ptx_copy_commit();
}

static __device__ struct stretch find_stretch(const struct attend_task &task, uint32_t pair,
                                              uint32_t rows, uint32_t *first)
{
    uint64_t at =
        pair / task.kv_heads * task.sequence_bytes + pair % task.kv_heads * task.head_bytes;
    uint32_t count = task.most;
    if (task.counts != nullptr && task.counts[pair] < count) {
        count = task.counts[pair];
    }
    uint32_t tiles = divide_up(count, rows), each = divide_up(tiles, gridDim.x);
    uint32_t begin = blockIdx.x * each, end = begin + each;
    *first = begin + threadIdx.x / WARP;
    return {task.keys + at,
            task.values + at,
            task.lists != nullptr ? task.lists + (uint64_t)pair * task.most : nullptr,
            task.token_bytes,
            count,
            end < tiles ? end : tiles};
}

/* A warp's results so far. A lane has those of heads lane / 4 and, in a wide group, lane / 4 + 8.
 */
template <int DIM, int HALVES> struct running {
    float out[DIM / 8][4];
    float most[HALVES], sum[HALVES];
};

/* Replace the products of a tile by weights, and scale the sums so far to the new maximum. */
template <int DIM, int HALVES, int ROWS>
static __device__ void attention_weigh(struct running<DIM, HALVES> &state,
                                       float (&products)[ROWS / 8][4], float scale)
{
    float most[HALVES];
    bool higher = false;
    for (int half = 0; half < HALVES; half++) {
        most[half] = state.most[half];
        for (int block = 0; block < ROWS / 8; block++) {
            most[half] =
                fmaxf(most[half], fmaxf(products[block][2 * half], products[block][2 * half + 1]));
        }
        most[half] = fmaxf(most[half], __shfl_xor_sync(WHOLE_WARP, most[half], 1));
        most[half] = fmaxf(most[half], __shfl_xor_sync(WHOLE_WARP, most[half], 2));
        higher = higher || most[half] > state.most[half];
    }
    if (__any_sync(WHOLE_WARP, higher)) { /* rare after the first tiles */
        for (int half = 0; half < HALVES; half++) {
            float keep = ptx_exp2((state.most[half] - most[half]) * scale);
            state.most[half] = most[half];
            state.sum[half] *= keep;
            for (int block = 0; block < DIM / 8; block++) {
                state.out[block][2 * half] *= keep;
                state.out[block][2 * half + 1] *= keep;
            }
        }
    }
    for (int half = 0; half < HALVES; half++) {
        float base = most[half] * scale;
        for (int block = 0; block < ROWS / 8; block++) {
            for (int value = 2 * half; value < 2 * half + 2; value++) {
                products[block][value] = ptx_exp2(products[block][value] * scale - base);
                state.sum[half] += products[block][value];
            }
        }
    }
}

template <enum kv_type TYPE, int DIM, int HALVES, int ROWS>
static __device__ void attend_tile(struct running<DIM, HALVES> &state,
                                   const uint32_t (&queries)[DIM / 16][4], const uint4 *stage,
                                   uint32_t left, float scale)
{
    float products[ROWS / 8][4] = {};
#pragma unroll
    for (int first = 0; first < ROWS; first += 16) {
        tile_multiply_keys<TYPE, DIM>(products[first / 8], products[first / 8 + 1], queries, stage,
                                      first);
    }
    if (left < ROWS) {
        for (int block = 0; block < ROWS / 8; block++) {
            for (int value = 0; value < 4; value++) {
                uint32_t row = (uint32_t)block * 8 + 2 * (threadIdx.x % 4) + (value & 1);
                products[block][value] = row < left ? products[block][value] : -INFINITY;
            }
        }
    }
    attention_weigh<DIM, HALVES, ROWS>(state, products, scale);
#pragma unroll
    for (int first = 0; first < ROWS; first += 16) {
        float(&low)[4] = products[first / 8], (&high)[4] = products[first / 8 + 1];
        const uint32_t weights[4] = {
            ptx_pack(low[0], low[1]), HALVES == 2 ? ptx_pack(low[2], low[3]) : 0,
            ptx_pack(high[0], high[1]), HALVES == 2 ? ptx_pack(high[2], high[3]) : 0};
        tile_multiply_values<TYPE, DIM>(state.out, weights, stage + TILE_CHUNKS, first);
    }
}

/* The outputs of the warps of a CTA, in the shared memory that held their tiles. */
template <int DIM> struct warps_output {
    float out[WARPS][QUERY_ROWS][DIM];
    float most[WARPS][QUERY_ROWS], sum[WARPS][QUERY_ROWS];
};
static_assert(sizeof(warps_output<128>) <= SHARED_BYTES, "merged where the tiles were");

template <enum kv_type TYPE, int DIM, int HALVES>
static __device__ void leave_output(struct warps_output<DIM> &all,
                                    const struct running<DIM, HALVES> &state)
{
    int warp = (int)(threadIdx.x / WARP), lane = (int)(threadIdx.x % WARP);
    for (int half = 0; half < HALVES; half++) {
        int head = lane / 4 + 8 * half;
        float sum = state.sum[half];
        sum += __shfl_xor_sync(WHOLE_WARP, sum, 1);
        sum += __shfl_xor_sync(WHOLE_WARP, sum, 2);
        if (lane % 4 == 0) {
            all.most[warp][head] = state.most[half];
            all.sum[warp][head] = sum;
        }
        for (int block = 0; block < DIM / 8; block++) {
            for (int value = 2 * half; value < 2 * half + 2; value++) {
                all.out[warp][head][tile_column<TYPE>(block, value)] = state.out[block][value];
            }
        }
    }
}

template <int DIM>
static __device__ void write_output(const struct warps_output<DIM> &all,
                                    const struct attend_task &task)
{
    uint64_t row = ((uint64_t)blockIdx.x * gridDim.y + blockIdx.y) * task.group;
    for (uint32_t i = threadIdx.x; i < task.group * DIM; i += blockDim.x) {
        uint32_t head = i / DIM, column = i % DIM;
        float most = -INFINITY, sum = 0, out = 0;
        for (int warp = 0; warp < WARPS; warp++) {
            most = fmaxf(most, all.most[warp][head]);
        }
        for (int warp = 0; most > -INFINITY && warp < WARPS; warp++) {
            float share = ptx_exp2((all.most[warp][head] - most) * task.scale);
            sum += share * all.sum[warp][head];
            out += share * all.out[warp][head][column];
        }
        task.out[row * DIM + i] = sum > 0 ? out / sum : 0;
        if (column == 0) {
            task.lse[row + head] = sum > 0 ? most * task.scale / LOG2_E + logf(sum) : -INFINITY;
        }
    }
}

template <enum kv_type TYPE, int DIM, int HALVES>
static __global__ void __launch_bounds__(WARPS *WARP, 2) attend(const struct attend_task task)
{
    using rows = tile_rows<TYPE, DIM>;
    constexpr int ROWS = TILE_BYTES / rows::BYTES;
    uint32_t pair = blockIdx.y, tile;
    const struct stretch stretch = find_stretch(task, pair, ROWS, &tile);
    uint4 *stages = launch_shared + threadIdx.x / WARP * (STAGES * 2 * TILE_CHUNKS);

    uint32_t ahead = tile;
    tile_tokens<ROWS> tokens = find_tokens<ROWS>(stretch, ahead);
    for (int stage = 0; stage < STAGES - 1; stage++) {
        tile_tokens<ROWS> next = find_tokens<ROWS>(stretch, ahead + WARPS);
        attention_copy_tile<rows, ROWS>(stages + stage * 2 * TILE_CHUNKS, stretch, ahead, tokens);
        tokens = next;
        ahead += WARPS;
    }

    uint32_t queries[DIM / 16][4];
    tile_queries<TYPE, DIM>(queries, task.queries + (uint64_t)pair * task.group * DIM,
                            (int)task.group);
    struct running<DIM, HALVES> state = {
    };
    for (int half = 0; half < HALVES; half++) {
        state.most[half] = -INFINITY;
    }
    for (int stage = 0; tile < stretch.last; tile += WARPS) {
        tile_tokens<ROWS> next = find_tokens<ROWS>(stretch, ahead + WARPS);
        int free = stage == 0 ? STAGES - 1 : stage - 1;
        attention_copy_tile<rows, ROWS>(stages + free * 2 * TILE_CHUNKS, stretch, ahead, tokens);
        tokens = next;
        ahead += WARPS;
        ptx_copy_wait<STAGES - 1>();
        __syncwarp(); /* the other lanes' copies are there too */
        attend_tile<TYPE, DIM, HALVES, ROWS>(state, queries, stages + stage * 2 * TILE_CHUNKS,
                                             stretch.count - tile * ROWS, task.scale);
        __syncwarp(); /* read by all, before it is copied over */
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }

    ptx_copy_wait<0>();
    __syncthreads();
    struct warps_output<DIM> &all = *(struct warps_output<DIM> *)launch_shared;
    leave_output<TYPE, DIM, HALVES>(all, state);
    __syncthreads();
    write_output<DIM>(all, task);
}

typedef void attend_kernel(const struct attend_task task);

static const struct {
    enum kv_type type;
    uint32_t dim;
    attend_kernel *narrow, *wide; /* for groups of up to 8, and of up to 16 */
} kernels[] = {
    {KV_BF16, 64, attend<KV_BF16, 64, 1>, attend<KV_BF16, 64, 2>},
    {KV_BF16, 128, attend<KV_BF16, 128, 1>, attend<KV_BF16, 128, 2>},
    {KV_FP8, 64, attend<KV_FP8, 64, 1>, attend<KV_FP8, 64, 2>},
    {KV_FP8, 128, attend<KV_FP8, 128, 1>, attend<KV_FP8, 128, 2>},
};

static bool find_kernel(const struct kernel_attention *attention, attend_kernel **kernel,
                        struct error *why)
{
    const struct kernel_kv *kv = &attention->kv;
    uint64_t bytes = kv_type_bytes(kv->type);
    uint64_t aligned = (uintptr_t)kv->keys | (uintptr_t)kv->values | kv->sequence_stride * bytes |
                       kv->head_stride * bytes | kv->token_stride * bytes;
    if (aligned % CHUNK != 0 || attention->group == 0 || attention->group > KERNEL_MOST_GROUP ||
        !(attention->scale > 0)) {
        return error_set(why, NULL, 0,
                         "attention of groups of %u, scale %g, over KV not in steps of 16 bytes?",
                         attention->group, (double)attention->scale);
    }
    for (const auto &row : kernels) {
        if (row.type == kv->type && row.dim == kv->dim) {
            *kernel = attention->group > 8 ? row.wide : row.narrow;
            return true;
        }
    }
    return error_set(why, NULL, 0, "attention of heads of %u values", kv->dim);
}

static uint32_t tile_rows_of(const struct kernel_kv *kv)
{
    return (uint32_t)(TILE_BYTES / (kv->dim * kv_type_bytes(kv->type)));
}

static uint64_t attention_pairs(const struct kernel_attention *attention)
{
    return (uint64_t)attention->batch * attention->kv_heads;
}

/* Splits are chosen for full waves of CTAs: the fewest splits whose last wave is nearly as full as
 * with the best number, with at least two tiles a warp. */
#define MOST_SPLITS 128
#define NEARLY 0.9

static double waves_filled(double ctas, double at_once)
{
    return ctas / at_once / ceil(ctas / at_once);
}

bool kernel_attention_splits(const struct kernel_attention *attention, uint32_t *splits,
                             struct error *why)
{
    attend_kernel *kernel;
    int sms, each;
    if (!find_kernel(attention, &kernel, why) ||
        !gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why) ||
        !GPU_TRY(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES),
            why) ||
        !GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, WARPS * WARP,
                                                               SHARED_BYTES),
                 why)) {
        return false;
    }
    double at_once = (double)sms * (each > 0 ? each : 1),
           pairs = (double)attention_pairs(attention);
    uint32_t tiles = divide_up(attention->most, tile_rows_of(&attention->kv));
    uint32_t most = tiles / (2 * WARPS) < MOST_SPLITS ? tiles / (2 * WARPS) : MOST_SPLITS;
    double best = 0;
    for (uint32_t n = 1; n <= most; n++) {
        best = fmax(best, waves_filled(pairs * n, at_once));
    }
    *splits = 1;
    while (*splits < most && waves_filled(pairs * *splits, at_once) < NEARLY * best) {
        ++*splits;
    }
    return true;
}

/* The outputs of all parts, then their log-sum-exps. */
static size_t parts_outputs(const struct kernel_attention *attention)
{
    return attention->splits * attention_pairs(attention) * attention->group * attention->kv.dim;
}

size_t kernel_attention_scratch(const struct kernel_attention *attention)
{
    size_t outputs = parts_outputs(attention);
    return attention->splits > 1 ? (outputs + outputs / attention->kv.dim) * sizeof(float) : 0;
}

bool kernel_attend(const struct kernel_attention *attention, void *stream, struct error *why)
{
    const struct kernel_kv *kv = &attention->kv;
    uint64_t pairs = attention_pairs(attention), bytes = kv_type_bytes(kv->type);
    bool parted = attention->splits > 1;
    attend_kernel *kernel;
    if (pairs == 0) {
        return true;
    }
    if (!find_kernel(attention, &kernel, why)) {
        return false;
    }
    if (attention->splits == 0 || pairs > 65535) {
        return error_set(why, NULL, 0, "attention of %u splits and %llu pairs", attention->splits,
                         (unsigned long long)pairs);
    }
    float *part_lse = attention->parts + parts_outputs(attention);
    const struct attend_task task = {
        .keys = (const uint8_t *)kv->keys,
        .values = (const uint8_t *)kv->values,
        .sequence_bytes = kv->sequence_stride * bytes,
        .head_bytes = kv->head_stride * bytes,
        .token_bytes = kv->token_stride * bytes,
        .queries = attention->queries,
        .lists = attention->lists,
        .counts = attention->counts,
        .most = attention->most,
        .kv_heads = attention->kv_heads,
        .group = attention->group,
        .scale = attention->scale * LOG2_E,
        .out = parted ? attention->parts : attention->out,
        .lse = parted ? part_lse : attention->lse,
    };
    uint32_t rows = (uint32_t)pairs * attention->group;
    return launch(kernel, dim3(attention->splits, (uint32_t)pairs), WARPS * WARP, SHARED_BYTES,
                  stream, why, task) &&
           (!parted || kernel_merge(attention->parts, part_lse, attention->splits, rows, kv->dim,
                                    attention->out, attention->lse, NULL, stream, why));
}
