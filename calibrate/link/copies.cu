/* The group link-copies: the copy engines, one copy after the other. Copies each way by size, from
 * pinned and from pageable memory; the CPU time of a call; a small copy behind a large one.
 *
 *   link.h2d, link.d2h  rate of copies of 256 MiB
 *   link.copy_latency   fixed time of copies of 256 B to 1 GiB beyond their bytes at that rate,
 *                       fitted
 *   host.pageable       rate of 256 MiB from memory that is not pinned: that of the CPU's copy into
 *                       staging blocks where it is below the link's, because the driver overlaps both
 *   host.copy_call      CPU time of the bare call, without a framework
 *
 * Copies in a row hide a part of what a copy costs that alternates with kernels on one stream: the
 * kernel waits for the copy engine, and the engine for the kernel. link.copy_between_kernels is the
 * fixed time of these copies, as an observation. The simulator counts link.copy_latency for them,
 * too; a larger figure here is what its steps lack for each copy in the kernels' stream.
 */
#include "calibrate/device/facts.h"
#include "calibrate/device/read.h"
#include "calibrate/link/buffers.h"
#include "calibrate/link/groups.h"
#include "calibrate/measure/copy_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WANTED (1024 * MiB)
#define LARGE(bytes) ((bytes) / 4)
#define MOVED (16 * MiB) /* an interval of 100 us and more */
#define MOST_REPEATS 256
#define SIZES 12
#define KERNEL_BYTES 32768 /* read by a kernel between two copies */
#define MOST_KERNELS 128   /* with as many copies behind a gate */
#define BETWEEN_MOST MiB
#define CALLS 128
#define CALL_BYTES 4096
#define BEHIND_BYTES 65536
#define BEHIND_LEAST (4 * MiB)
#define BEHIND_PAUSE_NS 10000

struct copies_state {
    struct link_buffers buffers;
    gpu_stream stream, other;
    gpu_timer timer;
    gpu_gate gate;
    gpu_memory sums; /* of the kernels between copies */
    char *pageable = nullptr;

    ~copies_state()
    {
        free(pageable);
    }
    bool create(uint64_t seed, struct error *why);
};

bool copies_state::create(uint64_t seed, struct error *why)
{
    uint32_t words;
    if (!buffers.take(WANTED, seed, why) || !stream.create(why) || !other.create(why) ||
        !timer.create(why) || !gate.create(why) || !gpu_read_sums(&words, why) ||
        !sums.take(words * sizeof(uint32_t), why)) {
        return false;
    }
    size_t size = LARGE(buffers.bytes);
    pageable = (char *)malloc(size);
    if (pageable == nullptr) {
        return error_set(why, NULL, 0, "no %zu bytes of host memory", size);
    }
    for (size_t i = 0; i < size; i++) {
        pageable[i] = buffers.host.data[i];
    }
    return true;
}

struct copies_sample {
    struct copies_state *all;
    cudaMemcpyKind kind;
    size_t size;
};

/* Copies one after the other, without a gap: the time of the copy engine alone. */
static bool sample_time(void *state, double *ns, struct error *why)
{
    struct copies_sample *copy = (struct copies_sample *)state;
    struct copies_state *all = copy->all;
    uint32_t repeats = copy_repeats(copy->size, MOVED, MOST_REPEATS);
    bool ok = all->gate.close(all->stream.at, why) && all->timer.start(all->stream.at, why);
    for (uint32_t i = 0; ok && i < repeats; i++) {
        ok = link_copy(&all->buffers, copy->kind, copy->size, all->stream.at, why);
    }
    ok = ok && all->timer.stop(all->stream.at, why) && all->gate.open(why) &&
         all->timer.read(ns, why);
    *ns /= repeats;
    return ok;
}

static bool copies_sample_rate(void *state, double *rate, struct error *why)
{
    double ns = 0;
    bool ok = sample_time(state, &ns, why);
    *rate = ok ? (double)((struct copies_sample *)state)->size * 1e9 / ns : 0;
    return ok;
}

/* By the CPU's clock, because the CPU's own copy of the bytes is part of the time. */
static bool sample_pageable(void *state, double *rate, struct error *why)
{
    struct copies_sample *copy = (struct copies_sample *)state;
    struct copies_state *all = copy->all;
    char *gpu = all->buffers.gpu.data + all->buffers.turn(copy->size);
    bool in = copy->kind == cudaMemcpyHostToDevice;
    double begin = clock_ns();
    bool ok = GPU_TRY(cudaMemcpyAsync(in ? gpu : all->pageable, in ? all->pageable : gpu,
                                      copy->size, copy->kind, all->stream.at),
                      why) &&
              all->stream.wait(why);
    *rate = (double)copy->size * 1e9 / (clock_ns() - begin);
    return ok;
}

