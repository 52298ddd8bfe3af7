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

static const struct {
    const char *sweep;
    uint32_t groups;
} cases[] = {
    {"sweep={mechanisms.budget: [1x, 2x, 100%], batch: [1, 2, 7]}", 1},
    {"sweep={batch: [1, 2], hardware.link: [pcie3-x16, pcie5-x16]}", 1},
    {"sweep={batch: [3, 3, 3]}", 1},
    {"sweep={batch: [1, 2], mechanisms.selection: [5%, 10%]}", 2},
    {"sweep={batch: [1, 2], warmup: [4, 8]}", 2},
    {"sweep={batch: [1, 2], seed: [1, 2]}", 2}, /* of policies that draw lots */
    {"sweep={mechanisms.policy.eta: [0.5, 0.6, 0.7]}", 1},
    {"sweep={batch: [1, 2], trace: [smollm2-135m, 'assumed:hit=90%']}", 1},
};

static void plans_that_ask_alike_go_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct points points;
        expect_all(&points, cases[i].sweep);
        if (replays_groups(points.runs.expected) != cases[i].groups) {
            fail_msg("%s: %u groups", cases[i].sweep, replays_groups(points.runs.expected));
        }
        release(&points);
    }
}

/* 33 budgets are one more than a group has sizes; each of them may be had at several batches. QSAC
 * would hold one selection, whatever the budget. */
static void a_group_holds_so_many_sizes(void **state)
{
    (void)state;
    static struct points points;
    char sweep[512] = "sweep={mechanisms.budget: [12%";
    for (int i = 13; i < 12 + 32; i++) {
        size_t used = strlen(sweep);
        snprintf(sweep + used, sizeof sweep - used, ", %d%%", i);
    }
    size_t end = strlen(sweep);
    strcpy(sweep + end, "], batch: [1, 2]}");
    expect_system(&points, "system=retroinfer-10pct", sweep);
    assert_int_equal(replays_groups(points.runs.expected), 1);
    release(&points);
    strcpy(sweep + end, ", 50%], batch: [1, 2]}");
    expect_system(&points, "system=retroinfer-10pct", sweep);
    assert_int_equal(replays_groups(points.runs.expected), 2);
    release(&points);
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
    assert_int_equal(replays_groups(points.runs.expected), 2); /* one knows the future */
    check_ledgers(&points);
    release(&points);
}

/* A ledger of a later round is found in the earlier group, and what is new makes a group of its own:
 * the earlier one may have been made without it. */
static void a_sealed_group_takes_no_more(void **state)
{
    (void)state;
    static struct points points;
    struct error why;
    expect_system(&points, "system=retroinfer-10pct",
                  "sweep={mechanisms.budget: [1x, 2x, 100%], batch: [1]}");
    struct replay_request known = request(&points, 1), fresh = request(&points, 2);
    struct replays *rounds = replays_create(&why);
    assert_true(replays_expect(rounds, &known, &why));
    replays_seal(rounds);
    assert_true(replays_expect(rounds, &known, &why));
    assert_int_equal(replays_groups(rounds), 1);
    assert_true(replays_expect(rounds, &fresh, &why));
    assert_int_equal(replays_groups(rounds), 2);
    replays_destroy(rounds);
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
    assert_int_equal(replays_groups(points.runs.expected), 1);
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
        cmocka_unit_test(plans_that_ask_alike_go_together),
        cmocka_unit_test(a_group_holds_so_many_sizes),
        cmocka_unit_test(a_ledger_is_the_same_however_it_is_made),
        cmocka_unit_test(policies_of_the_same_needs_share_a_reading),
        cmocka_unit_test(a_sealed_group_takes_no_more),
        cmocka_unit_test(what_fails_in_a_group_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
