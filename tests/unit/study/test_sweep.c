/* Sweeps: the same results in the same order for any number of threads, resumed or not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/sweep/sweep.h"
#include "unit/fixture/same_result.h"
#include "unit/fixture/store_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Twelve points; the order in which they are given is the order of their runs. */
static const char *const overrides[] = {
    "model=smollm2-135m",
    "hardware=a40",
    "context=3840",
    "steps=8",
    "sweep={system: [fullattn, retroinfer, litecache], batch: [1, 2, 3, 4]}",
};
enum { OVERRIDES = sizeof overrides / sizeof overrides[0], POINTS = 12 };

/* What a sweep handed over: the runs in order, and at which one to stop it or to fail. */
struct seen {
    char runs[POINTS * 20];
    uint32_t count, told; /* of progress, beginning with none */
    int raise_at, fail_at;
    struct sweep_failures failures;
    struct stop_flag stop;
};

static bool see(uint32_t index, struct result *result, void *context, struct error *why)
{
    struct seen *seen = context;
    assert_int_equal(index, seen->count);
    const struct cell *run = result_cell(result, COLUMN(run));
    strcat(seen->runs, run->set ? run->text : "failed");
    strcat(seen->runs, " ");
    seen->count++;
    sweep_count(&seen->failures, result);
    if (seen->raise_at == (int)index) {
        atomic_store(&seen->stop.raised, true);
    }
    return seen->fail_at != (int)index || error_set(why, NULL, 0, "enough");
}

static void see_progress(uint32_t done, uint32_t points, double share, void *context)
{
    struct seen *seen = context;
    assert_int_equal(points, POINTS);
    assert_in_range(done, seen->told > 0 ? seen->told - 1 : 0, seen->told);
    assert_true(share >= 0 && share <= 1);
    seen->told = done + 1;
}

static struct scenario load(void)
{
    struct scenario scenario;
    struct error why = {0};
    if (!scenario_load(NULL, 0, overrides, OVERRIDES, &scenario, &why)) {
        fail_msg("%s", why.found);
    }
    assert_int_equal(scenario.points, POINTS);
    return scenario;
}

static void begin(struct run_context *runs, uint32_t jobs, struct seen *seen)
{
    struct error why;
    assert_true(run_context_init(runs, sweep_users(jobs, false), &seen->stop, &why));
}

/* Sweep with these; `seen` says when to stop. */
static bool sweep(struct store *store, uint32_t jobs, struct seen *seen, struct error *why)
{
    struct scenario scenario = load();
    struct run_context runs;
    begin(&runs, jobs, seen);
    struct sweep_options options = {.store = store,
                                    .runs = &runs,
                                    .jobs = jobs,
                                    .on_result = see,
                                    .on_progress = see_progress,
                                    .context = seen};
    bool ok = sweep_run(&scenario, &options, why);
    run_context_release(&runs);
    scenario_release(&scenario);
    return ok;
}

static void sweep_all(struct store *store, uint32_t jobs, struct seen *seen)
{
    struct error why = {0};
    *seen = (struct seen){.raise_at = -1, .fail_at = -1};
    if (!sweep(store, jobs, seen, &why)) {
        fail_msg("%s", why.found);
    }
    assert_int_equal(seen->count, POINTS);
}

/* ---- stores ---- */

