/* The group host-kmeans. host.kmeans is the rate of an iteration of k-means in operations/s. Each
 * thread has 16 Ki keys of its own, of 64 numbers each. Only operations of the matrix product are
 * counted; the other work adds only time. */
#include "core/array.h"
#include "calibrate/host/bench.h"
#include "calibrate/host/groups.h"
#include "calibrate/host/kmeans.h"

#include <stdlib.h>

enum { CACHES = 2, DIM = 64, KEYS = 1 << 14 };

/* The data of a thread, besides its keys. */
struct kmeans_worker {
    uint8_t nearest[KEYS];
    float sums[KMEANS_CENTROIDS * DIM];
    uint32_t members[KMEANS_CENTROIDS];
};

struct training {
    struct bench *bench;
    struct pool *pool;
    struct kmeans_worker *workers; /* [threads] */
    const float *centroids, *halves;
    size_t *next; /* key */
};

static void iterate(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct training *training = context;
    size_t keys = training->bench->data.size / sizeof(float) / DIM / KEYS * KEYS;
    size_t first = (*training->next + (size_t)job * KEYS) % keys;
    struct kmeans_worker *worker = &training->workers[job];
    const struct kmeans kmeans = {
        .dim = DIM,
        .count = KEYS,
        .keys = (const float *)(const void *)training->bench->data.bytes + first * DIM,
        .centroids = training->centroids,
        .halves = training->halves,
        .nearest = worker->nearest,
        .sums = worker->sums,
        .members = worker->members,
    };
    kmeans_iterate(&kmeans);
}

static bool sample_iteration(void *state, double *value, struct error *why)
{
    (void)why;
    struct training *training = state;
    uint32_t threads = pool_threads(training->pool);
    double operations = 2.0 * DIM * KMEANS_CENTROIDS * KEYS * threads, start = clock_ns();
    pool_run(training->pool, threads, iterate, training);
    *value = operations * 1e9 / (clock_ns() - start);
    *training->next += (size_t)KEYS * threads;
    return true;
}

/* The first keys of the memory become the centroids; the order of values does not matter. */
static void choose_centroids(const struct bench *bench, float *centroids, float *halves)
{
    const float *keys = (const float *)(const void *)bench->data.bytes;
    for (uint32_t c = 0; c < KMEANS_CENTROIDS; c++) {
        halves[c] = 0;
        for (uint32_t d = 0; d < DIM; d++) {
            float value = keys[(size_t)c * DIM + d];
            centroids[(size_t)d * KMEANS_CENTROIDS + c] = value;
            halves[c] += value * value / 2;
        }
    }
}

bool host_kmeans_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    struct bench bench;
    struct training trainings[TOPOLOGY_MOST_COUNTS];
    float centroids[DIM * KMEANS_CENTROIDS], halves[KMEANS_CENTROIDS];
    size_t next = 0;
    if (!bench_init(&bench, CACHES, seed, why)) {
        return false;
    }
    struct kmeans_worker *workers = array_zeroed(bench.topology.count, sizeof *workers, why);
    choose_centroids(&bench, centroids, halves);
    bool ok = workers != NULL &&
              findings_add(findings, "host.kmeans", "threads", UNIT_FLOP_PER_S, why) != NULL &&
              bench_note(findings, "host.kmeans", why,
                         "an iteration over %d keys of %d numbers a thread, %d centroids, its own "
                         "code rather than a library's",
                         KEYS, DIM, KMEANS_CENTROIDS);
    for (uint32_t i = 0; ok && i < bench.sizes; i++) {
        trainings[i] = (struct training){&bench, bench.pools[i], workers, centroids, halves, &next};
        ok = bench_add(&bench, "host.kmeans", bench.threads[i], sample_iteration, &trainings[i],
                       why);
    }
    ok = ok && bench_measure(&bench, effort, seed, findings, why);
    free(workers);
    bench_release(&bench);
    return ok;
}
