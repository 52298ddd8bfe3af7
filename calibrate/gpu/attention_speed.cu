/* The group attention: decode attention, as the share of the HBM peak at which one layer's K and V
 * are read, by tokens.
 *
 * Observations only: the simulator computes attention from gpu.hbm_share. They vary batch, KV
 * heads, group, head dimension and type, over the whole context and over a list of a tenth of it,
 * as after retrieval. The time includes merging of split parts.
 */
#include "calibrate/gpu/bench.h"
#include "calibrate/gpu/groups.h"
#include "calibrate/kernels/kernels.h"

#include <stdio.h>

#include <vector>

#define WANTED ((size_t)8 << 30)
#define LENGTHS 5
#define LISTED_OF 10 /* a list has one token of every 10 */

static const uint32_t lengths[LENGTHS] = {1024, 4096, 16384, 65536, 262144};

struct attention_row {
    const char *figure;
    enum kv_type type;
    uint32_t dim, batch, kv_heads, group;
    bool listed;
};

static const attention_row rows[] = {
    {"attention.bf16_128", KV_BF16, 128, 1, 8, 4, false},
    {"attention.bf16_128.batch_4", KV_BF16, 128, 4, 8, 4, false},
    {"attention.bf16_128.batch_16", KV_BF16, 128, 16, 8, 4, false},
    {"attention.bf16_128.batch_64", KV_BF16, 128, 64, 8, 4, false},
    {"attention.bf16_128.group_8", KV_BF16, 128, 1, 8, 8, false},
    {"attention.bf16_128.group_1", KV_BF16, 128, 1, 32, 1, false},
    {"attention.bf16_64", KV_BF16, 64, 1, 8, 8, false},
    {"attention.fp8_128", KV_FP8, 128, 1, 8, 4, false},
    {"attention.fp8_128.batch_16", KV_FP8, 128, 16, 8, 4, false},
    {"attention.fp8_64", KV_FP8, 64, 1, 8, 8, false},
    {"attention.list.bf16_128", KV_BF16, 128, 1, 8, 4, true},
    {"attention.list.bf16_128.batch_16", KV_BF16, 128, 16, 8, 4, true},
    {"attention.list.fp8_128", KV_FP8, 128, 1, 8, 4, true},
};
#define ROWS (sizeof rows / sizeof rows[0])

/* The buffers of one point. */
struct attention_task {
    struct kernel_bench *bench;
    struct kernel_attention attention;
    size_t held; /* bytes of K and V in memory */
    gpu_memory lists;
};

/* K and V are elsewhere in the arena each time. */
static bool put_attention(const struct bench_work *work, struct error *why)
{
    struct attention_task *task = (struct attention_task *)work->group;
    char *place = task->bench->arena.turn(task->held);
    task->attention.kv.keys = place;
    task->attention.kv.values = place + task->held / 2;
    return kernel_attend(&task->attention, task->bench->stream.at, why);
}

/* One token of every LISTED_OF, ascending. */
static bool make_lists(struct attention_task *task, uint32_t pairs, uint32_t count, uint64_t seed,
                       struct error *why)
{
    std::vector<uint32_t> lists((size_t)pairs * count);
    for (size_t i = 0; i < lists.size(); i++) {
        lists[i] = (uint32_t)(i % count * LISTED_OF + random_word(seed, i) % LISTED_OF);
    }
    size_t bytes = lists.size() * sizeof lists[0];
    task->attention.lists = nullptr;
    if (!task->lists.take(bytes, why) ||
        !GPU_TRY(cudaMemcpy(task->lists.data, lists.data(), bytes, cudaMemcpyHostToDevice), why)) {
        return false;
    }
    task->attention.lists = (const uint32_t *)task->lists.data;
    return true;
}

static uint64_t context_of(const attention_row &row, uint32_t length)
{
    return row.listed ? (uint64_t)length * LISTED_OF : length;
}

/* K and V. */
static size_t held_bytes(const attention_row &row, uint32_t length)
{
    return 2 * row.batch * row.kv_heads * context_of(row, length) * row.dim *
           kv_type_bytes(row.type);
}

