/* The group launch: bare launches, graphs, events and synchronisation, without a framework's share.
 *
 *   gpu.kernel_floor   time of a kernel of one CTA an SM that reads and writes a word, one after
 *                      the other on a stream
 *   gpu.graph_node     time of each additional one of these kernels in a graph
 *   host.graph_launch  CPU time of the call that launches a graph of 256 of them
 *   host.sync          by the GPU's clock: from the end of a kernel to the start of the next, while
 *                      the CPU returns from cudaStreamSynchronize() and launches
 *
 * A bare launch is only an observation (launch.bare): host.launch means an operator of a framework.
 */
#include "calibrate/device/graph.h"
#include "calibrate/device/launch.cuh"
#include "calibrate/gpu/bench.h"
#include "calibrate/gpu/groups.h"

#include <math.h>
#include <stdio.h>

#define THREADS 128
#define ROW_OF_LAUNCHES 256
#define HOPS 64
#define SYNCS 16
#define SYNC_PAUSE_NS 30000
#define GRAPH_LAUNCHES 8
#define GRAPH_PAUSE_NS 2000000
#define COPY_BYTES 4096

static const uint32_t graph_sizes[] = {16, 64, 256, 1024};

#define GRAPHS (sizeof graph_sizes / sizeof *graph_sizes)
#define GRAPH_OF_64 1
#define GRAPH_OF_256 2
#define GRAPH_OF_1024 3

static __global__ void launches_touch(uint32_t *words)
{
    uint32_t at = blockIdx.x * THREADS + threadIdx.x;
    words[at] = words[at] + 1;
}

static __global__ void nothing()
{
}

/* Runs for `ns`, then writes the time. */
static __global__ void stamp_end(uint64_t ns, volatile uint64_t *stamp)
{
    uint64_t since = ptx_clock_ns();
    while (ptx_clock_ns() - since < ns) {
    }
    *stamp = ptx_clock_ns();
}

static __global__ void stamp_begin(volatile uint64_t *stamp)
{
    *stamp = ptx_clock_ns();
}

struct launching {
    gpu_memory words, stamps;
    pinned_memory pinned;
    gpu_stream stream, other;
    gpu_timer timer, hop;
    gpu_gate gate;
    gpu_graph graphs[GRAPHS];
    int sms = 0;

    bool create(struct error *why);
};

static bool launch_touch(const struct launching *all, cudaStream_t stream, struct error *why)
{
    return launch(launches_touch, dim3(all->sms), THREADS, 0, stream, why,
                  (uint32_t *)all->words.data);
}

static bool create_graph(struct launching *all, size_t index, struct error *why)
{
    auto put = [&] {
        bool ok = true;
        for (uint32_t i = 0; ok && i < graph_sizes[index]; i++) {
            ok = launch_touch(all, all->stream.at, why);
        }
        return ok;
    };
    return all->graphs[index].record(&all->stream, put, why) && all->stream.wait(why);
}

/* The words of all kernels; part of them is also copied. */
static size_t word_bytes(int sms)
{
    size_t bytes = (size_t)sms * THREADS * sizeof(uint32_t);
    return bytes > COPY_BYTES ? bytes : COPY_BYTES;
}

bool launching::create(struct error *why)
{
    bool ok = gpu_attribute(cudaDevAttrMultiProcessorCount, &sms, why) &&
              words.take(word_bytes(sms), why) && gpu_fill(words.data, words.bytes, 1, why) &&
              stamps.take(2 * SYNCS * sizeof(uint64_t), why) &&
              pinned.take((size_t)1 << 16, 2, why) && stream.create(why) && other.create(why) &&
              timer.create(why) && hop.create(why) && gate.create(why);
    for (size_t i = 0; ok && i < GRAPHS; i++) {
        ok = create_graph(this, i, why);
    }
    return ok;
}

/* CPU time of a call; no gate holds the GPU back. */
template <typename Call>
static bool time_calls(const struct launching *all, int calls, double *ns, struct error *why,
                       Call call)
{
    bool ok = true;
    double begin = clock_ns();
    for (int i = 0; ok && i < calls; i++) {
        ok = call();
    }
    *ns = (clock_ns() - begin) / calls;
    return ok && all->stream.wait(why) && all->other.wait(why);
}

static bool launches_sample_launch(void *state, double *ns, struct error *why)
{
    const struct launching *all = (const struct launching *)state;
    return time_calls(all, ROW_OF_LAUNCHES, ns, why,
                      [&] { return launch_touch(all, all->stream.at, why); });
}

static bool sample_record(void *state, double *ns, struct error *why)
{
    const struct launching *all = (const struct launching *)state;
    return time_calls(all, ROW_OF_LAUNCHES, ns, why,
                      [&] { return all->timer.start(all->stream.at, why); });
}

