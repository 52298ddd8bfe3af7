/* The pool that host figures are taken with: every job once, started or delegated. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/host/pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef void (*pool_begin)(struct pool *pool, uint32_t jobs, pool_job job, void *context);
static const pool_begin ways[] = {pool_start, pool_delegate};
enum { WAYS = sizeof ways / sizeof ways[0], MOST_JOBS = 1000, MOST_THREADS = 9 };

struct tally {
    uint32_t done[MOST_JOBS];
    atomic_int busy[MOST_THREADS];
    atomic_int collisions;
    uint32_t threads;
    uint32_t given, seen; /* written before a start, by job 0 */
};

static void count_job(uint32_t job, uint32_t thread, void *context)
{
    struct tally *tally = context;
    if (thread >= tally->threads || atomic_fetch_add(&tally->busy[thread], 1) != 0) {
        atomic_fetch_add(&tally->collisions, 1);
    }
    tally->done[job]++;
    if (job == 0) {
        tally->seen = tally->given;
    }
    atomic_fetch_sub(&tally->busy[thread], 1);
}

static struct pool *new_pool(uint32_t threads)
{
    struct error why;
    struct pool *pool = pool_create(threads, NULL, &why);
    assert_non_null(pool);
    assert_int_equal(pool_threads(pool), threads);
    return pool;
}

static void every_job_runs_once_for_any_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, MOST_THREADS}, counts[] = {0, 1, 2, 7, MOST_JOBS};
    for (size_t w = 0; w < WAYS; w++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            struct pool *pool = new_pool(sizes[s]);
            for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
                struct tally *tally = calloc(1, sizeof *tally);
                assert_non_null(tally);
                tally->threads = sizes[s];
                ways[w](pool, counts[c], count_job, tally);
                pool_wait(pool);
                for (uint32_t job = 0; job < MOST_JOBS; job++) {
                    assert_int_equal(tally->done[job], job < counts[c]);
                }
                assert_int_equal(atomic_load(&tally->collisions), 0);
                free(tally);
            }
            pool_destroy(pool);
        }
    }
}

/* Short batches in a row, where a thread may still be on its way out of the one before. */
static void batches_in_a_row_do_not_mix(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAYS; w++) {
        struct pool *pool = new_pool(4);
        struct tally *tally = calloc(1, sizeof *tally);
        assert_non_null(tally);
        tally->threads = 4;
        for (uint32_t batch = 1; batch <= 500; batch++) {
            tally->given = batch;
            ways[w](pool, 3, count_job, tally);
            pool_wait(pool);
            assert_int_equal(tally->seen, batch);
            for (uint32_t job = 0; job < 3; job++) {
                assert_int_equal(tally->done[job], batch);
            }
        }
        assert_int_equal(atomic_load(&tally->collisions), 0);
        free(tally);
        pool_destroy(pool);
    }
}

static atomic_bool may_end;

static void wait_for_the_caller(uint32_t job, uint32_t thread, void *context)
{
    (void)job;
    (void)thread;
    (void)context;
    while (!atomic_load(&may_end)) {
        sched_yield();
    }
}

/* Hangs if start() waited. */
static void start_leaves_the_caller_free(void **state)
{
    (void)state;
    for (size_t w = 0; w < WAYS; w++) {
        struct pool *pool = new_pool(2);
        atomic_store(&may_end, false);
        ways[w](pool, 2, wait_for_the_caller, NULL);
        atomic_store(&may_end, true);
        pool_wait(pool);
        pool_destroy(pool);
    }
}

static void note_processor(uint32_t job, uint32_t thread, void *context)
{
    (void)job;
    ((int *)context)[thread] = sched_getcpu();
}

static void a_pinned_thread_runs_where_it_was_asked_to(void **state)
{
    (void)state;
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) {
            continue;
        }
        struct error why;
        struct pool *pool = pool_create(1, &cpu, &why);
        assert_non_null(pool);
        int ran_on = -1;
        pool_run(pool, 1, note_processor, &ran_on);
        assert_int_equal(pool_pinned(pool), 1);
        assert_int_equal(ran_on, cpu);
        pool_destroy(pool);
    }
}

static void a_processor_that_is_not_there_leaves_a_thread_unpinned(void **state)
{
    (void)state;
    struct error why;
    const uint32_t nowhere[] = {CPU_SETSIZE - 1, UINT32_MAX};
    struct pool *pool = pool_create(2, nowhere, &why);
    assert_non_null(pool);
    assert_int_equal(pool_pinned(pool), 0);
    int ran_on[2] = {-1, -1};
    pool_run(pool, 50, note_processor, ran_on);
    assert_true(ran_on[0] >= 0 || ran_on[1] >= 0);
    pool_destroy(pool);
}

static void a_pool_of_no_threads_is_refused(void **state)
{
    (void)state;
    struct error why;
    assert_null(pool_create(0, NULL, &why));
    assert_non_null(strstr(why.found, "at least one thread"));
    pool_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_runs_once_for_any_size),
        cmocka_unit_test(batches_in_a_row_do_not_mix),
        cmocka_unit_test(start_leaves_the_caller_free),
        cmocka_unit_test(a_pinned_thread_runs_where_it_was_asked_to),
        cmocka_unit_test(a_processor_that_is_not_there_leaves_a_thread_unpinned),
        cmocka_unit_test(a_pool_of_no_threads_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
