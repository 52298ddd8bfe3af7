/* The group attention: decode attention alone, in a graph, over KV that is in no cache.
 *
 *   gpu.attention_fixed, gpu.attention_pair, gpu.attention_share, and the same with _fp8
 *       the fixed time, the time of each pair of a sequence and a KV head, and the share of the HBM
 *       peak, fitted (kernel_fit.h) to the times of heads of 128 values over their whole context
 *
 * Observed: the share of the HBM peak at which one layer's K and V are read, by tokens. Rows vary
 * batch, KV heads, group, head dimension and type, over the whole context and over a list of a
 * tenth of it, as after retrieval. The time includes merging of split parts.
 */
#include "calibrate/gpu/bench.h"
#include "calibrate/gpu/groups.h"
#include "calibrate/gpu/kernel_fit.h"
#include "calibrate/kernels/kernels.h"

#include <stdio.h>

#include <vector>

#define WANTED ((size_t)8 << 30)
#define LENGTHS 6
#define LISTED_OF 10 /* a list has one token of every 10 */

static const uint32_t lengths[LENGTHS] = {256, 1024, 4096, 16384, 65536, 262144};

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
static bool attention_speed_put_attention(const struct bench_work *work, struct error *why)
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

static uint64_t attention_speed_context_of(const attention_row &row, uint32_t length)
{
    return row.listed ? (uint64_t)length * LISTED_OF : length;
}

/* K and V. */
static size_t held_bytes(const attention_row &row, uint32_t length)
{
    return 2 * row.batch * row.kv_heads * attention_speed_context_of(row, length) * row.dim *
           kv_type_bytes(row.type);
}

/* Set everything but the addresses of queries, outputs and parts. */
static bool attention_speed_describe(struct attention_task *task, const attention_row &row,
                                     uint32_t length, uint64_t seed, struct error *why)
{
    struct kernel_attention *attention = &task->attention;
    uint64_t head_stride = attention_speed_context_of(row, length) * row.dim;
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

static size_t attention_speed_larger(size_t a, size_t b)
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
        values = attention_speed_larger(values, (size_t)attention->batch * attention->kv_heads *
                                                    attention->group * attention->kv.dim);
        scratch = attention_speed_larger(scratch, kernel_attention_scratch(attention));
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

/* ---- observations ---- */

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

/* Why a row has no point. */
static bool attention_speed_note_absence(const attention_row &row, size_t room,
                                         struct findings *findings, struct error *why)
{
    char needed[32], there[32], note[256];
    snprintf(note, sizeof note, "%u tokens of %u sequences need %s of KV, more than the %s taken",
             lengths[0], row.batch,
             units_format((double)held_bytes(row, lengths[0]), UNIT_BYTES, needed, sizeof needed),
             units_format((double)room, UNIT_BYTES, there, sizeof there));
    return findings_note(findings, row.figure, note, why);
}

static bool attention_speed_add_row(const attention_row &row, struct kernel_bench *bench,
                                    uint64_t seed, std::vector<attention_task> *tasks,
                                    std::vector<bench_work> *works, struct findings *findings,
                                    struct error *why)
{
    size_t before = works->size(), room = bench->arena.memory.bytes;
    if (!observe_row(row, findings, why)) {
        return false;
    }
    for (uint32_t length : lengths) {
        struct attention_task *task = &(*tasks)[works->size()];
        if (held_bytes(row, length) > room) {
            break;
        }
        task->bench = bench;
        if (!attention_speed_describe(task, row, length, seed, why)) {
            return false;
        }
        double read = (double)task->held / (row.listed ? LISTED_OF : 1);
        works->push_back({row.figure, (double)length, attention_speed_put_attention, task, 0, 0,
                          read, bench->peak});
    }
    return works->size() > before || attention_speed_note_absence(row, room, findings, why);
}

/* ---- the curves ---- */

struct attention_speed_curves {
    enum kv_type type;
    const char *kv, *fixed, *pair, *share;
};

static const attention_speed_curves curves[] = {
    {KV_BF16, "bf16", "gpu.attention_fixed", "gpu.attention_pair", "gpu.attention_share"},
    {KV_FP8, "fp8", "gpu.attention_fixed_fp8", "gpu.attention_pair_fp8", "gpu.attention_share_fp8"},
};

/* The measured times of KV of a type, heads of 128 values, the whole context. */
static std::vector<kernel_time> times_of(enum kv_type type, double peak,
                                         const struct findings *findings)
{
    std::vector<kernel_time> times;
    for (const attention_row &row : rows) {
        const struct finding *finding = findings_get(findings, row.figure);
        bool counts = row.type == type && row.dim == 128 && !row.listed && finding != nullptr;
        for (uint32_t i = 0; counts && i < finding->count; i++) {
            const struct found_point *point = &finding->points[i];
            double bytes = (double)held_bytes(row, (uint32_t)point->size);
            times.push_back(
                {bytes * 1e9 / (point->median * peak), (double)row.batch * row.kv_heads, bytes});
        }
    }
    return times;
}

static bool state_curves(const attention_speed_curves &of, double peak, struct findings *findings,
                         struct error *why)
{
    const std::vector<kernel_time> times = times_of(of.type, peak, findings);
    struct kernel_fit fit;
    char note[256];
    if (!kernel_fit_times(times.data(), (uint32_t)times.size(), peak, &fit, why)) {
        return false;
    }
    snprintf(
        note, sizeof note,
        "fitted to attention over %s KV, in no cache, in a graph: %.0f %% off (median), at most "
        "%.0f %%; a FlashDecoding kernel of this program's own, not a server's",
        of.kv, 100 * fit.median, 100 * fit.worst);
    return kernel_fit_state(&fit, of.fixed, fit.fixed_ns, false, note, findings, why) &&
           kernel_fit_state(&fit, of.pair, fit.pair_ns, false, note, findings, why) &&
           kernel_fit_state(&fit, of.share, fit.share, true, note, findings, why);
}

/* ---- the group ---- */

static bool note_no_peak(struct findings *findings, struct error *why)
{
    static const char reason[] = "the driver states no HBM peak";
    bool ok = true;
    for (const attention_row &row : rows) {
        ok = ok && findings_note(findings, row.figure, reason, why);
    }
    for (const attention_speed_curves &of : curves) {
        ok = ok && findings_note(findings, of.fixed, reason, why) &&
             findings_note(findings, of.pair, reason, why) &&
             findings_note(findings, of.share, reason, why);
    }
    return ok;
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
    if (bench.peak <= 0) {
        return note_no_peak(findings, why);
    }
    bool ok = true;
    for (const attention_row &row : rows) {
        ok = ok && attention_speed_add_row(row, &bench, seed, &tasks, &works, findings, why);
    }
    ok = ok && outputs.take(tasks, works.size(), seed, why) &&
         bench_measure(&bench, works, effort, seed, findings, why);
    for (const attention_speed_curves &of : curves) {
        ok = ok && state_curves(of, bench.peak, findings, why);
    }
    if (ok) {
        room_note(&bench.room, findings, before);
    }
    return ok;
}