static bool sample_wait(void *state, double *ns, struct error *why)
{
    const struct launching *all = (const struct launching *)state;
    return all->timer.start(all->stream.at, why) && time_calls(all, ROW_OF_LAUNCHES, ns, why, [&] {
               return GPU_TRY(cudaStreamWaitEvent(all->other.at, all->timer.begin, 0), why);
           });
}

/* From the launch of one kernel until the CPU has seen it done. */
static bool sample_round(void *state, double *ns, struct error *why)
{
    const struct launching *all = (const struct launching *)state;
    return time_calls(all, SYNCS, ns, why, [&] {
        return launch_touch(all, all->stream.at, why) &&
               GPU_TRY(cudaStreamSynchronize(all->stream.at), why);
    });
}

/* GPU time of consecutive launches that are all queued. */
template <typename Launch>
static bool time_row(struct launching *all, double *ns, struct error *why, Launch launch)
{
    bool ok = all->gate.close(all->stream.at, why) && all->timer.start(all->stream.at, why);
    for (int i = 0; ok && i < ROW_OF_LAUNCHES; i++) {
        ok = launch();
    }
    ok = ok && all->timer.stop(all->stream.at, why) && all->gate.open(why) &&
         all->timer.read(ns, why);
    *ns /= ROW_OF_LAUNCHES;
    return ok;
}

static bool sample_floor(void *state, double *ns, struct error *why)
{
    struct launching *all = (struct launching *)state;
    return time_row(all, ns, why, [&] { return launch_touch(all, all->stream.at, why); });
}

static bool sample_empty(void *state, double *ns, struct error *why)
{
    struct launching *all = (struct launching *)state;
    return time_row(all, ns, why,
                    [&] { return launch(nothing, dim3(1), 1, 0, all->stream.at, why); });
}

/* From an event to the next, with nothing between them. */
static bool sample_interval(void *state, double *ns, struct error *why)
{
    struct launching *all = (struct launching *)state;
    bool ok = all->gate.close(all->stream.at, why) && all->timer.start(all->stream.at, why);
    for (int i = 1; ok && i < ROW_OF_LAUNCHES; i++) {
        ok = GPU_TRY(cudaEventRecord(all->hop.begin, all->stream.at), why);
    }
    ok = ok && all->timer.stop(all->stream.at, why) && all->gate.open(why) &&
         all->timer.read(ns, why);
    *ns /= ROW_OF_LAUNCHES;
    return ok;
}

/* To the other stream or back through an event, with a kernel each time. */
static bool sample_hop(void *state, double *ns, struct error *why)
{
    struct launching *all = (struct launching *)state;
    cudaStream_t streams[] = {all->stream.at, all->other.at};
    bool ok = all->gate.close(streams[0], why) && all->timer.start(streams[0], why);
    for (int i = 0; ok && i < HOPS; i++) {
        ok = launch_touch(all, streams[i % 2], why) &&
             GPU_TRY(cudaEventRecord(all->hop.begin, streams[i % 2]), why) &&
             GPU_TRY(cudaStreamWaitEvent(streams[1 - i % 2], all->hop.begin, 0), why);
    }
    ok = ok && all->timer.stop(streams[HOPS % 2], why) && all->gate.open(why) &&
         all->timer.read(ns, why);
    *ns /= HOPS;
    return ok && all->other.wait(why);
}

struct graph {
    struct launching *all;
    size_t index;
};

static bool sample_graph_launch(void *state, double *ns, struct error *why)
{
    const struct graph *graph = (const struct graph *)state;
    const struct launching *all = graph->all;
    *ns = 0;
    for (int i = 0; i < GRAPH_LAUNCHES; i++) {
        double begin = clock_ns();
        if (!all->graphs[graph->index].launch(&all->stream, why)) {
            return false;
        }
        *ns += (clock_ns() - begin) / GRAPH_LAUNCHES;
        if (!all->stream.wait(why)) {
            return false;
        }
    }
    return true;
}

/* The graph is launched during a pause of the stream rather than behind a gate, because the driver
 * may make a launch of so many kernels wait for the GPU. */
static bool time_graph(struct launching *all, size_t index, double *ns, struct error *why)
{
    return gpu_pause(GRAPH_PAUSE_NS, all->stream.at, why) &&
           all->timer.start(all->stream.at, why) && all->graphs[index].launch(&all->stream, why) &&
           all->timer.stop(all->stream.at, why) && all->timer.read(ns, why);
}

static bool sample_node(void *state, double *ns, struct error *why)
{
    struct launching *all = (struct launching *)state;
    double few, many;
    if (!time_graph(all, GRAPH_OF_64, &few, why) || !time_graph(all, GRAPH_OF_1024, &many, why)) {
        return false;
    }
    /* A disturbed sample may be negative; it counts as 0. */
    *ns = fmax(0, many - few) / (graph_sizes[GRAPH_OF_1024] - graph_sizes[GRAPH_OF_64]);
    return true;
}

/* From the end of a kernel to the start of the next, with a copy of `bytes` to the host and the CPU
 * between them. */
