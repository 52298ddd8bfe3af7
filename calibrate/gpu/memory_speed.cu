/* The group gpu-memory: the GPU's own memory.
 *
 *   gpu.hbm_capacity, gpu.sms, gpu.sm_threads, gpu.l2
 *                              as the driver states them
 *   gpu.hbm_bandwidth          the peak: clock x width x 2, as the driver states them
 *   gpu.hbm_share              the share of that peak that consecutive kernels reach, by the bytes
 *                              that each reads; other bytes each time
 *   gpu.cta_bandwidth          rate of one CTA of 256 threads that gathers rows of 256 bytes inside
 *                              HBM, 8 bytes a thread and one load at a time: the kernel that the
 *                              simulator models
 *
 * Observed: copies inside HBM by the copy call (gpu.copy), gathers by CTAs and row size.
 */
#include "calibrate/device/device.h"
#include "calibrate/device/gather.h"
#include "calibrate/device/read.h"
#include "calibrate/device/row_ids.h"
#include "calibrate/gpu/groups.h"
#include "calibrate/measure/copy_fit.h"

#define WANTED (4096 * MiB)
#define GATHERED (256 * MiB) /* where rows lie */
#define LEAST_BYTES 32768    /* launches bound smaller reads; gpu.kernel_floor states those */
#define MOVED (1024 * MiB)   /* an interval of 100 us and more */
#define MOST_REPEATS 128
#define GATHERS 4 /* in a row, to the same end */
#define CTA_BYTES MiB
#define SIZES 24
#define ROW_SIZES 3
#define CTA_COUNTS 5

static const uint32_t row_sizes[ROW_SIZES] = {256, 1024, 4096};
static const uint32_t cta_counts[CTA_COUNTS] = {1, 8, 32, 128, 512};
static const char *const gathers[ROW_SIZES] = {"gpu.gather.row_256", "gpu.gather.row_1024",
                                               "gpu.gather.row_4096"};

struct memory_speed {
    struct gpu_arena arena;
    struct row_ids ids[ROW_SIZES];
    gpu_memory sums;
    gpu_stream stream;
    gpu_timer timer;
    gpu_gate gate;
    double peak;
    struct room room; /* of the arena */

    bool create(uint64_t seed, struct error *why);
};

/* Half of the arena is copied to the other half. */
bool memory_speed::create(uint64_t seed, struct error *why)
{
    uint32_t words;
    bool ok = gpu_memory_peak(&peak, why) && gpu_room(WANTED, 4 * GATHERED, &room, why) &&
              arena.create(room.bytes, seed, why) && gpu_read_sums(&words, why) &&
              sums.take(words * sizeof(uint32_t), why) && stream.create(why) && timer.create(why) &&
              gate.create(why);
    for (size_t i = 0; ok && i < ROW_SIZES; i++) {
        ok = ids[i].create(GATHERED / row_sizes[i], seed + 1 + i, why);
    }
    return ok;
}

struct piece {
    struct memory_speed *all;
    size_t bytes;
    uint32_t row, ctas, width, loads; /* of a gather */
};

/* GPU time of one piece, from consecutive pieces that `put` queues. */
static bool time_pieces(struct memory_speed *all, uint32_t count, const struct piece *piece,
                        bool (*put)(const struct piece *, struct error *), double *ns,
                        struct error *why)
{
    bool ok = all->gate.close(all->stream.at, why) && all->timer.start(all->stream.at, why);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = put(piece, why);
    }
    ok = ok && all->timer.stop(all->stream.at, why) && all->gate.open(why) &&
         all->timer.read(ns, why);
    *ns /= count;
    return ok;
}

static bool memory_speed_put_read(const struct piece *piece, struct error *why)
{
    struct memory_speed *all = piece->all;
    return gpu_read_launch(all->arena.turn(piece->bytes), piece->bytes, GPU_READ_FULL,
                           (uint32_t *)all->sums.data, NULL, all->stream.at, why);
}

static bool memory_speed_sample_share(void *state, double *share, struct error *why)
{
    const struct piece *piece = (const struct piece *)state;
    double ns = 0;
    uint32_t repeats = copy_repeats(piece->bytes, MOVED, MOST_REPEATS);
    bool ok = time_pieces(piece->all, repeats, piece, memory_speed_put_read, &ns, why);
    *share = ok ? (double)piece->bytes * 1e9 / ns / piece->all->peak : 0;
    return ok;
}

static bool memory_speed_put_copy(const struct piece *piece, struct error *why)
{
    struct memory_speed *all = piece->all;
    size_t half = all->arena.memory.bytes / 2;
    char *from = all->arena.turn(piece->bytes);
    size_t place = (size_t)(from - all->arena.memory.data);
    place = place % half + piece->bytes <= half ? place % half : 0;
    from = all->arena.memory.data + place;
    return GPU_TRY(
        cudaMemcpyAsync(from + half, from, piece->bytes, cudaMemcpyDeviceToDevice, all->stream.at),
        why);
}

static bool sample_copy(void *state, double *rate, struct error *why)
{
    const struct piece *piece = (const struct piece *)state;
    double ns = 0;
    uint32_t repeats = copy_repeats(piece->bytes, MOVED, MOST_REPEATS);
    bool ok = time_pieces(piece->all, repeats, piece, memory_speed_put_copy, &ns, why);
    *rate = ok ? (double)piece->bytes * 1e9 / ns : 0;
    return ok;
}

