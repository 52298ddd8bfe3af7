/* Indices are handed out in ascending order, and none after a failure is seen. So every index below
 * a failing one has been handed out and runs to its end: the lowest failing index is always the same. */
#include "core/parallel.h"

#include "core/array.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- cores and threads ---- */

struct cores {
    uint32_t count, free;
    uint32_t awaited;     /* by cores_await(): these come before threads that help */
    pthread_mutex_t lock; /* of `free` and `awaited` */
    pthread_cond_t given;
};

struct cores *cores_create(uint32_t count, struct error *why)
{
    struct cores *cores = array_zeroed(1, sizeof *cores, why);
    if (cores != NULL) {
        cores->count = cores->free = count;
        pthread_mutex_init(&cores->lock, NULL);
        pthread_cond_init(&cores->given, NULL);
    }
    return cores;
}

void cores_destroy(struct cores *cores)
{
    if (cores != NULL) {
        pthread_cond_destroy(&cores->given);
        pthread_mutex_destroy(&cores->lock);
        free(cores);
    }
}

/* For a thread that helps others, and takes a core for each item: wait for a free core that no
 * cores_take() waits for, and take it. Otherwise helpers would take again at once what they give
 * back, and a run could wait for all of another's work. Returns false if *ended holds first.
 * Whoever sets *ended calls cores_give() afterwards. */
static bool cores_take_unless(struct cores *cores, const atomic_bool *ended)
{
    if (cores == NULL) {
        return true;
    }
    pthread_mutex_lock(&cores->lock);
    while (cores->free <= cores->awaited && !atomic_load(ended)) {
        pthread_cond_wait(&cores->given, &cores->lock);
    }
    bool taken = !atomic_load(ended);
    cores->free -= taken;
    pthread_mutex_unlock(&cores->lock);
    return taken;
}

void cores_await(struct cores *cores)
{
    if (cores != NULL) {
        pthread_mutex_lock(&cores->lock);
        cores->awaited++;
        pthread_mutex_unlock(&cores->lock);
    }
}

void cores_take_awaited(struct cores *cores)
{
    if (cores == NULL) {
        return;
    }
    pthread_mutex_lock(&cores->lock);
    while (cores->free == 0) {
        pthread_cond_wait(&cores->given, &cores->lock);
    }
    cores->awaited--;
    cores->free--;
    pthread_mutex_unlock(&cores->lock);
}

void cores_take(struct cores *cores)
{
    cores_await(cores);
    cores_take_awaited(cores);
}

void cores_give(struct cores *cores)
{
    if (cores != NULL) {
        pthread_mutex_lock(&cores->lock);
        cores->free++;
        pthread_cond_broadcast(
            &cores->given); /* not only a thread that has to let another go first */
        pthread_mutex_unlock(&cores->lock);
    }
}

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

bool threads_start(struct threads *threads, uint32_t count, void *(*work)(void *context),
                   void *context, size_t size, struct error *why)
{
    sigset_t all, old;
    *threads = (struct threads){.ids = array_zeroed(count, sizeof *threads->ids, why)};
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sigdelset(&all, faults[i]); /* a thread takes its own faults */
    }
    pthread_sigmask(SIG_BLOCK, &all, &old);
    while (threads->ids != NULL && threads->count < count &&
           pthread_create(&threads->ids[threads->count], NULL, work,
                          (char *)context + threads->count * size) == 0) {
        threads->count++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return threads->ids != NULL;
}

void threads_join(struct threads *threads)
{
    for (uint32_t i = 0; i < threads->count; i++) {
        pthread_join(threads->ids[i], NULL);
    }
    free(threads->ids);
}

/* ---- loops ---- */

enum { MOST_THREADS = 256 };

struct loop {
    parallel_item item;
    void *context;
    uint32_t count;
    atomic_uint_fast64_t next; /* wider than an index: every thread takes one past the end */
    atomic_bool failed, ended;
    struct cores *cores; /* NULL: nobody counts */
};

struct parallel_worker {
    struct loop *loop;
    uint32_t thread;
    uint64_t failing; /* the index that failed here; UINT64_MAX if none did */
    struct error why;
};

/* Do the next item; false if there is none left, or after a failure. */
static bool parallel_work_once(struct parallel_worker *worker)
{
    struct loop *loop = worker->loop;
    uint64_t index = loop->count;
    if (!atomic_load(&loop->failed)) {
        index = atomic_fetch_add(&loop->next, 1);
    }
    if (index >= loop->count) {
        return false;
    }
    if (!loop->item((uint32_t)index, worker->thread, loop->context, &worker->why)) {
        worker->failing = index;
        atomic_store(&loop->failed, true);
    }
    return true;
}

/* The other threads take a core for each item. */
static void *parallel_work(void *argument)
{
    struct parallel_worker *worker = argument;
    struct loop *loop = worker->loop;
    bool more = true;
    while (more && cores_take_unless(loop->cores, &loop->ended)) {
        more = parallel_work_once(worker);
        cores_give(loop->cores);
    }
    return NULL;
}

uint32_t parallel_threads(uint32_t threads)
{
    if (threads == 0) {
        cpu_set_t set;
        int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
        threads = (uint32_t)processors;
    }
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

bool parallel_for_on(struct cores *cores, uint32_t count, uint32_t threads, parallel_item item,
                     void *context, struct error *why)
{
    if (count == 0) {
        return true;
    }
    threads = parallel_threads(cores != NULL ? cores->count : threads);
    threads = threads < count ? threads : count;
    struct parallel_worker *workers = array_zeroed(threads, sizeof *workers, why);
    if (workers == NULL) {
        return false;
    }
    struct loop loop = {.item = item, .context = context, .count = count, .cores = cores};
    for (uint32_t t = 0; t < threads; t++) {
        workers[t] = (struct parallel_worker){.loop = &loop, .thread = t, .failing = UINT64_MAX};
    }
    struct threads others; /* the caller is worker 0; if there are fewer, it does their work */
    if (!threads_start(&others, threads - 1, parallel_work, workers + 1, sizeof *workers, why)) {
        free(workers);
        return false;
    }
    while (parallel_work_once(&workers[0])) { /* the caller's thread holds its core throughout */
    }
    atomic_store(&loop.ended, true);
    cores_give(cores); /* while it waits for the others' last items */
    threads_join(&others);
    cores_take(cores);
    uint64_t lowest = UINT64_MAX; /* failing index */
    for (uint32_t t = 0; t < threads; t++) {
        if (workers[t].failing < lowest) {
            lowest = workers[t].failing;
            *why = workers[t].why;
        }
    }
    free(workers);
    return lowest == UINT64_MAX;
}

bool parallel_for(uint32_t count, uint32_t threads, parallel_item item, void *context,
                  struct error *why)
{
    return parallel_for_on(NULL, count, threads, item, context, why);
}
