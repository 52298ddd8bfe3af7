/* The group link-loads: SM loads and stores of pinned memory, by the kernel that gathers scattered
 * rows over the link.
 *
 *   link.round_trip     time of a load in a chain, where each load gives the address of the next
 *   link.zero_copy      the highest rate over row sizes, CTAs and bytes in flight
 *   link.cta_in_flight  the rate of one CTA of 256 threads, 8 bytes a thread and one load at a
 *                       time (the kernel that the simulator models), times the round trip
 */
#include "calibrate/device/gather.h"
#include "calibrate/device/launch.cuh"
#include "calibrate/device/row_ids.h"
#include "calibrate/link/buffers.h"
#include "calibrate/link/groups.h"

#include <math.h>
#include <stdio.h>

#define WANTED (1024 * MiB)
#define FEW_STEPS 64
#define MANY_STEPS 576
#define LINE_BYTES 128
#define CTA_BYTES MiB /* moved by each CTA in a sample */
#define MOST_BYTES (128 * MiB)
#define WIDTH 16

static const uint32_t row_sizes[] = {256, 1024, 4096, 16384};
static const uint32_t cta_counts[] = {1, 8, 32, 128};
static const uint32_t load_counts[] = {1, 2, 4, 8};

#define ROW_SIZES (sizeof row_sizes / sizeof *row_sizes)
#define CTA_COUNTS (sizeof cta_counts / sizeof *cta_counts)
#define LOAD_COUNTS (sizeof load_counts / sizeof *load_counts)
#define FIGURES (ROW_SIZES * CTA_COUNTS)
#define PROBES (FIGURES * LOAD_COUNTS + CTA_COUNTS + 1)

struct loads {
    struct link_buffers buffers;
    struct row_ids ids[ROW_SIZES];
    gpu_stream stream;
    gpu_timer timer, longer;
    gpu_gate gate;
    double round_trip_ns = 0;
    uint32_t turns = 0;

    bool create(uint64_t seed, struct error *why);
};

bool loads::create(uint64_t seed, struct error *why)
{
    bool ok = buffers.take(WANTED, seed, why) && stream.create(why) && timer.create(why) &&
              longer.create(why) && gate.create(why);
    for (size_t i = 0; ok && i < ROW_SIZES; i++) {
        ok = ids[i].create(buffers.bytes / row_sizes[i], seed + 2 + i, why);
    }
    return ok;
}

/* The memory holds random words. The step number is added, so that the chain cannot fall into a
 * short cycle. */
static __global__ void chase(const uint32_t *memory, uint32_t lines, uint32_t start, uint32_t steps,
                             uint32_t *last)
{
    uint32_t place = start;
    for (uint32_t step = 0; step < steps; step++) {
        size_t line = place & (lines - 1);
        uint32_t word = ptx_load_again(memory + line * (LINE_BYTES / sizeof(uint32_t)));
        place = word + step * 0x9e3779b1u;
    }
    *last = place;
}

static bool time_chase(struct loads *all, const gpu_timer *timer, uint32_t steps, struct error *why)
{
    uint32_t lines = (uint32_t)(all->buffers.bytes / LINE_BYTES);
    return timer->start(all->stream.at, why) &&
           launch(chase, dim3(1), 1, 0, all->stream.at, why,
                  (const uint32_t *)all->buffers.host.seen, lines,
                  (uint32_t)random_word(1, all->turns++), steps,
                  (uint32_t *)all->buffers.gpu.data) &&
           timer->stop(all->stream.at, why);
}

/* The time of the additional steps, which contains neither launch nor end of a kernel. */
static bool sample_round_trip(void *state, double *ns, struct error *why)
{
    struct loads *all = (struct loads *)state;
    double few, many;
    if (!all->gate.close(all->stream.at, why) || !time_chase(all, &all->timer, FEW_STEPS, why) ||
        !time_chase(all, &all->longer, MANY_STEPS, why) || !all->gate.open(why) ||
        !all->timer.read(&few, why) || !all->longer.read(&many, why)) {
        return false;
    }
    /* A disturbed sample may be negative; it counts as 0. */
    *ns = fmax(0, many - few) / (MANY_STEPS - FEW_STEPS);
    return true;
}

struct load {
    struct loads *all;
    uint32_t row; /* index of row_sizes[] */
    uint32_t ctas, width, loads;
    bool out;
};

static bool queue_gather(const struct load *load, size_t bytes, struct error *why)
{
    struct loads *all = load->all;
    struct link_buffers *buffers = &all->buffers;
    struct gpu_gather gather = {};
    size_t to = buffers->turn(bytes);
    gather.from = load->out ? buffers->gpu.data : buffers->host.seen;
    gather.to = (load->out ? buffers->host.seen : buffers->gpu.data) + to;
    gather.row_bytes = row_sizes[load->row];
    gather.rows = (uint32_t)(bytes / gather.row_bytes);
    gather.ids = all->ids[load->row].turn(gather.rows);
    gather.ctas = load->ctas;
    gather.width = load->width;
    gather.loads = load->loads;
    return gpu_gather_launch(&gather, all->stream.at, why);
}