static bool time_sync(struct launching *all, size_t bytes, double *ns, struct error *why)
{
    uint64_t *stamps = (uint64_t *)all->stamps.data, found[2 * SYNCS];
    cudaStream_t stream = all->stream.at;
    for (int i = 0; i < SYNCS; i++) {
        if (!launch(stamp_end, dim3(1), 1, 0, stream, why, SYNC_PAUSE_NS, stamps + 2 * i) ||
            (bytes > 0 && !GPU_TRY(cudaMemcpyAsync(all->pinned.data, all->words.data, bytes,
                                                   cudaMemcpyDeviceToHost, stream),
                                   why)) ||
            !GPU_TRY(cudaStreamSynchronize(stream), why) ||
            !launch(stamp_begin, dim3(1), 1, 0, stream, why, stamps + 2 * i + 1)) {
            return false;
        }
    }
    if (!all->stream.wait(why) ||
        !GPU_TRY(cudaMemcpy(found, stamps, sizeof found, cudaMemcpyDeviceToHost), why)) {
        return false;
    }
    *ns = 0;
    for (int i = 0; i < SYNCS; i++) {
        *ns += (double)(found[2 * i + 1] - found[2 * i]) / SYNCS;
    }
    return true;
}

static bool sample_sync(void *state, double *ns, struct error *why)
{
    return time_sync((struct launching *)state, 0, ns, why);
}

static bool sample_copy_sync(void *state, double *ns, struct error *why)
{
    return time_sync((struct launching *)state, COPY_BYTES, ns, why);
}

static const struct launch_figure {
    const char *figure, *note;
    bool (*sample)(void *, double *, struct error *);
} figures[] = {
    {"gpu.kernel_floor", "256 kernels of one CTA an SM in a row, all queued; between events",
     sample_floor},
    {"gpu.graph_node", "kernels of one CTA an SM in a graph: 1024 of them less 64", sample_node},
    {"host.sync",
     "end of a kernel to begin of the next, the CPU in cudaStreamSynchronize() and "
     "one launch between; GPU clock, bare",
     sample_sync},
    {"launch.copy_and_sync", "the same with a copy of 4 KiB to pinned memory before it",
     sample_copy_sync},
    {"launch.bare", "CPU time of one launch of a row of 256", launches_sample_launch},
    {"launch.empty_kernel", "256 kernels of one thread that do nothing, all queued; between events",
     sample_empty},
    {"launch.empty_interval", "", sample_interval}, /* note_interval() */
    {"launch.event_record", "CPU time of one call", sample_record},
    {"launch.event_wait", "CPU time of one cudaStreamWaitEvent()", sample_wait},
    {"launch.stream_hop", "a kernel, an event, and the other stream waiting for it; between events",
     sample_hop},
    {"launch.round_trip", "CPU time from launching one kernel to cudaStreamSynchronize() returning",
     sample_round},
};

#define FIGURES (sizeof figures / sizeof *figures)

/* The groups that time kernels do not subtract it. */
static bool note_interval(struct findings *findings, struct error *why)
{
    const struct finding *empty = findings_get(findings, "launch.empty_interval");
    char note[256];
    if (empty->count == 0) {
        return true;
    }
    snprintf(note, sizeof note,
             "from an event to the next, 256 in a row; contained in each interval between events: "
             "at most %.1f %% where kernels fill %.0f us",
             100 * empty->points[0].median / BENCH_INTERVAL_NS, BENCH_INTERVAL_NS / 1e3);
    return findings_note(findings, empty->name, note, why);
}

bool launches(const struct effort *effort, uint64_t seed, struct findings *findings,
              struct error *why)
{
    struct launching all;
    struct graph graphs[GRAPHS];
    struct probe probes[FIGURES + GRAPHS + 1];
    uint32_t count = 0;
    if (!all.create(why) || !findings_add(findings, "launch.graph", "nodes", UNIT_NS, why)) {
        return false;
    }
    for (size_t i = 0; i < FIGURES; i++) {
        probes[count++] = {figures[i].figure, 0, &all, figures[i].sample};
        if (!findings_add(findings, figures[i].figure, "", UNIT_NS, why)) {
            return false;
        }
    }
    for (size_t i = 0; i < GRAPHS; i++) {
        graphs[i] = {&all, i};
        probes[count++] = {"launch.graph", (double)graph_sizes[i], &graphs[i], sample_graph_launch};
    }
    probes[count++] = {"host.graph_launch", 0, &graphs[GRAPH_OF_256], sample_graph_launch};
    bool ok = measure_probes(probes, count, effort, seed, findings, why) &&
              findings_note(findings, "launch.graph",
                            "CPU time of launching a graph of so many kernels, GPU idle", why) &&
              findings_note(findings, "host.graph_launch",
                            "a graph of 256 kernels, GPU idle; bare, without a framework", why);
    for (size_t i = 0; ok && i < FIGURES; i++) {
        ok = findings_note(findings, figures[i].figure, figures[i].note, why);
    }
    return ok && note_interval(findings, why);
}
