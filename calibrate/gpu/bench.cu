#include "calibrate/gpu/bench.h"

#include "calibrate/device/graph.h"
#include "calibrate/measure/interval.h"

bool kernel_bench::create(size_t wanted, size_t least, uint64_t seed, struct error *why)
{
    return gpu_memory_peak(&peak, why) && gpu_room(wanted, least, &room, why) &&
           arena.create(room.bytes, seed, why) &&
           gpu_fill_bf16(arena.memory.data, arena.memory.bytes, seed, why) && stream.create(why) &&
           timer.create(why);
}

/* A graph has at most 480 kernels. The stream pauses until its launch is queued. A gate would not
 * do: the driver may make the launch of a graph wait for the GPU. */
#define MOST_REPEATS 120
#define PAUSE_NS 500000

bool bench_time(struct kernel_bench *bench, struct bench_work *work, double *ns, struct error *why)
{
    const gpu_stream *stream = &bench->stream;
    uint32_t repeats = work->repeats;
    gpu_graph graph;
    auto put = [&] {
        bool ok = true;
        for (uint32_t i = 0; ok && i < repeats; i++) {
            ok = work->put(work, why);
        }
        return ok;
    };
    if (!graph.record(stream, put, why) || !gpu_pause(PAUSE_NS, stream->at, why) ||
        !bench->timer.start(stream->at, why) || !graph.launch(stream, why) ||
        !bench->timer.stop(stream->at, why) || !bench->timer.read(ns, why)) {
        return false;
    }
    work->repeats = interval_repeats(repeats, *ns, BENCH_INTERVAL_NS, MOST_REPEATS);
    *ns /= repeats;
    return true;
}

struct bench_probe {
    struct kernel_bench *bench;
    struct bench_work *work;
};

static bool sample_work(void *state, double *value, struct error *why)
{
    const struct bench_probe *probe = (const struct bench_probe *)state;
    struct bench_work *work = probe->work;
    double ns = 0;
    bool ok = bench_time(probe->bench, work, &ns, why);
    *value = (work->amount > 0 ? work->amount * 1e9 / ns : ns) / work->per;
    return ok;
}

bool bench_measure(struct kernel_bench *bench, std::vector<struct bench_work> &works,
                   const struct effort *effort, uint64_t seed, struct findings *findings,
                   struct error *why)
{
    std::vector<bench_probe> states;
    std::vector<struct probe> probes;
    /* What a group copied or filled may still be under way on the default stream, for which the
     * bench's stream does not wait. */
    if (!GPU_TRY(cudaDeviceSynchronize(), why)) {
        return false;
    }
    for (struct bench_work &work : works) {
        if (!work.put(&work, why) || !bench->stream.wait(why)) {
            return measure_name_failed(work.figure, work.size, why);
        }
        states.push_back({bench, &work});
    }
    for (size_t i = 0; i < works.size(); i++) {
        probes.push_back({works[i].figure, works[i].size, &states[i], sample_work});
    }
    return probes.empty() ||
           measure_probes(probes.data(), (uint32_t)probes.size(), effort, seed, findings, why);
}

bool bench_observe(struct findings *findings, const char *name, const char *axis, enum unit unit,
                   const char *note, struct error *why)
{
    return findings_add(findings, name, axis, unit, why) != NULL &&
           findings_note(findings, name, note, why);
}
