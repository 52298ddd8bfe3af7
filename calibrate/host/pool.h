/* A pool of threads, with three ways to wake them and to hear from the last.
 *
 * One batch of jobs at a time: a hand-off wakes every thread of the pool, they take job after job
 * until none is left, and the batch is done when the last thread has found that. So a hand-off
 * costs what the pool's size costs, however few the jobs are, as in the pools of systems whose
 * caches the CPU manages; that is what host.pool_handoff states.
 *
 *     caller   start ------ (its own work) ------ wait ........|
 *     thread 0    ^ job 0 | job 3 |                            ^ the last to find none left
 *     thread 1     ^ job 1     | job 4    |                    |
 *     thread 2      ^ job 2          | job 5 ------------------+
 *
 * The caller is none of the threads. Spinning threads keep their processors busy between batches,
 * so such a pool wants a processor a thread and one for its caller; short of them it still ends,
 * for spinning gives the processor away now and then.
 */
#ifndef CALIBRATE_HOST_POOL_H
#define CALIBRATE_HOST_POOL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

enum pool_handoff {
    POOL_CONDITION, /* mutex and condition variable: what most pools do */
    POOL_FUTEX,     /* sleep on the batch's number itself */
    POOL_SPIN,      /* never sleep */
};

struct pool;

/* Do one job. `thread` is in [0, threads): no two jobs run at once with the same. */
typedef void (*pool_job)(uint32_t job, uint32_t thread, void *context);

/* Threads that wait for work, thread i pinned to cpus[i] (NULL: pinned nowhere; where the system
 * refuses a processor, that thread runs unpinned). NULL with `why` if a thread cannot be had,
 * or none is wanted. */
struct pool *pool_create(uint32_t threads, const uint32_t *cpus, enum pool_handoff handoff,
                         struct error *why);

/* Hand job(0) ... job(jobs-1) over; then wait until all are done. Each start has its wait before
 * the next start. What the caller wrote before the start the jobs see, and what they wrote the
 * caller sees after the wait. */
void pool_start(struct pool *pool, uint32_t jobs, pool_job job, void *context);
void pool_wait(struct pool *pool);

/* Both. */
void pool_run(struct pool *pool, uint32_t jobs, pool_job job, void *context);

uint32_t pool_threads(const struct pool *pool);

/* Threads that run where they were asked to. */
uint32_t pool_pinned(const struct pool *pool);

/* NULL is fine; waits for no batch: that is the caller's to do. */
void pool_destroy(struct pool *pool);

#ifdef __cplusplus
}
#endif
#endif