static bool sample_call(void *state, double *ns, struct error *why)
{
    struct copies_state *all = (struct copies_state *)state;
    bool ok = true;
    double begin = clock_ns();
    for (int i = 0; ok && i < CALLS; i++) {
        ok = link_copy(&all->buffers, cudaMemcpyHostToDevice, CALL_BYTES, all->stream.at, why);
    }
    *ns = (clock_ns() - begin) / CALLS;
    return ok && all->stream.wait(why);
}

/* The time of a small copy that becomes ready while a large one, on another stream, is under way.
 * `size` is the size of the large copy; 0: no large copy. */
static bool sample_behind(void *state, double *ns, struct error *why)
{
    struct copies_sample *copy = (struct copies_sample *)state;
    struct copies_state *all = copy->all;
    cudaStream_t large = all->stream.at, small = all->other.at;
    return all->gate.close(large, why) && GPU_TRY(cudaEventRecord(all->timer.begin, large), why) &&
           GPU_TRY(cudaStreamWaitEvent(small, all->timer.begin, 0), why) &&
           (copy->size == 0 || link_copy(&all->buffers, copy->kind, copy->size, large, why)) &&
           gpu_pause(BEHIND_PAUSE_NS, small, why) && all->timer.start(small, why) &&
           link_copy(&all->buffers, copy->kind, BEHIND_BYTES, small, why) &&
           all->timer.stop(small, why) && all->gate.open(why) && all->timer.read(ns, why) &&
           all->stream.wait(why);
}

/* The mean time of a kernel, and of the copy after it unless `copy` is null, on one stream. */
static bool time_kernels(struct copies_state *all, const struct copies_sample *copy,
                         uint32_t repeats, double *ns, struct error *why)
{
    bool ok = all->gate.close(all->stream.at, why) && all->timer.start(all->stream.at, why);
    for (uint32_t i = 0; ok && i < repeats; i++) {
        ok =
            gpu_read_launch(all->buffers.gpu.data, KERNEL_BYTES, GPU_READ_FULL,
                            (uint32_t *)all->sums.data, NULL, all->stream.at, why) &&
            (copy == NULL || link_copy(&all->buffers, copy->kind, copy->size, all->stream.at, why));
    }
    ok = ok && all->timer.stop(all->stream.at, why) && all->gate.open(why) &&
         all->timer.read(ns, why);
    *ns /= repeats;
    return ok;
}

/* The time that a copy adds between two kernels. */
static bool copies_sample_between(void *state, double *ns, struct error *why)
{
    struct copies_sample *copy = (struct copies_sample *)state;
    uint32_t repeats = copy_repeats(copy->size, MOVED, MOST_KERNELS);
    double both, kernels;
    if (!time_kernels(copy->all, copy, repeats, &both, why) ||
        !time_kernels(copy->all, NULL, repeats, &kernels, why)) {
        return false;
    }
    *ns = fmax(1, both - kernels); /* a disturbed sample may be negative; the fit divides by it */
    return true;
}

/* Fit the fixed time to the medians, and to p10 and p90 for its spread. */
static bool fit(struct findings *findings, const char *times, const char *rate, const char *name,
                const char *what, struct error *why)
{
    struct finding *fixed = findings_add(findings, name, "", UNIT_NS, why);
    const struct finding *of = findings_get(findings, times), *at = findings_get(findings, rate);
    if (fixed == NULL) {
        return false;
    }
    if (of == NULL || at == NULL || of->count > SIZES || of->count == 0 || at->count == 0) {
        return error_set(why, NULL, 0, "no times to fit '%s' to", name);
    }
    double sizes[SIZES], each[3][SIZES], found[3], worst[3];
    for (uint32_t i = 0; i < of->count; i++) {
        const struct found_point *point = &of->points[i];
        sizes[i] = point->size;
        each[0][i] = point->p10;
        each[1][i] = point->median;
        each[2][i] = point->p90;
    }
    for (int i = 0; i < 3; i++) {
        found[i] = copy_fixed_ns(sizes, each[i], of->count, at->points[0].median, &worst[i]);
    }
    struct found_point point = {};
    point.p10 = found[0];
    point.median = found[1];
    point.p90 = found[2];
    point.samples = of->points[0].samples;
    point.precise = of->points[0].precise;
    point.drift = 1;
    char note[256];
    snprintf(note, sizeof note,
             "pinned copies of 256 B to %.0f MiB %s, less their bytes at %s; fitted, at most "
             "%.0f %% off a copy's time",
             sizes[of->count - 1] / (double)MiB, what, rate, 100 * worst[1]);
    return finding_put(fixed, &point, why) && findings_note(findings, name, note, why);
}