/* Set everything but the addresses of queries, outputs and parts. */
static bool describe(struct attention_task *task, const attention_row &row, uint32_t length,
                     uint64_t seed, struct error *why)
{
    struct kernel_attention *attention = &task->attention;
    uint64_t head_stride = context_of(row, length) * row.dim;
    attention->kv = {nullptr,     nullptr, row.type, row.dim, row.kv_heads * head_stride,
                     head_stride, row.dim};
    attention->batch = row.batch;
    attention->kv_heads = row.kv_heads;
    attention->group = row.group;
    attention->counts = nullptr;
    attention->most = length;
    attention->scale = 0.08838835f; /* 1 / sqrt(128) */
    uint32_t pairs = row.batch * row.kv_heads;
    task->held = held_bytes(row, length);
    return !row.listed || make_lists(task, pairs, length, seed, why);
}

/* The largest size of the outputs of any point. */
struct attention_outputs {
    gpu_memory queries, out, lse, parts;

    bool take(std::vector<attention_task> &tasks, size_t count, uint64_t seed, struct error *why);
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

bool attention_outputs::take(std::vector<attention_task> &tasks, size_t count, uint64_t seed,
                             struct error *why)
{
    size_t values = 1, scratch = 1;
    for (size_t i = 0; i < count; i++) {
        struct kernel_attention *attention = &tasks[i].attention;
        if (!kernel_attention_splits(attention, &attention->splits, why)) {
            return false;
        }
        values = larger(values, (size_t)attention->batch * attention->kv_heads * attention->group *
                                    attention->kv.dim);
        scratch = larger(scratch, kernel_attention_scratch(attention));
    }
    if (!queries.take(values * sizeof(uint16_t), why) || !out.take(values * sizeof(float), why) ||
        !lse.take(values * sizeof(float), why) || !parts.take(scratch, why) ||
        !gpu_fill_bf16(queries.data, values * sizeof(uint16_t), seed, why)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct kernel_attention *attention = &tasks[i].attention;
        attention->queries = (const uint16_t *)queries.data;
        attention->out = (float *)out.data;
        attention->lse = (float *)lse.data;
        attention->parts = (float *)parts.data;
    }
    return true;
}

static bool observe_row(const attention_row &row, struct findings *findings, struct error *why)
{
    char note[256];
    snprintf(
        note, sizeof note,
        "share of the HBM peak; %s KV, batch %u, %u KV heads of %u values, %u query heads each, "
        "%s; split over CTAs, merging included; axis: tokens attended to",
        row.type == KV_FP8 ? "fp8" : "bf16", row.batch, row.kv_heads, row.dim, row.group,
        row.listed ? "a list of one token of 10" : "the whole context");
    return bench_observe(findings, row.figure, "tokens", UNIT_SHARE, note, why);
}

bool attention_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    struct kernel_bench bench;
    std::vector<attention_task> tasks(ROWS * LENGTHS);
    std::vector<bench_work> works;
    struct attention_outputs outputs;
    uint32_t before = findings->count;
    if (!bench.create(WANTED, 0, seed, why)) {
        return false;
    }
    for (const attention_row &row : rows) {
        if (bench.peak <= 0) {
            return findings_note(findings, row.figure, "the driver states no HBM peak", why);
        }
        if (!observe_row(row, findings, why)) {
            return false;
        }
        for (uint32_t length : lengths) {
            struct attention_task *task = &tasks[works.size()];
            if (held_bytes(row, length) > bench.arena.memory.bytes) {
                break;
            }
            task->bench = &bench;
            if (!describe(task, row, length, seed, why)) {
                return false;
            }
            double read = (double)task->held / (row.listed ? LISTED_OF : 1);
            works.push_back(
                {row.figure, (double)length, put_attention, task, 0, 0, read, bench.peak});
        }
    }
    bool ok = outputs.take(tasks, works.size(), seed, why) &&
              bench_measure(&bench, works, effort, seed, findings, why);
    if (ok) {
        room_note(&bench.room, findings, before);
    }
    return ok;
}
