/* Replays that a sweep expects: which go together, and that it shows in no ledger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/decode/replays.h"
#include "predict/decode/run.h"
#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 80 };

/* The points of a scenario, planned. */
struct points {
    struct scenario scenario;
    struct point points[MOST];
    struct plan plans[MOST];
    struct replay_plan replay[MOST];
    struct run_context runs;
};

static struct replay_request request(const struct points *points, uint32_t i)
{
    return (struct replay_request){&points->points[i].setup, &points->replay[i], 0};
}

static void expect_system(struct points *points, const char *system, const char *sweep)
{
    struct error why;
    const char *const overrides[] = {
        "model=smollm2-135m", "hardware=a40", "context=3840", "steps=8", system, sweep};
    assert_true(scenario_load(NULL, 0, overrides, 6, &points->scenario, &why));
    assert_in_range(points->scenario.points, 1, MOST);
    assert_true(run_context_init(&points->runs, 1, NULL, &why));
    points->runs.threads = 1;
    for (uint32_t i = 0; i < points->scenario.points; i++) {
        const struct setup *setup = &points->points[i].setup;
        if (!scenario_point(&points->scenario, i, &points->points[i], &why) ||
            !run_plan(setup, &points->runs, &points->plans[i], &why)) {
            fail_msg("%s", why.found);
        }
        points->replay[i] = plan_replay(setup, &points->plans[i], 0);
        struct replay_request wanted = request(points, i);
        assert_true(replays_expect(points->runs.expected, &wanted, &why));
    }
}

static void expect_all(struct points *points, const char *sweep)
{
    expect_system(points, "system=clo", sweep);
}

static void release(struct points *points)
{
    for (uint32_t i = 0; i < points->scenario.points; i++) {
        plan_release(&points->plans[i]);
        point_release(&points->points[i]);
    }
    scenario_release(&points->scenario);
    run_context_release(&points->runs);
}

/* Each ledger of a group equals the one that its plan gets alone. */
static void check_ledgers(struct points *points)
{
    struct error why;
    struct run_context alone;
    assert_true(run_context_init(&alone, 1, NULL, &why));
    for (uint32_t i = 0; i < points->scenario.points; i++) {
        struct replay_request wanted = request(points, i);
        struct shared_entry *one, *other;
        const struct ledger *a = replays_get(&points->runs, &wanted, &one, &why);
        const struct ledger *b = replays_get(&alone, &wanted, &other, &why);
        assert_non_null(a);
        assert_non_null(b);
        assert_int_equal(a->steps, b->steps);
        assert_memory_equal(a->rows, b->rows, (size_t)a->steps * a->layers * sizeof *a->rows);
        assert_int_equal(a->demand_cold, b->demand_cold);
        shared_release(points->runs.shared, one);
        shared_release(alone.shared, other);
    }
    run_context_release(&alone);
}

static void a_ledger_is_the_same_however_it_is_made(void **state)
{
    (void)state;
    static struct points points;
    expect_all(&points, "sweep={mechanisms.budget: [1x, 2x, 100%], batch: [1, 2, 7]}");
    check_ledgers(&points);
    release(&points);
}

static void policies_of_the_same_needs_share_a_reading(void **state)
{
    (void)state;
    static struct points points;
    expect_system(&points, "system=retroinfer-10pct",
                  "sweep={mechanisms.policy: [lru, fifo, opt]}");
    check_ledgers(&points);
    release(&points);
}

/* One of a group that no policy takes leaves the others their ledgers, and the group is replayed once. */
static void what_fails_in_a_group_fails_alone(void **state)
{
    (void)state;
    static struct points points;
    struct error why;
    struct shared_entry *entry;
    expect_all(&points, "sweep={mechanisms.budget: [1x, 2x], batch: [1]}");
    points.replay[1].capacity = 0.01; /* of a policy that holds whole selections */
    struct replay_request good = request(&points, 0), bad = request(&points, 1);
    assert_true(replays_expect(points.runs.expected, &bad, &why));
    struct meter meter = {.done = 0};
    points.runs.meter = &meter; /* of groups */
    assert_non_null(replays_get(&points.runs, &good, &entry, &why));
    shared_release(points.runs.shared, entry);
    uint64_t once = meter.done;
    assert_true(once > 0);
    assert_null(replays_get(&points.runs, &bad, &entry, &why));
    assert_non_null(strstr(why.found, "policy 'qsac' has a cache of"));
    assert_true(meter.done == once);
    release(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ledger_is_the_same_however_it_is_made),
        cmocka_unit_test(policies_of_the_same_needs_share_a_reading),
        cmocka_unit_test(what_fails_in_a_group_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