static bool note_link(struct findings *findings, size_t size, struct error *why)
{
    struct gpu_facts facts;
    char link[64], carries[128] = "", note[256];
    if (!gpu_facts_read(&facts, why)) {
        return false;
    }
    if (pcie_rate(facts.state.now) > 0) {
        snprintf(carries, sizeof carries, "; PCI Express %s, %.1f GB/s before headers",
                 pcie_format(facts.state.now, link, sizeof link), pcie_rate(facts.state.now) / 1e9);
    }
    snprintf(note, sizeof note, "copies of %zu MiB, pinned, alone, between events%s", size / MiB,
             carries);
    return findings_note(findings, "link.h2d", note, why) &&
           findings_note(findings, "link.d2h", note, why);
}

static bool copies_note_all(struct findings *findings, size_t size, struct error *why)
{
    static const struct {
        const char *name, *note;
    } notes[] = {
        {"host.pageable", "from malloc()ed memory, CPU clock until the stream is done"},
        {"host.copy_call", "128 calls of 4 KiB from pinned memory; bare, without a framework"},
        {"link.h2d_copy", "one copy of a row of them, pinned, between events"},
        {"link.d2h_copy", "one copy of a row of them, pinned, between events"},
        {"link.h2d_pageable", "from malloc()ed memory, CPU clock until the stream is done"},
        {"link.d2h_pageable", "to malloc()ed memory, CPU clock until the stream is done"},
        {"link.h2d_between_kernels", "a kernel and a copy by turns on one stream, less the kernels "
                                     "alone, between events"},
        {"link.behind_large", "64 KiB to the GPU, ready 10 us after a copy of this size began on "
                              "another stream; 0: alone; the time of two events included"},
    };
    bool ok =
        note_link(findings, size, why) &&
        fit(findings, "link.h2d_copy", "link.h2d", "link.copy_latency", "in a row", why) &&
        fit(findings, "link.d2h_copy", "link.d2h", "link.d2h_copy_latency", "in a row", why) &&
        fit(findings, "link.h2d_between_kernels", "link.h2d", "link.copy_between_kernels",
            "to the GPU, each between two kernels", why);
    for (const auto &said : notes) {
        ok = ok && findings_note(findings, said.name, said.note, why);
    }
    return ok;
}

static bool observe_all(struct findings *findings, struct error *why)
{
    return findings_add(findings, "link.h2d_copy", "bytes", UNIT_NS, why) &&
           findings_add(findings, "link.d2h_copy", "bytes", UNIT_NS, why) &&
           findings_add(findings, "link.h2d_between_kernels", "bytes", UNIT_NS, why) &&
           findings_add(findings, "link.h2d_pageable", "bytes", UNIT_BYTES_PER_S, why) &&
           findings_add(findings, "link.d2h_pageable", "bytes", UNIT_BYTES_PER_S, why) &&
           findings_add(findings, "link.behind_large", "bytes", UNIT_NS, why);
}

bool link_copies(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why)
{
    const cudaMemcpyKind in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
    struct copies_state all;
    uint32_t before = findings->count;
    if (!all.create(seed, why) || !observe_all(findings, why)) {
        return false;
    }
    size_t most = all.buffers.bytes, large = LARGE(most);
    struct {
        const char *figure;
        bool (*sample)(void *, double *, struct error *);
        cudaMemcpyKind kind;
        size_t first, last; /* sizes, each four times the one before; 0: a single figure */
        size_t only;
    } const figures[] = {
        {"link.h2d", copies_sample_rate, in, 0, 0, large},
        {"link.d2h", copies_sample_rate, out, 0, 0, large},
        {"host.pageable", sample_pageable, in, 0, 0, large},
        {"link.h2d_copy", sample_time, in, 256, most, 0},
        {"link.d2h_copy", sample_time, out, 256, most, 0},
        {"link.h2d_between_kernels", copies_sample_between, in, 256, BETWEEN_MOST, 0},
        {"link.h2d_pageable", sample_pageable, in, 65536, large, 0},
        {"link.d2h_pageable", sample_pageable, out, 65536, large, 0},
        {"link.behind_large", sample_behind, in, BEHIND_LEAST, large, 0},
    };
    struct copies_sample states[64];
    struct probe probes[64];
    uint32_t count = 0;
    auto add = [&](const char *figure, bool (*sample)(void *, double *, struct error *),
                   cudaMemcpyKind kind, size_t size, bool single) {
        states[count] = {&all, kind, size};
        probes[count] = {figure, single ? 0 : (double)size, &states[count], sample};
        count++;
    };
    for (const auto &figure : figures) {
        if (figure.only > 0) {
            add(figure.figure, figure.sample, figure.kind, figure.only, true);
        }
        for (size_t size = figure.first; size > 0 && size <= figure.last; size *= 4) {
            add(figure.figure, figure.sample, figure.kind, size, false);
        }
    }
    add("link.behind_large", sample_behind, in, 0, false);
    probes[count++] = {"host.copy_call", 0, &all, sample_call};
    bool ok = measure_probes(probes, count, effort, seed, findings, why) &&
              copies_note_all(findings, large, why);
    if (ok) {
        room_note(&all.buffers.room, findings, before);
    }
    return ok;
}
