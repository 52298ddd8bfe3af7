/* A pool of threads with one queue, as in systems whose caches the CPU manages: one mutex, and
 * threads that sleep on a condition variable. RetroInfer's public code has this pool
 * (thread_pool.hpp); host.pool_wake states what it costs to wake its threads.
 *
 * A hand-off queues a batch of jobs and wakes every thread, whether there is a job for it or not.
 * The caller waits for the jobs, not for threads that find no job left:
 *
 *     caller   queue, wake all .....| (its own work) | wait ..|
 *     thread 0    ^ job 0 | job 3 |                           |
 *     thread 1      ^ job 1      | job 4 ---------------------+
 *     thread 2        ^ job 2  |
 *     thread 3          ^ none left
 *
 * A batch can also be delegated: the caller wakes one thread for one job, which queues the batch
 * and wakes the others. The caller is not one of the threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

struct pool;

/* Do one job. `thread` is in [0, threads); no two jobs with the same `thread` run at once. */
typedef void (*pool_job)(uint32_t job, uint32_t thread, void *context);

/* Start threads that wait for work, thread i pinned to cpus[i] (NULL: no thread is pinned; if the
 * system refuses a processor, that thread runs unpinned). Returns NULL with `why` if a thread
 * cannot be started, or if `threads` is 0. */
struct pool *pool_create(uint32_t threads, const uint32_t *cpus, struct error *why);

/* Hand job(0) ... job(jobs-1) over; then wait until all are done. Call pool_wait() after each
 * pool_start(), before the next. The jobs see everything that the caller wrote before the start,
 * and the caller sees after the wait everything that they wrote. */
void pool_start(struct pool *pool, uint32_t jobs, pool_job job, void *context);
void pool_wait(struct pool *pool);

/* The same as pool_start(), but one of the threads queues the jobs and wakes the others. */
void pool_delegate(struct pool *pool, uint32_t jobs, pool_job job, void *context);

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
