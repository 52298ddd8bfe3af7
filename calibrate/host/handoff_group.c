/* The group host-handoff: handing a batch of empty jobs to a pool and waiting for the last thread.
 *
 * host.pool_handoff is for the pool that most systems have: a condition variable, one job for each
 * thread, and sleeping threads. They sleep because the caller does something else for 200 us
 * between two batches, as a launch thread does between the hand-offs of a layer. Observations are
 * the other ways to wake (a spinning pool leaves a processor to the caller), more or fewer jobs,
 * and consecutive batches, whose threads may not be asleep yet.
 */
#include "base/array.h"
#include "calibrate/host/bench.h"
#include "calibrate/host/groups.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 5 }; /* a sample is the mean of these */
#define PAUSE_NS 200e3

struct handoff {
    struct pool *pool;
    uint32_t jobs;
    double pause_ns;
};

static void do_nothing(uint32_t job, uint32_t thread, void *context)
{
    (void)job;
    (void)thread;
    (void)context;
}

static bool sample_handoff(void *state, double *value, struct error *why)
{
    (void)why;
    const struct handoff *handoff = state;
    double sum = 0;
    for (int i = 0; i < BATCHES; i++) {
        double start = clock_ns();
        while (clock_ns() - start < handoff->pause_ns) {
        }
        start = clock_ns();
        pool_run(handoff->pool, handoff->jobs, do_nothing, NULL);
        sum += clock_ns() - start;
    }
    *value = sum / BATCHES;
    return true;
}

/* ---- sleeping pools: all exist at once and are measured by turns ---- */

static const struct way {
    const char *figure;
    enum pool_handoff handoff;
    double pause_ns;
    const char *note;
} ways[] = {
    {"host.pool_handoff", POOL_CONDITION, PAUSE_NS,
     "condition variable, a job a thread, threads asleep for 200 us"},
    {"host.pool_handoff.in_a_row", POOL_CONDITION, 0,
     "condition variable, a job a thread, one batch after the other"},
    {"host.pool_handoff.futex", POOL_FUTEX, PAUSE_NS, "futex, a job a thread, asleep for 200 us"},
};

static const uint32_t job_counts[] = {1, 16, 256, 4096};

enum { WAYS = sizeof ways / sizeof ways[0], JOB_COUNTS = sizeof job_counts / sizeof job_counts[0] };

#define JOBS_FIGURE "host.pool_handoff.jobs"
#define SPIN_FIGURE "host.pool_handoff.spin"

struct sleepers {
    struct bench bench; /* first */
    struct pool *futex[TOPOLOGY_MOST_COUNTS];
    struct handoff by_threads[WAYS * TOPOLOGY_MOST_COUNTS], by_jobs[JOB_COUNTS];
};

static bool add_by_threads(struct sleepers *all, uint32_t count, struct findings *findings,
                           struct error *why)
{
    struct bench *bench = &all->bench;
    bool ok = true;
    for (uint32_t i = 0; ok && i < bench->sizes * count; i++) {
        const struct way *way = &ways[i % count];
        uint32_t size = i / count;
        all->by_threads[i] = (struct handoff){
            .pool = way->handoff == POOL_FUTEX ? all->futex[size] : bench->pools[size],
            .jobs = bench->threads[size],
            .pause_ns = way->pause_ns,
        };
        ok = findings_add(findings, way->figure, "threads", UNIT_NS, why) != NULL &&
             findings_note(findings, way->figure, way->note, why) &&
             bench_add(bench, way->figure, bench->threads[size], sample_handoff,
                       &all->by_threads[i], why);
    }
    return ok;
}

