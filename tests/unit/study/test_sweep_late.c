/* Workers that wake late and setups that take their time: a sweep over a store that has most of its
 * points hands each of them over once, and runs once each that the store lacks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "predict/scenario/scenario.h"
#include "study/sweep/replication.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/store_folder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the sweep calls instead of the real ones ---- */

enum { LATE_POINTS = 6, LATE_POLLS = 100, POLL_US = 50, BUILDING_US = 500 };

static atomic_uint runs, resolved;

/* As pthread_cond_wait(), which may come back late: here when the ring has gone round and a slot of
 * it is being built, unless nothing moves because this worker is waited for. */
static int late_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    int code = pthread_cond_wait(condition, lock);
    pthread_mutex_unlock(lock);
    uint32_t target = atomic_load(&resolved) + LATE_POINTS;
    for (int i = 0; i < LATE_POLLS && atomic_load(&resolved) < target; i++) {
        usleep(POLL_US);
    }
    pthread_mutex_lock(lock);
    return code;
}

static bool slow_point(const struct scenario *scenario, uint32_t index, struct point *out,
                       struct error *why)
{
    atomic_fetch_add(&resolved, 1);
    usleep(BUILDING_US);
    return scenario_point(scenario, index, out, why);
}

/* A run of which only the identity matters. */
static bool counted_run(const struct point *point, uint32_t draws,
                        const struct run_context *context, struct result *result, struct error *why)
{
    char run[17];
    (void)draws;
    (void)context;
    atomic_fetch_add(&runs, 1);
    if (point->scenario == NULL) {
        return error_set(why, NULL, 0, "a point was run that is not resolved yet");
    }
    result_init(result);
    return run_identity(point, run, why) && result_text(result, COLUMN(run), run, why);
}

#define pthread_cond_wait late_cond_wait
#define scenario_point slow_point
#define replication_run counted_run
#include "study/sweep/sweep.c"
#undef pthread_cond_wait
#undef scenario_point
#undef replication_run

/* ---- sweeps ---- */

static const char *const overrides[] = {
    "model=smollm2-135m",
    "hardware=a40",
    "system=fullattn",
    "context=512",
    "sweep={batch: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], seed: [1, 2, 3, 4, 5, 6]}",
};
enum { OVERRIDES = sizeof overrides / sizeof overrides[0], POINTS = 60 };

/* The runs in the order they came; of a first sweep, most are stored. */
struct seen {
    char runs[POINTS][20];
    uint32_t count;
    struct store *keep;
    uint32_t fresh_each; /* of so many points one is not kept */
};

static bool see(uint32_t index, struct result *result, void *context, struct error *why)
{
    struct seen *seen = context;
    assert_int_equal(index, seen->count);
    snprintf(seen->runs[seen->count++], sizeof seen->runs[0], "%s",
             result_cell(result, COLUMN(run))->text);
    return seen->keep == NULL || index % seen->fresh_each == seen->fresh_each - 1 ||
           store_put(seen->keep, result, why);
}

static void sweep_into(struct seen *seen, struct store *store, uint32_t jobs)
{
    struct scenario scenario;
    struct error why = {0};
    assert_true(scenario_load(NULL, 0, overrides, OVERRIDES, &scenario, &why));
    assert_int_equal(scenario.points, POINTS);
    struct run_context context;
    assert_true(run_context_init(&context, sweep_users(jobs, false), NULL, &why));
    struct sweep_options options = {
        .store = store, .runs = &context, .jobs = jobs, .on_result = see, .context = seen};
    if (!sweep_run(&scenario, &options, &why)) {
        fail_msg("%u jobs: %s", jobs, why.found);
    }
    assert_int_equal(seen->count, POINTS);
    run_context_release(&context);
    scenario_release(&scenario);
}

/* Of `fresh_each` points the store lacks one (and none of all, when there are fewer points). */
static void assert_each_point_once(uint32_t fresh_each, uint32_t jobs)
{
    struct error why;
    struct store *store = store_open(path, true, &why);
    assert_non_null(store);
    struct seen first = {.keep = store, .fresh_each = fresh_each}, second = {.count = 0};
    sweep_into(&first, NULL, 2);
    atomic_store(&runs, 0);
    sweep_into(&second, store, jobs);
    assert_int_equal(atomic_load(&runs), POINTS / fresh_each);
    assert_memory_equal(first.runs, second.runs, sizeof first.runs);
    store_close(store);
    unlink(path);
}

static int leave(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* ---- tests ---- */

static void late_workers_run_each_missing_point_once(void **state)
{
    (void)state;
    static const uint32_t fresh_each[] = {2, 5, POINTS + 1};
    for (size_t i = 0; i < ROUNDS(sizeof fresh_each / sizeof fresh_each[0], 1); i++) {
        for (uint32_t jobs = 1; jobs <= 2; jobs++) {
            assert_each_point_once(fresh_each[i], jobs);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(late_workers_run_each_missing_point_once, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
