/* Loops on threads: every item once, scratch memory to itself, one answer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static const uint32_t thread_counts[] = {1, 2, 3, 7, 32};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0], ITEMS = 5000 };

struct tally {
    uint32_t done[ITEMS];
    atomic_int busy[32]; /* by thread */
    atomic_int collisions;
    uint32_t threads;
};

static bool count_item(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    (void)why;
    struct tally *tally = context;
    if (thread >= tally->threads || atomic_fetch_add(&tally->busy[thread], 1) != 0) {
        atomic_fetch_add(&tally->collisions, 1);
    }
    tally->done[index]++;
    atomic_fetch_sub(&tally->busy[thread], 1);
    return true;
}

static void every_item_runs_once_and_alone_on_its_thread(void **state)
{
    (void)state;
    for (size_t t = 0; t < THREAD_COUNTS; t++) {
        struct tally *tally = calloc(1, sizeof *tally);
        assert_non_null(tally);
        tally->threads = thread_counts[t];
        struct error why;
        assert_true(parallel_for(ITEMS, thread_counts[t], count_item, tally, &why));
        for (uint32_t i = 0; i < ITEMS; i++) {
            assert_int_equal(tally->done[i], 1);
        }
        assert_int_equal(atomic_load(&tally->collisions), 0);
        free(tally);
    }
}

/* Fails at two indices; the higher fails at once, the lower after a while. */
static bool fail_twice(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    (void)thread;
    (void)context;
    if (index == 40) {
        usleep(2000);
    }
    return (index != 40 && index != 41) || error_set(why, "item", (int)index, "failed");
}

static void of_several_failures_the_lowest_is_reported(void **state)
{
    (void)state;
    for (size_t t = 0; t < THREAD_COUNTS; t++) {
        for (int round = 0; round < 20; round++) {
            struct error why;
            assert_false(parallel_for(1000, thread_counts[t], fail_twice, NULL, &why));
            assert_int_equal(why.line, 40);
        }
    }
}

static bool never(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    (void)index;
    (void)thread;
    (void)context;
    return error_set(why, NULL, 0, "called");
}

static void no_items_is_no_work(void **state)
{
    (void)state;
    struct error why;
    assert_true(parallel_for(0, 4, never, NULL, &why));
}

static void success_leaves_the_error_alone(void **state)
{
    (void)state;
    struct tally *tally = calloc(1, sizeof *tally);
    assert_non_null(tally);
    tally->threads = 2;
    struct error why = {.line = 77};
    assert_true(parallel_for(10, 2, count_item, tally, &why));
    assert_int_equal(why.line, 77);
    free(tally);
}

static void zero_threads_means_one_a_processor(void **state)
{
    (void)state;
    assert_in_range(parallel_threads(0), 1, 256);
    assert_int_equal(parallel_threads(3), 3);
    assert_int_equal(parallel_threads(UINT32_MAX), 256);
}

/* ---- cores ---- */

struct crowd {
    struct cores *cores;
    int wanted; /* items wait until so many worked at once: on a busy machine a thread comes late */
    atomic_int working, most, done;
};

enum { LONGEST_WAIT = 50000 }; /* of 200 us: a thread that never comes fails the test */

/* Note how many work at once. */
static bool crowd_item(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    struct crowd *crowd = context;
    (void)thread;
    int now = atomic_fetch_add(&crowd->working, 1) + 1, most = atomic_load(&crowd->most);
    while (now > most && !atomic_compare_exchange_weak(&crowd->most, &most, now)) {
    }
    usleep(200);
    for (int i = 0; i < LONGEST_WAIT && atomic_load(&crowd->most) < crowd->wanted; i++) {
        usleep(200);
    }
    atomic_fetch_sub(&crowd->working, 1);
    atomic_fetch_add(&crowd->done, 1);
    return index != 40 || error_set(why, NULL, 0, "item 40");
}

static void *take_part(void *context)
{
    struct crowd *crowd = context;
    struct error why;
    cores_take(crowd->cores);
    assert_true(parallel_for_on(crowd->cores, 30, 0, crowd_item, crowd, &why));
    cores_give(crowd->cores);
    return NULL;
}

/* Three loops at once, each of which would like all four cores. */
static void loops_share_cores(void **state)
{
    struct error why;
    struct crowd crowd = {.cores = cores_create(4, &why), .wanted = 2};
    pthread_t threads[3];
    (void)state;
    assert_non_null(crowd.cores);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_part, &crowd), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(crowd.done, 90);
    assert_in_range(crowd.most, 2, 4);
    cores_destroy(crowd.cores);
}

/* A thread that waits gives its core back: of one core, a loop keeps what its caller holds. */
static void a_loop_needs_no_core_but_its_own(void **state)
{
    struct error why;
    struct crowd crowd = {.cores = cores_create(3, &why)};
    (void)state;
    cores_take(crowd.cores); /* others hold two of them throughout */
    cores_take(crowd.cores);
    cores_take(crowd.cores);
    assert_true(parallel_for_on(crowd.cores, 30, 0, crowd_item, &crowd, &why));
    assert_int_equal(crowd.most, 1);
    assert_false(parallel_for_on(crowd.cores, 60, 0, crowd_item, &crowd, &why));
    assert_string_equal(why.found, "item 40");
    cores_give(crowd.cores);
    cores_give(crowd.cores);
    crowd.wanted = 2;
    assert_true(parallel_for_on(crowd.cores, 30, 0, crowd_item, &crowd, &why));
    assert_in_range(crowd.most, 2, 3);
    cores_destroy(crowd.cores);
}

/* A core that a thread said it would take stays free for it, however late that thread runs. */
static void helpers_leave_an_awaited_core(void **state)
{
    struct error why;
    struct crowd crowd = {.cores = cores_create(2, &why)};
    (void)state;
    cores_take(crowd.cores);
    cores_await(crowd.cores);
    assert_true(parallel_for_on(crowd.cores, 30, 0, crowd_item, &crowd, &why));
    assert_int_equal(crowd.most, 1);
    cores_take_awaited(crowd.cores);
    cores_give(crowd.cores);
    crowd.wanted = 2;
    assert_true(parallel_for_on(crowd.cores, 30, 0, crowd_item, &crowd, &why));
    assert_int_equal(crowd.most, 2);
    cores_destroy(crowd.cores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once_and_alone_on_its_thread),
        cmocka_unit_test(of_several_failures_the_lowest_is_reported),
        cmocka_unit_test(no_items_is_no_work),
        cmocka_unit_test(success_leaves_the_error_alone),
        cmocka_unit_test(zero_threads_means_one_a_processor),
        cmocka_unit_test(loops_share_cores),
        cmocka_unit_test(a_loop_needs_no_core_but_its_own),
        cmocka_unit_test(helpers_leave_an_awaited_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