static bool add_by_jobs(struct sleepers *all, struct findings *findings, struct error *why)
{
    struct bench *bench = &all->bench;
    bool ok =
        findings_add(findings, JOBS_FIGURE, "jobs", UNIT_NS, why) != NULL &&
        bench_note(findings, JOBS_FIGURE, why, "condition variable, %u threads, asleep for 200 us",
                   bench->topology.count);
    for (uint32_t i = 0; ok && i < JOB_COUNTS; i++) {
        all->by_jobs[i] = (struct handoff){bench->pools[bench->sizes - 1], job_counts[i], PAUSE_NS};
        ok = bench_add(bench, JOBS_FIGURE, job_counts[i], sample_handoff, &all->by_jobs[i], why);
    }
    return ok;
}

static void destroy_sleepers(struct bench *bench)
{
    struct sleepers *all = (struct sleepers *)bench;
    for (uint32_t i = 0; i < TOPOLOGY_MOST_COUNTS; i++) {
        pool_destroy(all->futex[i]);
    }
    bench_release(bench);
    free(all);
}

static bool create_futex_pools(struct sleepers *all, struct error *why)
{
    const struct bench *bench = &all->bench;
    bool ok = true;
    for (uint32_t i = 0; ok && i < bench->sizes; i++) {
        all->futex[i] = pool_create(bench->threads[i], bench->topology.cpus, POOL_FUTEX, why);
        ok = all->futex[i] != NULL;
    }
    return ok;
}

static struct bench *create_sleepers(const struct host_scope *scope, struct findings *findings,
                                     struct error *why)
{
    struct sleepers *all = array_zeroed(1, sizeof *all, why);
    bool alone = scope->curves_alone;
    bool ok = all != NULL && bench_init(&all->bench, 0, scope->seed, why) &&
              (alone || create_futex_pools(all, why)) &&
              add_by_threads(all, alone ? 1 : WAYS, findings, why) &&
              (alone || add_by_jobs(all, findings, why));
    if (!ok && all != NULL) {
        destroy_sleepers(&all->bench);
    }
    return ok ? &all->bench : NULL;
}

const struct host_curves host_handoff_curves = {create_sleepers, NULL, destroy_sleepers};

/* ---- spinning pools: one at a time, because they take processors from all others ---- */

static bool measure_spinning(const struct bench *bench, uint32_t threads,
                             const struct effort *effort, uint64_t seed, struct findings *findings,
                             struct error *why)
{
    struct handoff handoff = {
        .pool = pool_create(threads, bench->topology.cpus, POOL_SPIN, why),
        .jobs = threads,
        .pause_ns = PAUSE_NS,
    };
    const struct probe probe = {SPIN_FIGURE, threads, &handoff, sample_handoff};
    bool ok = handoff.pool != NULL && measure_probes(&probe, 1, effort, seed, findings, why);
    pool_destroy(handoff.pool);
    return ok;
}

static bool measure_spinners(const struct bench *bench, const struct effort *effort, uint64_t seed,
                             struct findings *findings, struct error *why)
{
    bool ok = findings_add(findings, SPIN_FIGURE, "threads", UNIT_NS, why) != NULL &&
              findings_note(findings, SPIN_FIGURE,
                            bench->topology.count > 1
                                ? "spinning, a job a thread; a processor is left to the caller"
                                : "one processor cannot spin for another",
                            why);
    for (uint32_t i = 0; ok && i < bench->sizes; i++) {
        ok = bench->threads[i] == bench->topology.count ||
             measure_spinning(bench, bench->threads[i], effort, seed, findings, why);
    }
    return ok;
}

bool host_handoff_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why)
{
    struct bench bench;
    if (!bench_init(&bench, 0, seed, why)) {
        return false;
    }
    struct effort sleeping = *effort, spinning = *effort;
    sleeping.seconds = effort->seconds * 0.75;
    spinning.seconds = effort->seconds * 0.25 / bench.sizes;
    bool ok = host_curves_measure(&host_handoff_curves, &sleeping, seed, findings, why) &&
              measure_spinners(&bench, &spinning, seed, findings, why);
    bench_release(&bench);
    return ok;
}
