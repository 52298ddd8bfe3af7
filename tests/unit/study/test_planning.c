/* Plans of several candidates: sharing replays, traces and rounds changes no answer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/plan/planning.h"
#include "study/sweep/sweep.h"
#include "unit/fixture/same_result.h"

#include <string.h>

enum { JOBS = 4 };

static struct scenario load(const char *trace)
{
    const char *const overrides[] = {"model=smollm2-135m", "hardware=a40", "context=2K", "steps=8",
                                     trace};
    struct scenario scenario;
    struct error why = {0};
    if (!scenario_load(NULL, 0, overrides, sizeof overrides / sizeof *overrides, &scenario, &why)) {
        fail_msg("%s", why.found);
    }
    return scenario;
}

static void begin(struct run_context *runs)
{
    struct error why;
    assert_true(run_context_init(runs, sweep_users(JOBS, false), NULL, &why));
}

/* The least budget of these systems on these machines that meets the targets. */
static void plan(const char *trace, const char *systems, const char *machines,
                 const struct run_context *runs, struct planning *out)
{
    struct scenario scenario = load(trace);
    struct planning_options options = {
        .candidates = {.systems = systems,
                       .machines = machines,
                       .allow_lossy = true,
                       .allow_paper = true},
        .axis = "budget",
        .study.jobs = JOBS,
        .study.runs = runs,
    };
    struct error why = {0};
    if (!targets_parse("hit_ratio>=50%,tpot_ms<=60", &options.targets, &why) ||
        !planning_run(&scenario, &options, out, &why)) {
        fail_msg("%s", why.found);
    }
    scenario_release(&scenario);
}

/* The same values were tried, with the same results, and the same one was found. */
static void check_same_search(const struct search *search, const struct search *expected)
{
    assert_string_equal(search->candidate->system, expected->candidate->system);
    assert_string_equal(search->candidate->machine, expected->candidate->machine);
    assert_int_equal(search->grid.tried, expected->grid.tried);
    assert_int_equal(search->found, expected->found);
    assert_int_not_equal(search->found, PLANNING_NONE);
    assert_string_equal(search_text(search, search->found), search_text(expected, expected->found));
    check_same_result(&search->results[search->found], &expected->results[expected->found]);
}

static const struct search *find_search(const struct planning *planning, const char *system,
                                        const char *machine)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct candidate *candidate = planning->searches[i].candidate;
        if (strcmp(candidate->system, system) == 0 && strcmp(candidate->machine, machine) == 0) {
            return &planning->searches[i];
        }
    }
    fail_msg("no search of %s on %s", system, machine);
    return NULL;
}

static const char *const traces[] = {"trace=smollm2-135m", "trace=llama-3-8b-like"};

static void several_candidates_get_the_answers_that_each_gets_alone(void **state)
{
    static const char *const systems[] = {"retroinfer-10pct", "litecache"};
    static const char *const machines[] = {"a40", "h200"};
    (void)state;
    for (int t = 0; t < 2; t++) {
        struct run_context runs;
        struct planning together;
        begin(&runs);
        plan(traces[t], "retroinfer-10pct,litecache", "a40,h200", &runs, &together);
        assert_int_equal(together.count, 4);
        for (int i = 0; i < 4; i++) {
            struct run_context own;
            struct planning alone;
            begin(&own);
            plan(traces[t], systems[i / 2], machines[i % 2], &own, &alone);
            check_same_search(find_search(&together, systems[i / 2], machines[i % 2]),
                              &alone.searches[0]);
            planning_release(&alone);
            run_context_release(&own);
        }
        planning_release(&together);
        run_context_release(&runs);
    }
}

/* The second plan finds all its replays made. */
static void a_plan_after_another_answers_the_same(void **state)
{
    (void)state;
    struct run_context runs;
    struct planning first, again;
    begin(&runs);
    plan(traces[1], "retroinfer-10pct", "a40,h200", &runs, &first);
    plan(traces[1], "retroinfer-10pct", "a40,h200", &runs, &again);
    assert_int_equal(again.winner, first.winner);
    for (uint32_t i = 0; i < first.count; i++) {
        check_same_search(&again.searches[i], &first.searches[i]);
    }
    planning_release(&first);
    planning_release(&again);
    run_context_release(&runs);
}

/* Costs over the batch on machines of which `prices` gives the prices. */
static bool plan_cost(const char *machines, const char *prices, struct planning *out,
                      struct error *why)
{
    struct run_context runs;
    begin(&runs);
    struct scenario scenario = load("system=vllm");
    const struct planning_options options = {
        .candidates = {.machines = machines, .prices = prices},
        .axis = "batch=[1, 2]",
        .maximise = true,
        .best = COLUMN(cost_per_million_tokens),
        .study.jobs = JOBS,
        .study.runs = &runs,
    };
    bool good = planning_run(&scenario, &options, out, why);
    scenario_release(&scenario);
    run_context_release(&runs);
    return good;
}

static void a_machine_without_a_price_is_not_compared_by_cost(void **state)
{
    (void)state;
    struct planning planning;
    struct error why = {0};
    assert_true(plan_cost("a40,h200", "h200=3", &planning, &why));
    assert_int_equal(planning.winner, 1);
    assert_int_equal(planning.searches[0].found, PLANNING_NONE);
    planning_release(&planning);
    assert_true(plan_cost("a40,h200", NULL, &planning, &why));
    assert_int_equal(planning.winner, PLANNING_NONE);
    planning_release(&planning);
}

/* A figure near its limit leaves a load open, however long it is watched: `simulate`, which decides, ends once
 * the figures are known, and so does the search before it. */
static void an_open_load_is_watched_until_its_figures_are_known(void **state)
{
    struct scenario scenario;
    struct planning planning;
    struct run_context runs;
    struct error why = {0};
    const char *const overrides[] = {"model=smollm2-135m", "hardware=a40", "system=vllm",
                                     "workload=synthetic:prompt=500,output=20,prompt_spread=60%"};
    struct planning_options options = {
        .axis = "rate", .maximise = true, .study.jobs = JOBS, .study.runs = &runs};
    (void)state;
    begin(&runs);
    assert_true(
        scenario_load(NULL, 0, overrides, sizeof overrides / sizeof *overrides, &scenario, &why) &&
        targets_parse("tpot_p99_ms<=3", &options.targets, &why) &&
        targets_add_service(true, &options.targets, &why) &&
        planning_run(&scenario, &options, &planning, &why));
    const struct search *search = &planning.searches[planning.winner];
    for (uint32_t i = 0; i < search->grid.count; i++) {
        assert_true(!grid_tried(&search->grid, i) ||
                    result_number(&search->results[i], COLUMN(requests)) < STREAM_USUAL);
    }
    planning_release(&planning);
    scenario_release(&scenario);
    run_context_release(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_candidates_get_the_answers_that_each_gets_alone),
        cmocka_unit_test(a_plan_after_another_answers_the_same),
        cmocka_unit_test(a_machine_without_a_price_is_not_compared_by_cost),
        cmocka_unit_test(an_open_load_is_watched_until_its_figures_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
