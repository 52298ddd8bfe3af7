/* A pool of threads, with three ways to wake the threads and to wait for the last one.
 *
 * The pool runs one batch of jobs at a time. A hand-off wakes every thread; the threads take job
 * after job until none is left; the batch is done when the last thread has found no job left. The
 * cost of a hand-off therefore depends on the pool's size and not on the number of jobs, as in
 * systems whose caches the CPU manages. host.pool_handoff states that cost.
 *
 *     caller   start ------ (its own work) ------ wait ........|
 *     thread 0    ^ job 0 | job 3 |                            ^ the last to find none left
 *     thread 1     ^ job 1     | job 4    |                    |
 *     thread 2      ^ job 2          | job 5 ------------------+
 *
 * The caller is not one of the threads. Spinning threads keep their processors busy between
 * batches, so a spinning pool needs a processor for each thread and one for its caller. With fewer
 * it is slow but still finishes, because a spinning thread yields its processor now and then.
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
    POOL_CONDITION, /* mutex and condition variable, as in most pools */
    POOL_FUTEX,     /* sleep on the batch's number itself */
    POOL_SPIN,      /* never sleep */
};

struct pool;

/* Do one job. `thread` is in [0, threads); no two jobs with the same `thread` run at once. */
typedef void (*pool_job)(uint32_t job, uint32_t thread, void *context);

/* Start threads that wait for work, thread i pinned to cpus[i] (NULL: no thread is pinned; if the
 * system refuses a processor, that thread runs unpinned). Returns NULL with `why` if a thread
 * cannot be started, or if `threads` is 0. */
struct pool *pool_create(uint32_t threads, const uint32_t *cpus, enum pool_handoff handoff,
                         struct error *why);

/* Hand job(0) ... job(jobs-1) over; then wait until all are done. Call pool_wait() after each
 * pool_start(), before the next. The jobs see everything that the caller wrote before the start,
 * and the caller sees after the wait everything that they wrote. */
void pool_start(struct pool *pool, uint32_t jobs, pool_job job, void *context);
void pool_wait(struct pool *pool);

/* pool_start(), then pool_wait(). */
void pool_run(struct pool *pool, uint32_t jobs, pool_job job, void *context);

uint32_t pool_threads(const struct pool *pool);

/* The number of threads that are pinned. */
uint32_t pool_pinned(const struct pool *pool);

/* Accepts NULL. The caller must have waited for its last batch. */
void pool_destroy(struct pool *pool);

#ifdef __cplusplus
}
#endif
#endif
