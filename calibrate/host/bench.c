#include "calibrate/host/bench.h"

#include "core/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool make_pools(struct bench *bench, struct error *why)
{
    bench->sizes = topology_thread_counts(bench->topology.count, bench->threads);
    for (uint32_t i = 0; i < bench->sizes; i++) {
        bench->pools[i] = pool_create(bench->threads[i], bench->topology.cpus, why);
        if (bench->pools[i] == NULL) {
            return false;
        }
    }
    return true;
}

static bool make_data(struct bench *bench, uint32_t caches, uint64_t seed, struct error *why)
{
    uint64_t wanted = caches * bench->topology.cache, most = bench->topology.free / 4;
    wanted = wanted > BENCH_STEP ? wanted : BENCH_STEP;
    wanted = (wanted < most ? wanted : most) / BENCH_STEP * BENCH_STEP;
    if (wanted == 0) {
        return error_set(why, NULL, 0, "%llu MiB of memory are free, too little to measure with",
                         (unsigned long long)(bench->topology.free >> 20));
    }
    struct pool *node =
        pool_create(topology_node_end(&bench->topology, 0), bench->topology.cpus, why);
    bool ok = node != NULL && buffer_init(&bench->data, wanted, seed, node, why);
    pool_destroy(node);
    return ok;
}

bool bench_init(struct bench *bench, uint32_t caches, uint64_t seed, struct error *why)
{
    *bench = (struct bench){.sizes = 0};
    bool ok = topology_init(&bench->topology, "", why) && make_pools(bench, why) &&
              (caches == 0 || make_data(bench, caches, seed, why));
    if (!ok) {
        bench_release(bench);
    }
    return ok;
}

void bench_release(struct bench *bench)
{
    for (uint32_t i = 0; i < bench->sizes; i++) {
        pool_destroy(bench->pools[i]);
    }
    topology_release(&bench->topology);
    buffer_release(&bench->data);
    free(bench->probes);
    *bench = (struct bench){.sizes = 0};
}

bool bench_add(struct bench *bench, const char *figure, double size,
               bool (*sample)(void *state, double *value, struct error *why), void *state,
               struct error *why)
{
    if (!array_reserve(&bench->probes, &bench->capacity, bench->count + 1, sizeof *bench->probes,
                       why)) {
        return false;
    }
    bench->probes[bench->count++] =
        (struct probe){.figure = figure, .size = size, .state = state, .sample = sample};
    return true;
}

bool bench_measure(const struct bench *bench, const struct effort *effort, uint64_t seed,
                   struct findings *findings, struct error *why)
{
    return measure_probes(bench->probes, (uint32_t)bench->count, effort, seed, findings, why);
}

bool bench_note(struct findings *findings, const char *name, struct error *why, const char *format,
                ...)
{
    char text[sizeof((struct finding *)NULL)->note];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return findings_note(findings, name, text, why);
}

bool bench_put(struct findings *findings, const char *name, const struct found_point *point,
               struct error *why)
{
    struct finding *finding = findings_add(findings, name, "", UNIT_COUNT, why);
    return finding != NULL && finding_put(finding, point, why);
}