static bool loads_sample_rate(void *state, double *rate, struct error *why)
{
    const struct load *load = (const struct load *)state;
    struct loads *all = load->all;
    size_t bytes = CTA_BYTES * load->ctas, most = all->buffers.bytes / 4;
    double ns = 0;
    bytes = bytes < MOST_BYTES ? bytes : MOST_BYTES;
    bytes = bytes < most ? bytes : most;
    bool ok = all->gate.close(all->stream.at, why) && all->timer.start(all->stream.at, why) &&
              queue_gather(load, bytes, why) && all->timer.stop(all->stream.at, why) &&
              all->gate.open(why) && all->timer.read(&ns, why);
    *rate = ok ? (double)bytes * 1e9 / ns : 0;
    return ok;
}

static bool sample_in_flight(void *state, double *bytes, struct error *why)
{
    double rate;
    if (!loads_sample_rate(state, &rate, why)) {
        return false;
    }
    *bytes = rate * ((const struct load *)state)->all->round_trip_ns / 1e9;
    return true;
}

static bool measure_round_trip(struct loads *all, const struct effort *effort, uint64_t seed,
                               struct findings *findings, struct error *why)
{
    const struct probe probe = {"link.round_trip", 0, all, sample_round_trip};
    struct effort part = *effort;
    part.seconds /= 8;
    if (!measure_probes(&probe, 1, &part, seed, findings, why)) {
        return false;
    }
    all->round_trip_ns = findings_get(findings, probe.figure)->points[0].median;
    return findings_note(findings, probe.figure,
                         "512 dependent loads of one thread from lines of pinned memory at random; "
                         "launch and end taken off",
                         why);
}

/* The fastest measured gather becomes link.zero_copy. */
static bool choose_best(const char (*names)[64], struct findings *findings, struct error *why)
{
    struct finding *best = findings_add(findings, "link.zero_copy", "", UNIT_BYTES_PER_S, why);
    struct found_point fastest = {};
    const char *name = "";
    for (size_t i = 0; best != NULL && i < FIGURES; i++) {
        const struct finding *figure = findings_get(findings, names[i]);
        for (uint32_t j = 0; figure != NULL && j < figure->count; j++) {
            if (figure->points[j].median > fastest.median) {
                fastest = figure->points[j];
                name = names[i];
            }
        }
    }
    char note[256];
    snprintf(note, sizeof note,
             "the fastest gather of scattered rows: %.63s, %.0f bytes in flight a CTA", name,
             fastest.size);
    fastest.size = 0;
    return best != NULL && finding_put(best, &fastest, why) &&
           findings_note(findings, "link.zero_copy", note, why);
}

static bool loads_note_all(const char (*names)[64], struct findings *findings, struct error *why)
{
    bool ok = true;
    for (size_t i = 0; ok && i < FIGURES; i++) {
        ok = findings_note(findings, names[i],
                           "rows of pinned memory in random order, CTAs of 256 threads; axis: "
                           "bytes that one CTA has in flight",
                           why);
    }
    return ok &&
           findings_note(findings, "link.cta_in_flight",
                         "one CTA of 256 threads, 8 bytes a thread, one load at a time: its rate "
                         "times link.round_trip",
                         why) &&
           findings_note(findings, "link.sm_stores",
                         "rows of 4 KiB in random order from HBM to pinned memory", why);
}

bool link_loads(const struct effort *effort, uint64_t seed, struct findings *findings,
                struct error *why)
{
    struct loads all;
    char names[FIGURES][64];
    struct load states[PROBES];
    struct probe probes[PROBES];
    uint32_t figure = 0, count = 0, before = findings->count;
    if (!all.create(seed, why) || !measure_round_trip(&all, effort, seed, findings, why)) {
        return false;
    }
    for (uint32_t row = 0; row < ROW_SIZES; row++) {
        for (uint32_t ctas : cta_counts) {
            char *name = names[figure++];
            snprintf(name, sizeof names[0], "link.sm_loads.row_%u.ctas_%u", row_sizes[row], ctas);
            if (!findings_add(findings, name, "bytes", UNIT_BYTES_PER_S, why)) {
                return false;
            }
            for (uint32_t loads : load_counts) {
                states[count] = {&all, row, ctas, WIDTH, loads, false};
                probes[count] = {name, (double)GATHER_THREADS * WIDTH * loads, &states[count],
                                 loads_sample_rate};
                count++;
            }
        }
    }
    if (!findings_add(findings, "link.sm_stores", "ctas", UNIT_BYTES_PER_S, why)) {
        return false;
    }
    for (uint32_t ctas : cta_counts) {
        states[count] = {&all, 2, ctas, WIDTH, 4, true};
        probes[count] = {"link.sm_stores", (double)ctas, &states[count], loads_sample_rate};
        count++;
    }
    states[count] = {&all, 0, 1, 8, 1, false};
    probes[count] = {"link.cta_in_flight", 0, &states[count], sample_in_flight};
    count++;
    struct effort rest = *effort;
    rest.seconds -= effort->seconds / 8;
    bool ok = measure_probes(probes, count, &rest, seed, findings, why) &&
              choose_best(names, findings, why) && loads_note_all(names, findings, why);
    if (ok) {
        room_note(&all.buffers.room, findings, before);
    }
    return ok;
}
