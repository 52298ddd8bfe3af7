/* The group layer: norms and rotary positions, and K and V made again from activations.
 *
 * Observations only: the simulator computes norms and positions from gpu.hbm_share and
 * gpu.kernel_floor, and K and V from activations as a product.
 */
#include "calibrate/gpu/bench.h"
#include "calibrate/gpu/groups.h"
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/products.h"

#include <vector>

#define WANTED ((size_t)2 << 30)
#define LEAST ((size_t)128 << 20) /* the largest piece: ROWS_MOST activations */
#define HIDDEN 4096
#define HEADS 40 /* 32 of queries and 8 of keys turn; 8 of values stay */
#define ROW_HEADS 48
#define KV_HEADS 8
#define DIM 128
#define ROWS_MOST 16384
#define ROPE_BASE 500000.0

struct layer_bench {
    struct kernel_bench bench;
    struct products *products = nullptr;
    gpu_memory positions, turns, normed, out;

    ~layer_bench()
    {
        products_destroy(products);
    }
    bool create(uint64_t seed, struct error *why);
};

static bool copy_in(gpu_memory &memory, const void *from, size_t bytes, struct error *why)
{
    return memory.take(bytes, why) &&
           GPU_TRY(cudaMemcpy(memory.data, from, bytes, cudaMemcpyHostToDevice), why);
}

bool layer_bench::create(uint64_t seed, struct error *why)
{
    std::vector<float> all_turns((size_t)ROWS_MOST * DIM);
    std::vector<uint32_t> all_positions(ROWS_MOST);
    kernel_turns(ROWS_MOST, DIM, ROPE_BASE, all_turns.data());
    for (uint32_t i = 0; i < ROWS_MOST; i++) {
        all_positions[i] = i;
    }
    size_t values = (size_t)ROWS_MOST * HIDDEN * sizeof(uint16_t);
    return (products = products_create(why)) != nullptr &&
           copy_in(positions, all_positions.data(), ROWS_MOST * sizeof(uint32_t), why) &&
           copy_in(turns, all_turns.data(), all_turns.size() * sizeof(float), why) &&
           normed.take(values, why) && out.take(values, why) &&
           bench.create(WANTED, LEAST, seed, why);
}

/* The residual and the addend are consecutive, elsewhere in the arena each time. */
static bool put_norm(const struct bench_work *work, struct error *why)
{
    struct layer_bench *all = (struct layer_bench *)work->group;
    size_t bytes = (size_t)work->rows * HIDDEN * sizeof(uint16_t);
    char *place = all->bench.arena.turn(2 * bytes);
    const uint16_t *weight = (const uint16_t *)all->bench.arena.memory.data;
    return kernel_norm((uint16_t *)place, (const uint16_t *)(place + bytes), weight, work->rows,
                       HIDDEN, 1e-5f, (uint16_t *)all->normed.data, all->bench.stream.at, why);
}

static bool put_rope(const struct bench_work *work, struct error *why)
{
    struct layer_bench *all = (struct layer_bench *)work->group;
    size_t bytes = (size_t)work->rows * ROW_HEADS * DIM * sizeof(uint16_t);
    return kernel_rope((uint16_t *)all->bench.arena.turn(bytes),
                       (const uint32_t *)all->positions.data, (const float *)all->turns.data,
                       work->rows, HEADS, DIM, ROW_HEADS * DIM, all->bench.stream.at, why);
}

static bool put_make_kv(const struct bench_work *work, struct error *why)
{
    struct layer_bench *all = (struct layer_bench *)work->group;
    const uint16_t *weights = (const uint16_t *)all->bench.arena.memory.data;
    const struct kv_recipe recipe = {
        weights, weights + HIDDEN, (const float *)all->turns.data, HIDDEN, KV_HEADS, DIM, 1e-5f};
    size_t bytes = (size_t)work->rows * HIDDEN * sizeof(uint16_t);
    return products_make_kv(all->products, &recipe, (uint16_t *)all->bench.arena.turn(bytes),
                            (const uint32_t *)all->positions.data, work->rows,
                            (uint16_t *)all->normed.data, (uint16_t *)all->out.data,
                            all->bench.stream.at, why);
}

bool layer_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why)
{
    struct layer_bench all;
    std::vector<bench_work> works;
    uint32_t before = findings->count;
    if (!all.create(seed, why) ||
        !bench_observe(findings, "layer.norm", "rows", UNIT_NS,
                       "a residual added and its RMS norm, 4096 values a row", why) ||
        !bench_observe(findings, "layer.positions", "rows", UNIT_NS,
                       "rotary positions of 32 heads of queries and 8 of keys, of 128 values",
                       why) ||
        !bench_observe(findings, "layer.kv_from_activations", "tokens", UNIT_NS,
                       "norm of 4096 values, K and V of 8 heads of 128 by cuBLAS, positions of K",
                       why)) {
        return false;
    }
    for (uint32_t rows : {1U, 16U, 128U, 1024U, 8192U}) {
        works.push_back({"layer.norm", (double)rows, put_norm, &all, rows, 0, 0, 1});
        works.push_back({"layer.positions", (double)rows, put_rope, &all, rows, 0, 0, 1});
    }
    for (uint32_t tokens : {64U, 256U, 1024U, 4096U, 16384U}) {
        works.push_back(
            {"layer.kv_from_activations", (double)tokens, put_make_kv, &all, tokens, 0, 0, 1});
    }
    bool ok = bench_measure(&all.bench, works, effort, seed, findings, why);
    if (ok) {
        room_note(&all.bench.room, findings, before);
    }
    return ok;
}