static int leave(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static struct store *open_store(void)
{
    struct error why;
    struct store *store = store_open(path, true, &why);
    assert_non_null(store);
    return store;
}

static bool append(uint32_t count, const char *const *names, const char *const *values,
                   void *context, struct error *why)
{
    (void)count;
    (void)names;
    (void)why;
    strcat(context, values[0]);
    strcat(context, " ");
    return true;
}

static void stored_runs(struct store *store, char *runs)
{
    struct error why;
    runs[0] = '\0';
    assert_true(store_query(store, "SELECT run FROM runs ORDER BY rowid", append, runs, &why));
}

/* ---- tests ---- */

static void any_number_of_threads_delivers_in_point_order(void **state)
{
    (void)state;
    struct seen one, two, many;
    sweep_all(NULL, 1, &one);
    sweep_all(NULL, 2, &two);
    sweep_all(NULL, 16, &many);
    assert_string_equal(one.runs, two.runs);
    assert_string_equal(one.runs, many.runs);
}

static void every_result_is_stored_once_in_order(void **state)
{
    (void)state;
    char runs[POINTS * 20];
    struct seen seen, again;
    struct store *store = open_store();
    sweep_all(store, 2, &seen);
    stored_runs(store, runs);
    assert_string_equal(runs, seen.runs);
    sweep_all(store, 2, &again); /* all read back */
    assert_string_equal(again.runs, seen.runs);
    stored_runs(store, runs);
    assert_string_equal(runs, seen.runs);
    store_close(store);
}

static void a_stop_keeps_what_is_stored_and_a_resumed_sweep_ends_the_same(void **state)
{
    (void)state;
    struct error why;
    char runs[POINTS * 20];
    struct seen whole, seen = {.raise_at = 4, .fail_at = -1};
    struct store *store = open_store();
    assert_false(sweep(store, 2, &seen, &why));
    assert_int_equal(why.kind, ERROR_INTERRUPTED);
    assert_int_equal(seen.count, 5);
    stored_runs(store, runs);
    assert_string_equal(runs, seen.runs);
    sweep_all(store, 2, &whole);
    stored_runs(store, runs);
    assert_string_equal(runs, whole.runs);
    store_close(store);
}

/* The second point would take an hour, most of it to make its trace: whoever waits for it fails. */
static void a_stop_ends_a_replay_in_the_midst_of_it(void **state)
{
    (void)state;
    static const char *const slow[] = {
        "model=llama-3-8b",      "hardware=a40",
        "trace=llama-3-8b-like", "steps=4096",
        "host_memory=4TiB",      "sweep={system: [fullattn, retroinfer], context: [2K, 1M]}",
    };
    struct scenario scenario;
    struct error why;
    struct seen seen = {.raise_at = 1, .fail_at = -1};
    assert_true(scenario_load(NULL, 0, slow, sizeof slow / sizeof slow[0], &scenario, &why));
    struct run_context runs;
    begin(&runs, 2, &seen);
    struct sweep_options options = {.runs = &runs, .jobs = 2, .on_result = see, .context = &seen};
    sources_watch(scenario.sources, runs.stop);
    assert_false(sweep_run(&scenario, &options, &why));
    assert_int_equal(why.kind, ERROR_INTERRUPTED);
    assert_int_equal(seen.count, 2);
    run_context_release(&runs);
    scenario_release(&scenario);
}

static void an_error_of_the_receiver_ends_the_sweep(void **state)
{
    (void)state;
    struct error why;
    struct seen seen = {.raise_at = -1, .fail_at = 3};
    assert_false(sweep(NULL, 2, &seen, &why));
    assert_string_equal(why.found, "enough");
    assert_int_equal(seen.count, 4);
}

static void a_point_that_fails_stops_no_other(void **state)
{
    (void)state;
    static const char *const bad[] = {"model=smollm2-135m", "hardware=a40", "system=retroinfer",
                                      "context=3840", "sweep={steps: [8, 4, 1000000, 2]}"};
    struct scenario scenario;
    struct error why;
    struct seen seen = {.raise_at = -1, .fail_at = -1};
    assert_true(scenario_load(NULL, 0, bad, 5, &scenario, &why));
    struct run_context runs;
    begin(&runs, 4, &seen);
    struct sweep_options options = {.runs = &runs, .jobs = 4, .on_result = see, .context = &seen};
    assert_true(sweep_run(&scenario, &options, &why));
    assert_int_equal(seen.count, 4);
    assert_int_equal(seen.failures.failed, 1);
    assert_false(sweep_all_ran(&seen.failures, &why));
    assert_string_equal(why.found, "1 of 4 runs failed: 'steps' is '1000000', which is more than "
                                   "65536");
    assert_true(sweep_has_point(&scenario, &why));
    run_context_release(&runs);
    scenario_release(&scenario);
}

/* A typing mistake in what all points share is an error, and no sweep of failures. */
static void where_all_points_lack_the_same_that_is_the_error(void **state)
{
    (void)state;
    static const char *const bad[] = {"model=smollm2-135m", "hardware=a40", "system=retroinfr",
                                      "context=3840", "sweep.steps=[8, 4]"};
    struct scenario scenario;
    struct error why;
    assert_true(scenario_load(NULL, 0, bad, 5, &scenario, &why));
    assert_false(sweep_has_point(&scenario, &why));
    assert_string_equal(why.nearest, "retroinfer");
    scenario_release(&scenario);
}

/* ---- rounds ---- */

enum { ROUND = 6 };

/* Two systems on a generated trace, each with three budgets. */
static struct scenario load_round(const char *budgets)
{
    char swept[128];
    const char *const round[] = {"model=smollm2-135m", "hardware=a40", "trace=llama-3-8b-like",
                                 "context=2K",         "steps=8",      swept};
    struct scenario scenario;
    struct error why = {0};
    snprintf(swept, sizeof swept, "sweep={system: [retroinfer, litecache], mechanisms.budget: %s}",
             budgets);
    if (!scenario_load(NULL, 0, round, sizeof round / sizeof *round, &scenario, &why)) {
        fail_msg("%s", why.found);
    }
    assert_int_equal(scenario.points, ROUND);
    return scenario;
}

static void keep_round(const struct scenario *scenario, struct run_context *runs,
                       struct result results[ROUND])
{
    const struct study study = {.runs = runs, .jobs = 4};
    struct error why = {0};
    uint32_t count;
    if (!sweep_keep(scenario, &study, results, &count, &why)) {
        fail_msg("%s", why.found);
    }
    assert_int_equal(count, ROUND);
}

/* In the second round a budget of the first one comes again, between others that are new. */
static void rounds_that_share_replays_and_traces_are_sweeps_of_their_own(void **state)
{
    (void)state;
    static const char *const budgets[] = {"[10%, 20%, 40%]", "[15%, 20%, 30%]"};
    struct error why;
    struct run_context shared;
    struct sources *sources = sources_create(&why);
    assert_non_null(sources);
    assert_true(run_context_init(&shared, sweep_users(4, false), NULL, &why));
    for (int round = 0; round < 2; round++) {
        struct result together[ROUND], alone[ROUND];
        struct run_context own;
        struct scenario scenario = load_round(budgets[round]);
        assert_true(run_context_init(&own, sweep_users(4, false), NULL, &why));
        keep_round(&scenario, &own, alone);
        run_context_release(&own);

        sources_release(scenario.sources);
        scenario.sources = sources_hold(sources);
        keep_round(&scenario, &shared, together);
        scenario_release(&scenario);
        for (int i = 0; i < ROUND; i++) {
            check_same_result(&together[i], &alone[i]);
            result_release(&together[i]);
            result_release(&alone[i]);
        }
    }
    run_context_release(&shared);
    sources_release(sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_delivers_in_point_order),
        cmocka_unit_test_setup_teardown(every_result_is_stored_once_in_order, enter, leave),
        cmocka_unit_test_setup_teardown(
            a_stop_keeps_what_is_stored_and_a_resumed_sweep_ends_the_same, enter, leave),
        cmocka_unit_test(a_stop_ends_a_replay_in_the_midst_of_it),
        cmocka_unit_test(an_error_of_the_receiver_ends_the_sweep),
        cmocka_unit_test(a_point_that_fails_stops_no_other),
        cmocka_unit_test(where_all_points_lack_the_same_that_is_the_error),
        cmocka_unit_test(rounds_that_share_replays_and_traces_are_sweeps_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