/* From the first part of the arena to the part after it. */
static bool put_gather(const struct piece *piece, struct error *why)
{
    struct memory_speed *all = piece->all;
    struct gpu_gather gather = {};
    size_t to = (size_t)(all->arena.turn(piece->bytes) - all->arena.memory.data);
    gather.from = all->arena.memory.data;
    gather.to = all->arena.memory.data + (to < GATHERED ? to + GATHERED : to);
    gather.row_bytes = row_sizes[piece->row];
    gather.rows = (uint32_t)(piece->bytes / gather.row_bytes);
    gather.ids = all->ids[piece->row].turn(gather.rows);
    gather.ctas = piece->ctas;
    gather.width = piece->width;
    gather.loads = piece->loads;
    return gpu_gather_launch(&gather, all->stream.at, why);
}

static bool memory_speed_sample_gather(void *state, double *rate, struct error *why)
{
    const struct piece *piece = (const struct piece *)state;
    double ns = 0;
    bool ok = time_pieces(piece->all, GATHERS, piece, put_gather, &ns, why);
    *rate = ok ? (double)piece->bytes * 1e9 / ns : 0;
    return ok;
}

static bool state_all(const struct memory_speed *all, struct findings *findings, struct error *why)
{
    size_t free, bytes;
    int sms, threads, l2;
    return GPU_TRY(cudaMemGetInfo(&free, &bytes), why) &&
           gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why) &&
           gpu_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, &threads, why) &&
           gpu_attribute(cudaDevAttrL2CacheSize, &l2, why) &&
           findings_state(findings, "gpu.hbm_capacity", (double)bytes, "cudaMemGetInfo()", why) &&
           findings_state(findings, "gpu.sms", sms, "cudaDevAttrMultiProcessorCount", why) &&
           findings_state(findings, "gpu.sm_threads", threads,
                          "cudaDevAttrMaxThreadsPerMultiProcessor", why) &&
           findings_state(findings, "gpu.l2", l2, "cudaDevAttrL2CacheSize", why) &&
           (all->peak > 0
                ? findings_state(findings, "gpu.hbm_bandwidth", all->peak,
                                 "peak: memory clock x bus width x 2, as the driver states them",
                                 why)
                : findings_note(findings, "gpu.hbm_bandwidth",
                                "the driver states no clock or width", why));
}

static bool memory_speed_note_all(const struct memory_speed *all, struct findings *findings,
                                  struct error *why)
{
    bool ok =
        findings_note(findings, "gpu.hbm_share",
                      all->peak > 0
                          ? "kernels in a row on one stream, each reading other bytes that are in "
                            "no cache; between events, gaps included"
                          : "the driver states no peak",
                      why) &&
        findings_note(findings, "gpu.cta_bandwidth",
                      "one CTA of 256 threads gathering rows of 256 bytes inside HBM, 8 bytes a "
                      "thread, one load at a time",
                      why) &&
        findings_note(findings, "gpu.copy", "cudaMemcpyAsync() inside HBM, bytes copied", why);
    for (size_t i = 0; ok && i < ROW_SIZES; i++) {
        ok = findings_note(findings, gathers[i],
                           "scattered rows inside HBM, 4 loads of 16 bytes a thread at a time, "
                           "CTAs of 256 threads; axis: CTAs",
                           why);
    }
    return ok;
}

bool gpu_memory_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why)
{
    struct memory_speed all;
    struct piece pieces[2 * SIZES + ROW_SIZES * CTA_COUNTS + 1];
    struct probe probes[2 * SIZES + ROW_SIZES * CTA_COUNTS + 1];
    uint32_t count = 0;
    if (!all.create(seed, why) || !state_all(&all, findings, why)) {
        return false;
    }
    uint32_t before = findings->count;
    if (!findings_add(findings, "gpu.copy", "bytes", UNIT_BYTES_PER_S, why)) {
        return false;
    }
    for (size_t bytes = LEAST_BYTES; bytes <= all.room.bytes && all.peak > 0; bytes *= 2) {
        pieces[count] = {&all, bytes, 0, 0, 0, 0};
        probes[count] = {"gpu.hbm_share", (double)bytes, &pieces[count], memory_speed_sample_share};
        count++;
    }
    for (size_t bytes = LEAST_BYTES; bytes <= all.room.bytes / 2; bytes *= 4) {
        pieces[count] = {&all, bytes, 0, 0, 0, 0};
        probes[count] = {"gpu.copy", (double)bytes, &pieces[count], sample_copy};
        count++;
    }
    for (uint32_t row = 0; row < ROW_SIZES; row++) {
        if (!findings_add(findings, gathers[row], "ctas", UNIT_BYTES_PER_S, why)) {
            return false;
        }
        for (uint32_t ctas : cta_counts) {
            size_t bytes = CTA_BYTES * ctas;
            bytes = bytes < GATHERED / 2 ? bytes : GATHERED / 2;
            pieces[count] = {&all, bytes, row, ctas, 16, 4};
            probes[count] = {gathers[row], (double)ctas, &pieces[count],
                             memory_speed_sample_gather};
            count++;
        }
    }
    pieces[count] = {&all, CTA_BYTES, 0, 1, 8, 1};
    probes[count] = {"gpu.cta_bandwidth", 0, &pieces[count], memory_speed_sample_gather};
    count++;
    bool ok = measure_probes(probes, count, effort, seed, findings, why) &&
              memory_speed_note_all(&all, findings, why);
    if (ok) {
        room_note(&all.room, findings, before);
    }
    return ok;
}
