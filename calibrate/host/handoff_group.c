/* The group host-handoff: waking the threads of a pool.
 *
 * host.pool_wake is a hand-off's time divided by the number of threads that it wakes, as a manager
 * on the CPU pays it: 8 jobs, one for each KV head, in the pool of pool.h. A pool of one thread
 * wakes two, that thread and the caller. The jobs do nothing, so the time is that of waking; the
 * threads sleep, because the caller does something else for 200 us
 * between two hand-offs, as a launch thread does. Observations are consecutive hand-offs, whose
 * threads may not be asleep yet, delegated ones, and fewer or more jobs.
 */
#include "core/array.h"
#include "calibrate/host/bench.h"
#include "calibrate/host/groups.h"

#include <stdlib.h>

enum { BATCHES = 5, JOBS = 8 }; /* a sample is the mean of BATCHES */
#define PAUSE_NS 200e3

struct handoff {
    struct pool *pool;
    uint32_t jobs;
    double pause_ns;
    void (*start)(struct pool *pool, uint32_t jobs, pool_job job, void *context);
};

static void do_nothing(uint32_t job, uint32_t thread, void *context)
{
    (void)job;
    (void)thread;
    (void)context;
}

static bool sample_wake(void *state, double *value, struct error *why)
{
    (void)why;
    const struct handoff *handoff = state;
    double sum = 0;
    for (int i = 0; i < BATCHES; i++) {
        double start = clock_ns();
        while (clock_ns() - start < handoff->pause_ns) {
        }
        start = clock_ns();
        handoff->start(handoff->pool, handoff->jobs, do_nothing, NULL);
        pool_wait(handoff->pool);
        sum += clock_ns() - start;
    }
    uint32_t threads = pool_threads(handoff->pool);
    *value = sum / BATCHES / (threads > 1 ? threads : 2);
    return true;
}

static const struct way {
    const char *figure;
    void (*start)(struct pool *pool, uint32_t jobs, pool_job job, void *context);
    double pause_ns;
    const char *note;
} ways[] = {
    {"host.pool_wake", pool_start, PAUSE_NS,
     "a hand-off of 8 empty jobs over the threads that it wakes; asleep for 200 us"},
    {"host.pool_wake.in_a_row", pool_start, 0, "the same, one hand-off after the other"},
    {"host.pool_wake.delegated", pool_delegate, PAUSE_NS,
     "the same, one thread hands the jobs over"},
};

static const uint32_t job_counts[] = {1, 16, 256, 4096};

enum { WAYS = sizeof ways / sizeof ways[0], JOB_COUNTS = sizeof job_counts / sizeof job_counts[0] };

#define JOBS_FIGURE "host.pool_wake.jobs"

struct sleepers {
    struct bench bench; /* first */
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
        all->by_threads[i] = (struct handoff){bench->pools[size], JOBS, way->pause_ns, way->start};
        ok = findings_add(findings, way->figure, "threads", UNIT_NS, why) != NULL &&
             findings_note(findings, way->figure, way->note, why) &&
             bench_add(bench, way->figure, bench->threads[size], sample_wake, &all->by_threads[i],
                       why);
    }
    return ok;
}

static bool add_by_jobs(struct sleepers *all, struct findings *findings, struct error *why)
{
    struct bench *bench = &all->bench;
    bool ok = findings_add(findings, JOBS_FIGURE, "jobs", UNIT_NS, why) != NULL &&
              bench_note(findings, JOBS_FIGURE, why, "as host.pool_wake, %u threads",
                         bench->topology.count);
    for (uint32_t i = 0; ok && i < JOB_COUNTS; i++) {
        all->by_jobs[i] =
            (struct handoff){bench->pools[bench->sizes - 1], job_counts[i], PAUSE_NS, pool_start};
        ok = bench_add(bench, JOBS_FIGURE, job_counts[i], sample_wake, &all->by_jobs[i], why);
    }
    return ok;
}

static void destroy_sleepers(struct bench *bench)
{
    bench_release(bench);
    free(bench);
}

static struct bench *create_sleepers(const struct host_scope *scope, struct findings *findings,
                                     struct error *why)
{
    struct sleepers *all = array_zeroed(1, sizeof *all, why);
    bool alone = scope->curves_alone;
    bool ok = all != NULL && bench_init(&all->bench, 0, scope->seed, why) &&
              add_by_threads(all, alone ? 1 : WAYS, findings, why) &&
              (alone || add_by_jobs(all, findings, why));
    if (!ok && all != NULL) {
        destroy_sleepers(&all->bench);
    }
    return ok ? &all->bench : NULL;
}

const struct host_curves host_handoff_curves = {create_sleepers, NULL, destroy_sleepers};

bool host_handoff_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why)
{
    return host_curves_measure(&host_handoff_curves, effort, seed, findings, why);
}
