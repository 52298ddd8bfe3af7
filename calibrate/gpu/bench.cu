#include "calibrate/gpu/bench.h"

bool kernel_bench::create(size_t wanted, size_t least, uint64_t seed, struct error *why)
{
    return gpu_memory_peak(&peak, why) && gpu_room(wanted, least, &room, why) &&
           arena.create(room.bytes, seed, why) &&
           gpu_fill_bf16(arena.memory.data, arena.memory.bytes, seed, why) && stream.create(why) &&
           timer.create(why) && gate.create(why);
}

/* Enough repetitions for the clock of events, and few enough for the queue behind the gate. */
#define ENOUGH_BYTES (64 << 20)
#define MOST_REPEATS 64

static uint32_t repeats_of(double bytes)
{
    double repeats = bytes > 0 ? ENOUGH_BYTES / bytes : MOST_REPEATS;
    return repeats < 1 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : (uint32_t)repeats;
}

bool bench_time(struct kernel_bench *bench, const struct bench_work *work, double *ns,
                struct error *why)
{
    cudaStream_t stream = bench->stream.at;
    uint32_t repeats = repeats_of(work->bytes);
    bool ok = bench->gate.close(stream, why) && bench->timer.start(stream, why);
    for (uint32_t i = 0; ok && i < repeats; i++) {
        ok = work->put(work, why);
    }
    ok =
        ok && bench->timer.stop(stream, why) && bench->gate.open(why) && bench->timer.read(ns, why);
    *ns /= repeats;
    return ok;
}

struct bench_probe {
    struct kernel_bench *bench;
    const struct bench_work *work;
};

static bool sample_work(void *state, double *value, struct error *why)
{
    const struct bench_probe *probe = (const struct bench_probe *)state;
    const struct bench_work *work = probe->work;
    double ns = 0;
    bool ok = bench_time(probe->bench, work, &ns, why);
    *value = work->amount > 0 ? work->amount * 1e9 / ns / work->per : ns;
    return ok;
}

bool bench_measure(struct kernel_bench *bench, const std::vector<struct bench_work> &works,
                   const struct effort *effort, uint64_t seed, struct findings *findings,
                   struct error *why)
{
    std::vector<bench_probe> states;
    std::vector<struct probe> probes;
    for (const struct bench_work &work : works) {
        if (!work.put(&work, why) || !bench->stream.wait(why)) {
            return false;
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
