/* The queue is a range of jobs of one batch: [next, jobs). Its mutex guards it and everything that
 * a thread reads of a batch. `left` counts the jobs that have not ended, and a delegated batch's
 * queueing as one; the thread that brings it to 0 wakes the caller.
 */
#include "calibrate/host/pool.h"

#include "core/array.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct pool_worker {
    struct pool *pool;
    pthread_t id;
    uint32_t thread;
};

struct pool {
    pthread_mutex_t queue;
    pthread_cond_t queued; /* threads sleep on it */
    uint32_t next, jobs;   /* jobs that no thread has taken */
    uint32_t delegated;    /* jobs that a thread shall queue */
    bool delegates, ends;  /* a thread shall queue a batch; the threads shall end */
    pool_job job;
    void *context;

    _Alignas(64) atomic_uint left;
    pthread_mutex_t caller;
    pthread_cond_t done; /* the caller sleeps on it */

    uint32_t threads, pinned;
    struct pool_worker *workers;
};

/* ---- threads ---- */

/* A job, or the queueing of a batch, has ended. */
static void end_one(struct pool *pool)
{
    if (atomic_fetch_sub_explicit(&pool->left, 1, memory_order_acq_rel) == 1) {
        pthread_mutex_lock(&pool->caller);
        pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->caller);
    }
}

static void queue_delegated(struct pool *pool)
{
    pthread_mutex_lock(&pool->queue);
    pool->next = 0;
    pool->jobs = pool->delegated;
    atomic_fetch_add_explicit(&pool->left, pool->jobs, memory_order_relaxed);
    pthread_mutex_unlock(&pool->queue);
    pthread_cond_broadcast(&pool->queued);
}

/* Wait for work, and do one piece of it. Returns false when the pool ends. */
static bool pool_work_once(struct pool *pool, uint32_t thread)
{
    pthread_mutex_lock(&pool->queue);
    while (!pool->delegates && !pool->ends && pool->next == pool->jobs) {
        pthread_cond_wait(&pool->queued, &pool->queue);
    }
    bool delegates = pool->delegates, ends = pool->ends;
    pool->delegates = false;
    uint32_t job = delegates || ends ? 0 : pool->next++;
    pool_job run = pool->job;
    void *context = pool->context;
    pthread_mutex_unlock(&pool->queue);
    if (ends) {
        return false;
    }
    if (delegates) {
        queue_delegated(pool);
    } else {
        run(job, thread, context);
    }
    end_one(pool);
    return true;
}

static void *pool_work(void *argument)
{
    struct pool_worker *worker = argument;
    while (pool_work_once(worker->pool, worker->thread)) {
    }
    return NULL;
}

/* Start a thread on its processor, so that it never touches memory of another node first. */
static bool start_worker(struct pool *pool, uint32_t thread, const uint32_t *cpus)
{
    struct pool_worker *worker = &pool->workers[thread];
    *worker = (struct pool_worker){.pool = pool, .thread = thread};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    bool can_pin = cpus != NULL && cpus[thread] < CPU_SETSIZE;
    if (can_pin) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpus[thread], &set);
        pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    bool pinned = can_pin && pthread_create(&worker->id, &attributes, pool_work, worker) == 0;
    bool started = pinned || pthread_create(&worker->id, NULL, pool_work, worker) == 0;
    pthread_attr_destroy(&attributes);
    pool->pinned += pinned;
    return started;
}

/* ---- the pool ---- */

struct pool *pool_create(uint32_t threads, const uint32_t *cpus, struct error *why)
{
    if (threads == 0) {
        error_set(why, NULL, 0, "a pool needs at least one thread");
        return NULL;
    }
    struct pool *pool = aligned_alloc(_Alignof(struct pool), sizeof *pool);
    if (pool == NULL) {
        error_set(why, NULL, 0, "no memory for a pool of %u threads", threads);
        return NULL;
    }
    *pool = (struct pool){.next = 0};
    atomic_init(&pool->left, 0);
    pthread_mutex_init(&pool->queue, NULL);
    pthread_cond_init(&pool->queued, NULL);
    pthread_mutex_init(&pool->caller, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->workers = array_zeroed(threads, sizeof *pool->workers, why);
    while (pool->workers != NULL && pool->threads < threads) {
        if (!start_worker(pool, pool->threads, cpus)) {
            error_set(why, NULL, 0, "thread %u of a pool of %u cannot be started", pool->threads,
                      threads);
            break;
        }
        pool->threads++;
    }
    if (pool->workers == NULL || pool->threads < threads) {
        pool_destroy(pool);
        return NULL;
    }
    return pool;
}

/* Describe a batch; with the queue's mutex held. */
static void pool_set_batch(struct pool *pool, pool_job job, void *context)
{
    pool->job = job;
    pool->context = context;
}

void pool_start(struct pool *pool, uint32_t jobs, pool_job job, void *context)
{
    pthread_mutex_lock(&pool->queue);
    pool_set_batch(pool, job, context);
    pool->next = 0;
    pool->jobs = jobs;
    atomic_store_explicit(&pool->left, jobs, memory_order_relaxed);
    pthread_mutex_unlock(&pool->queue);
    pthread_cond_broadcast(&pool->queued);
}

void pool_delegate(struct pool *pool, uint32_t jobs, pool_job job, void *context)
{
    pthread_mutex_lock(&pool->queue);
    pool_set_batch(pool, job, context);
    pool->delegated = jobs;
    pool->delegates = true;
    atomic_store_explicit(&pool->left, 1, memory_order_relaxed);
    pthread_mutex_unlock(&pool->queue);
    pthread_cond_signal(&pool->queued);
}

void pool_wait(struct pool *pool)
{
    pthread_mutex_lock(&pool->caller);
    while (atomic_load_explicit(&pool->left, memory_order_acquire) != 0) {
        pthread_cond_wait(&pool->done, &pool->caller);
    }
    pthread_mutex_unlock(&pool->caller);
}

void pool_run(struct pool *pool, uint32_t jobs, pool_job job, void *context)
{
    pool_start(pool, jobs, job, context);
    pool_wait(pool);
}

uint32_t pool_threads(const struct pool *pool)
{
    return pool->threads;
}

uint32_t pool_pinned(const struct pool *pool)
{
    return pool->pinned;
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->queue);
    pool->ends = true;
    pthread_mutex_unlock(&pool->queue);
    pthread_cond_broadcast(&pool->queued);
    for (uint32_t i = 0; i < pool->threads; i++) {
        pthread_join(pool->workers[i].id, NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->caller);
    pthread_cond_destroy(&pool->queued);
    pthread_mutex_destroy(&pool->queue);
    free(pool->workers);
    free(pool);
}
