/* The group link-beside: copies of KV in pieces of 32 KiB while decode attention runs on another stream.
 *
 *   gpu.beside_in, gpu.beside_out
 *       the share of its own rate that attention keeps, by CTAs of the kernel that copies; 0: one
 *       cudaMemcpyBatchAsync, by a copy engine
 *
 * Observed: the rates of these copies, and both figures of copies by a call a piece.
 *
 * A sample times attention alone first, and then beside a copy, between the copy's two events. The
 * attention is queued before and outlasts the copy.
 */
#include "calibrate/kernels/kernels.h"
#include "calibrate/link/groups.h"
#include "calibrate/link/pieces.h"
#include "calibrate/measure/copy_fit.h"

#include <math.h>

#define WANTED (256 * MiB)
#define PIECE_BYTES 32768
#define PIECES 1024 /* LMCache's chunk of 256 tokens */

/* Decode attention of Llama-3-8B's heads over 128 MiB of K and V: several L2s. */
#define READ_BYTES (128 * MiB)
#define READ_LEAST (4 * MiB)
#define BATCH 8
#define KV_HEADS 8
#define GROUP 4
#define DIM 128
#define TOKEN_BYTES (BATCH * KV_HEADS * DIM * sizeof(uint16_t)) /* of K of one token each */
#define ALONE 32
#define ATTEMPTS 8
#define BESIDE 192 /* with their events and merges, no more than a stream's queue holds */

struct beside {
    struct link_buffers buffers;
    struct pieces pieces;
    struct room room; /* of the arena: K and V of two turns */
    struct gpu_arena arena;
    gpu_memory queries, results, parts;
    struct kernel_attention attention = {};
    gpu_stream reading, copying;
    gpu_timer copy;
    cudaEvent_t begin = nullptr, ends[BESIDE] = {};

    ~beside();
    bool create(uint64_t seed, struct error *why);
};

beside::~beside()
{
    for (cudaEvent_t event : ends) {
        if (event != nullptr) {
            cudaEventDestroy(event);
        }
    }
    if (begin != nullptr) {
        cudaEventDestroy(begin);
    }
}

static bool beside_create_attention(struct beside *all, uint64_t seed, struct error *why)
{
    struct kernel_attention *attention = &all->attention;
    size_t rows = BATCH * KV_HEADS * GROUP;
    uint32_t tokens = (uint32_t)(all->room.bytes / 4 / TOKEN_BYTES); /* K and V, two turns */
    attention->kv = {
        nullptr, nullptr, KV_BF16, DIM, (uint64_t)KV_HEADS * tokens * DIM, (uint64_t)tokens * DIM,
        DIM};
    attention->batch = BATCH;
    attention->kv_heads = KV_HEADS;
    attention->group = GROUP;
    attention->most = tokens;
    attention->scale = 0.08838835f; /* 1 / sqrt(128) */
    if (!kernel_attention_splits(attention, &attention->splits, why) ||
        !all->queries.take(rows * DIM * sizeof(uint16_t), why) ||
        !gpu_fill_bf16(all->queries.data, all->queries.bytes, seed, why) ||
        !all->results.take(rows * (DIM + 1) * sizeof(float), why) ||
        !all->parts.take(kernel_attention_scratch(attention) + 1, why)) {
        return false;
    }
    attention->queries = (const uint16_t *)all->queries.data;
    attention->out = (float *)all->results.data;
    attention->lse = attention->out + rows * DIM;
    attention->parts = (float *)all->parts.data;
    return true;
}

bool beside::create(uint64_t seed, struct error *why)
{
    bool ok = buffers.take(WANTED, seed, why) && pieces.create(&buffers, PIECE_BYTES, why) &&
              gpu_room(2 * READ_BYTES, READ_LEAST, &room, why) &&
              arena.create(room.bytes, seed + 2, why) &&
              gpu_fill_bf16(arena.memory.data, arena.memory.bytes, seed + 3, why) &&
              beside_create_attention(this, seed + 4, why) && reading.create(why) &&
              copying.create(why) && copy.create(why) && GPU_TRY(cudaEventCreate(&begin), why);
    for (cudaEvent_t &event : ends) {
        ok = ok && GPU_TRY(cudaEventCreate(&event), why);
    }
    return ok;
}

/* Queue attention `count` times, with an event after each. */
static bool put_attention(struct beside *all, uint32_t count, struct error *why)
{
    size_t half = all->attention.most * TOKEN_BYTES;
    bool ok = GPU_TRY(cudaEventRecord(all->begin, all->reading.at), why);
    for (uint32_t i = 0; ok && i < count; i++) {
        char *place = all->arena.turn(2 * half);
        all->attention.kv.keys = place;
        all->attention.kv.values = place + half;
        ok = kernel_attend(&all->attention, all->reading.at, why) &&
             GPU_TRY(cudaEventRecord(all->ends[i], all->reading.at), why);
    }
    return ok;
}

static bool since_begin(const struct beside *all, cudaEvent_t event, double *ns, struct error *why)
{
    float ms = 0;
    bool ok = GPU_TRY(cudaEventElapsedTime(&ms, all->begin, event), why);
    *ns = (double)ms * 1e6;
    return ok;
}

static bool read_all_ends(const struct beside *all, uint32_t count, double *ends_ns,
                          struct error *why)
{
    bool ok = all->reading.wait(why);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = since_begin(all, all->ends[i], &ends_ns[i], why);
    }
    return ok;
}

/* What is copied, and how. */
struct beside_case {
    const char *kept, *rate;
    double size; /* on their axis */
    enum pieces_way way;
    cudaMemcpyKind kind;
    uint32_t ctas;
};

