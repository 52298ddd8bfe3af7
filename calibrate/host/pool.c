/* Batches are numbered. A thread that is done with batch n waits for the number to change; the
 * caller sets up jobs and `working`, then raises the number. The last thread to find no job left
 * sets `working` to 0, for which the caller waits. So no thread still uses a batch when the next is
 * set up, and `next` needs no number of its own.
 *
 * The three ways differ only in how they wait for a word to change and how they signal the change.
 */
#include "calibrate/host/pool.h"

#include "base/array.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A word that one side changes and the other waits for, on a cache line of its own. */
struct signal {
    _Alignas(64) atomic_uint word;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

struct worker {
    struct pool *pool;
    pthread_t id;
    uint32_t thread;
};

struct pool {
    struct signal batch;           /* number of the batch; raised by the caller */
    struct signal working;         /* threads that have not found the end of the batch */
    _Alignas(64) atomic_uint next; /* first job that no thread took */
    uint32_t jobs;
    pool_job job; /* NULL: the threads end */
    void *context;
    enum pool_handoff handoff;
    uint32_t threads, pinned;
    struct worker *workers;
};

/* ---- the three ways ---- */

static void condition_wait(struct signal *signal, unsigned is)
{
    pthread_mutex_lock(&signal->mutex);
    while (atomic_load_explicit(&signal->word, memory_order_acquire) == is) {
        pthread_cond_wait(&signal->changed, &signal->mutex);
    }
    pthread_mutex_unlock(&signal->mutex);
}

/* Once we hold the mutex, a thread that saw the old word under it is asleep, and will be woken. */
static void condition_tell(struct signal *signal)
{
    pthread_mutex_lock(&signal->mutex);
    pthread_cond_broadcast(&signal->changed);
    pthread_mutex_unlock(&signal->mutex);
}

static void futex_wait(struct signal *signal, unsigned is)
{
    while (atomic_load_explicit(&signal->word, memory_order_acquire) == is) {
        syscall(SYS_futex, &signal->word, FUTEX_WAIT_PRIVATE, is, NULL, NULL, 0);
    }
}

static void futex_tell(struct signal *signal)
{
    syscall(SYS_futex, &signal->word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static inline void spin_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Some tens of microseconds: longer than a hand-off on free processors. */
enum { SPINS_BEFORE_YIELD = 1024 };

static void spin_wait(struct signal *signal, unsigned is)
{
    for (unsigned spins = 1; atomic_load_explicit(&signal->word, memory_order_acquire) == is;
         spins++) {
        if (spins % SPINS_BEFORE_YIELD == 0) {
            sched_yield();
        }
        spin_pause();
    }
}

static void spin_tell(struct signal *signal)
{
    (void)signal; /* spinning threads see the word change */
}

static const struct {
    void (*wait)(struct signal *signal, unsigned is); /* until the word is not `is` */
    void (*tell)(struct signal *signal);              /* wake all waiting threads after a change */
} ways[] = {
    [POOL_CONDITION] = {condition_wait, condition_tell},
    [POOL_FUTEX] = {futex_wait, futex_tell},
    [POOL_SPIN] = {spin_wait, spin_tell},
};

/* ---- threads ---- */

static void take_jobs(struct pool *pool, uint32_t thread)
{
    for (;;) {
        uint32_t job = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (job >= pool->jobs) {
            return;
        }
        pool->job(job, thread, pool->context);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct pool *pool = worker->pool;
    for (unsigned done = 0;; done++) {
        ways[pool->handoff].wait(&pool->batch, done);
        if (pool->job == NULL) {
            return NULL;
        }
        take_jobs(pool, worker->thread);
        if (atomic_fetch_sub_explicit(&pool->working.word, 1, memory_order_acq_rel) == 1) {
            ways[pool->handoff].tell(&pool->working);
        }
    }
}

/* Start a thread on its processor, so that it never touches memory of another node first. */
static bool start_worker(struct pool *pool, uint32_t thread, const uint32_t *cpus)
{
    struct worker *worker = &pool->workers[thread];
    *worker = (struct worker){.pool = pool, .thread = thread};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    bool can_pin = cpus != NULL && cpus[thread] < CPU_SETSIZE;
    if (can_pin) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpus[thread], &set);
        pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    bool pinned = can_pin && pthread_create(&worker->id, &attributes, work, worker) == 0;
    bool started = pinned || pthread_create(&worker->id, NULL, work, worker) == 0;
    pthread_attr_destroy(&attributes);
    pool->pinned += pinned;
    return started;
}

/* ---- the pool ---- */

static void signal_init(struct signal *signal)
{
    atomic_init(&signal->word, 0);
    pthread_mutex_init(&signal->mutex, NULL);
    pthread_cond_init(&signal->changed, NULL);
}

static void signal_release(struct signal *signal)
{
    pthread_cond_destroy(&signal->changed);
    pthread_mutex_destroy(&signal->mutex);
}

struct pool *pool_create(uint32_t threads, const uint32_t *cpus, enum pool_handoff handoff,
                         struct error *why)
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
    *pool = (struct pool){.handoff = handoff};
    signal_init(&pool->batch);
    signal_init(&pool->working);
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

void pool_start(struct pool *pool, uint32_t jobs, pool_job job, void *context)
{
    pool->job = job;
    pool->jobs = jobs;
    pool->context = context;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->working.word, pool->threads, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->batch.word, 1, memory_order_release);
    ways[pool->handoff].tell(&pool->batch);
}

/* Every thread that ends changes the word; the caller waits for 0. */
void pool_wait(struct pool *pool)
{
    unsigned left;
    while ((left = atomic_load_explicit(&pool->working.word, memory_order_acquire)) != 0) {
        ways[pool->handoff].wait(&pool->working, left);
    }
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
    pool_start(pool, 0, NULL, NULL);
    for (uint32_t i = 0; i < pool->threads; i++) {
        pthread_join(pool->workers[i].id, NULL);
    }
    signal_release(&pool->working);
    signal_release(&pool->batch);
    free(pool->workers);
    free(pool);
}