static const struct beside_case cases[] = {
    {"gpu.beside_in", "beside.rate_in", 0, PIECES_BY_BATCH, cudaMemcpyHostToDevice, 0},
    {"gpu.beside_in", "beside.rate_in", 4, PIECES_BY_KERNEL, cudaMemcpyHostToDevice, 4},
    {"gpu.beside_in", "beside.rate_in", 32, PIECES_BY_KERNEL, cudaMemcpyHostToDevice, 32},
    {"gpu.beside_in", "beside.rate_in", 128, PIECES_BY_KERNEL, cudaMemcpyHostToDevice, 128},
    {"gpu.beside_out", "beside.rate_out", 0, PIECES_BY_BATCH, cudaMemcpyDeviceToHost, 0},
    {"gpu.beside_out", "beside.rate_out", 4, PIECES_BY_KERNEL, cudaMemcpyDeviceToHost, 4},
    {"gpu.beside_out", "beside.rate_out", 32, PIECES_BY_KERNEL, cudaMemcpyDeviceToHost, 32},
    {"gpu.beside_out", "beside.rate_out", 128, PIECES_BY_KERNEL, cudaMemcpyDeviceToHost, 128},
    {"beside.calls_in", "beside.calls_rate_in", 0, PIECES_BY_CALLS, cudaMemcpyHostToDevice, 0},
    {"beside.calls_out", "beside.calls_rate_out", 0, PIECES_BY_CALLS, cudaMemcpyDeviceToHost, 0},
};

#define CASES (sizeof cases / sizeof *cases)

struct beside_copy {
    struct beside *all;
    const struct beside_case *what;
    bool rate; /* of the copy, or else the share that attention keeps */
};

/* Queue attention and then the copy, and wait for both. `from` and `to` are the times of the copy. */
static bool run_both(const struct beside_copy *copy, double *ends_ns, double *from, double *to,
                     struct error *why)
{
    struct beside *all = copy->all;
    const struct beside_case *what = copy->what;
    uint32_t count = PIECES < all->pieces.most ? PIECES : all->pieces.most;
    cudaStream_t stream = all->copying.at;
    all->pieces.choose(count, what->kind);
    return put_attention(all, BESIDE, why) && all->copy.start(stream, why) &&
           all->pieces.put(what->way, what->kind, what->ctas, stream, why) &&
           all->copy.stop(stream, why) && all->copying.wait(why) &&
           read_all_ends(all, BESIDE, ends_ns, why) &&
           since_begin(all, all->copy.begin, from, why) && since_begin(all, all->copy.end, to, why);
}

/* Attention's progress while the copy ran, over that of `alone`, whose first time has a launch in it. A
 * disturbed share may be above 1, which it counts as. */
static double share_kept(const double *alone, const double *ends_ns, double from, double to)
{
    double last = fmin(to, ends_ns[BESIDE - 1]);
    double done = pieces_done(ends_ns, BESIDE, last) - pieces_done(ends_ns, BESIDE, from);
    double each = (alone[ALONE - 1] - alone[0]) / (ALONE - 1);
    return fmin(1, done / (last - from) * each);
}

/* If the CPU was taken away for so long that the copy began after attention had ended, both run
 * again. */
static bool beside_sample(void *state, double *value, struct error *why)
{
    const struct beside_copy *copy = (const struct beside_copy *)state;
    struct beside *all = copy->all;
    double alone[ALONE] = {}, ends_ns[BESIDE], from = 0, to = 0;
    bool met = false, ok = copy->rate || (put_attention(all, ALONE, why) &&
                                          read_all_ends(all, ALONE, alone, why));
    for (int attempt = 0; ok && !met && attempt < ATTEMPTS; attempt++) {
        ok = run_both(copy, ends_ns, &from, &to, why);
        met = ok && from < ends_ns[BESIDE - 1];
    }
    if (!ok || !met) {
        return ok && error_set(why, NULL, 0, "attention ends before a copy beside it begins");
    }
    *value = copy->rate ? (double)all->pieces.to.size() * PIECE_BYTES * 1e9 / (to - from)
                        : share_kept(alone, ends_ns, from, to);
    return true;
}

static bool observe_case(const struct beside_case &what, struct findings *findings,
                         struct error *why)
{
    const char *axis = what.way == PIECES_BY_CALLS ? "" : "ctas";
    return findings_add(findings, what.kept, axis, UNIT_SHARE, why) != NULL &&
           findings_add(findings, what.rate, axis, UNIT_BYTES_PER_S, why) != NULL &&
           findings_note(findings, what.kept,
                         "decode attention (8 sequences, 8 KV heads of 128 values, 4 query heads "
                         "each) beside 1024 scattered pieces of 32 KiB",
                         why) &&
           findings_note(findings, what.rate,
                         "1024 scattered pieces of 32 KiB beside decode attention, between events",
                         why);
}

bool link_beside(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why)
{
    struct beside all;
    struct error no_batch;
    struct beside_copy copies[2 * CASES];
    struct probe probes[2 * CASES];
    uint32_t count = 0, before = findings->count;
    bool ok = all.create(seed, why), batch = ok && all.pieces.can_batch(&all.copying, &no_batch);
    for (const auto &what : cases) {
        bool there = batch || what.way != PIECES_BY_BATCH;
        ok = ok && observe_case(what, findings, why);
        for (bool rate : {false, true}) {
            if (there) {
                copies[count] = {&all, &what, rate};
                probes[count] = {rate ? what.rate : what.kept, what.size, &copies[count],
                                 beside_sample};
                count++;
            }
        }
    }
    ok = ok && measure_probes(probes, count, effort, seed, findings, why);
    if (ok) {
        room_note(&all.buffers.room, findings, before);
        room_note(&all.room, findings, before);
    }
    return ok;
}
