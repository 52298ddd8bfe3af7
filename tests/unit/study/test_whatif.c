/* What-if studies: their points are single runs, and what follows from curves drawn by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/answer.h"
#include "study/whatif/whatif_study.h"
#include "unit/fixture/rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all studies of this program share. */
static struct run_context shared_runs;

static int begin(void **state)
{
    struct error unseen;
    (void)state;
    return run_context_init(&shared_runs, 16, NULL, &unseen) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    run_context_release(&shared_runs);
    return 0;
}

static void load(const char *const *overrides, uint32_t count, struct scenario *scenario)
{
    struct error why;
    if (!scenario_load(NULL, 0, overrides, count, scenario, &why)) {
        fail_msg("%s", why.found);
    }
}

static void study(const struct scenario *scenario, const char *over, uint32_t jobs,
                  struct whatif *whatif)
{
    struct whatif_options options = {.study.runs = &shared_runs, .over = over, .study.jobs = jobs};
    struct error why;
    if (!whatif_run(scenario, &options, whatif, &why)) {
        fail_msg("%s: %s", over, why.found);
    }
}

/* ---- single runs ---- */

/* One run by itself, sharing nothing. */
static void assert_same_alone(const char *const *overrides, uint32_t count, const char *budget,
                              const struct result *found)
{
    const char *with[16];
    char set[64];
    struct scenario scenario;
    struct point point;
    struct result result;
    struct error why;
    struct run_context runs;
    assert_true(run_context_init(&runs, 1, NULL, &why));
    runs.threads = 1;
    snprintf(set, sizeof set, "mechanisms.budget=%s", budget);
    memcpy(with, overrides, count * sizeof *with);
    with[count] = set;
    load(with, count + 1, &scenario);
    assert_true(scenario_point(&scenario, 0, &point, &why));
    assert_true(answer_run(&point, &runs, &result, &why));
    assert_string_equal(result_cell(&result, COLUMN(run))->text,
                        result_cell(found, COLUMN(run))->text);
    assert_true(result_cell(&result, COLUMN(hit_ratio))->set);
    assert_true(result_cell(&result, COLUMN(hit_ratio))->real ==
                result_cell(found, COLUMN(hit_ratio))->real);
    assert_int_equal(result_cell(&result, COLUMN(step_us))->integer,
                     result_cell(found, COLUMN(step_us))->integer);
    assert_int_equal(result_cell(&result, COLUMN(h2d_bytes_per_step))->integer,
                     result_cell(found, COLUMN(h2d_bytes_per_step))->integer);
    assert_string_equal(result.message, found->message);
    result_release(&result);
    point_release(&point);
    scenario_release(&scenario);
    run_context_release(&runs);
}

#define BUDGETS "1x, 12%, 15%, 20%, 25%, 30%, 3x, 50%, 64%, 100%"
enum { TEN = 10 };

static void ten_budgets_hit_exactly_what_single_runs_do(void **state)
{
    (void)state;
    static const char *const systems[] = {"retroinfer-10pct", "retroinfer-fifo", "pqcache", "clo"};
    static const char *const traces[] = {"smollm2-135m", "llama-3-8b-like"};
    for (size_t i = 0; i < ROUNDS(4, 1); i++) {
        char system[64], trace[64], budgets[] = BUDGETS;
        snprintf(system, sizeof system, "system=%s", systems[i]);
        snprintf(trace, sizeof trace, "trace=%s", traces[i % 2]);
        const char *const overrides[] = {
            "model=smollm2-135m", "hardware=a40", "context=3840", "steps=8", system, trace};
        struct scenario scenario;
        struct whatif whatif;
        load(overrides, 6, &scenario);
        study(&scenario, "budget=[" BUDGETS "]", 2, &whatif);
        assert_int_equal(whatif.count, TEN);
        char *rest = budgets, *budget;
        for (uint32_t point = 0; (budget = strsep(&rest, ", ")) != NULL;) {
            if (budget[0] != '\0') {
                assert_same_alone(overrides, 6, budget, &whatif.results[point++]);
            }
        }
        whatif_release(&whatif);
        scenario_release(&scenario);
    }
}

static void any_number_of_threads_studies_alike(void **state)
{
    (void)state;
    static const char *const overrides[] = {"model=smollm2-135m", "hardware=a40", "context=3840",
                                            "steps=8", "system=retroinfer-10pct"};
    struct scenario scenario;
    struct whatif one, many;
    load(overrides, 5, &scenario);
    study(&scenario, "budget=5%:100%,batch=[1, 3, 1000000]", 1, &one);
    study(&scenario, "budget=5%:100%,batch=[1, 3, 1000000]", 7, &many);
    assert_int_equal(one.count, 27);
    assert_int_equal(many.count, 27);
    for (uint32_t i = 0; i < one.count; i++) {
        const struct result *a = &one.results[i], *b = &many.results[i];
        assert_string_equal(result_cell(a, COLUMN(status))->text,
                            i % 3 == 2 ? "out-of-memory" : "ok");
        assert_string_equal(result_cell(a, COLUMN(run))->text, result_cell(b, COLUMN(run))->text);
        assert_int_equal(result_cell(a, COLUMN(step_us))->set, i % 3 != 2);
        assert_int_equal(result_cell(a, COLUMN(step_us))->integer,
                         result_cell(b, COLUMN(step_us))->integer);
        assert_int_equal(whatif_value(&one, 0, i), i / 3);
        assert_int_equal(whatif_value(&one, 1, i), i % 3);
    }
    whatif_release(&one);
    whatif_release(&many);
    scenario_release(&scenario);
}

/* The link of an a40 is known by its figures. */
static void the_scenarios_own_point_is_found(void **state)
{
    (void)state;
    static const char *const overrides[] = {
        "model=smollm2-135m",      "hardware=a40", "context=3840", "steps=8",
        "system=retroinfer-10pct", "batch=2"};
    struct scenario scenario;
    struct whatif whatif;
    load(overrides, 6, &scenario);
    study(&scenario, "link", 2, &whatif);
    assert_int_equal(whatif_find(&whatif).own, 1);
    whatif_release(&whatif);
    study(&scenario, "batch=[1, 2],link=[pcie5-x16, pcie4-x16]", 2, &whatif);
    assert_int_equal(whatif_find(&whatif).own, 3);
    whatif_release(&whatif);
    scenario_release(&scenario);
}

/* Nor is the first value then the scenario's own. */
static void a_walked_key_need_not_be_said(void **state)
{
    (void)state;
    static const char *const overrides[] = {"model=smollm2-135m", "hardware=a40", "steps=8"};
    static const char *const walks[] = {"system=[fullattn, vllm],context=[2048, 3840]",
                                        "context=2K:4K,system=[vllm, fullattn]"};
    for (size_t i = 0; i < 2; i++) {
        struct scenario scenario;
        struct whatif whatif;
        load(overrides, 3, &scenario);
        struct whatif_options options = {
            .study.runs = &shared_runs, .over = walks[i], .points = i > 0 ? 2 : 0, .study.jobs = 1};
        struct error why;
        if (!whatif_run(&scenario, &options, &whatif, &why)) {
            fail_msg("%s", why.found);
        }
        assert_int_equal(whatif.count, 4);
        assert_int_equal(whatif_find(&whatif).own, WHATIF_NONE);
        assert_int_equal(result_cell(&whatif.results[0], COLUMN(context))->integer, 2048);
        whatif_release(&whatif);
        scenario_release(&scenario);
    }
}

static void a_point_that_cannot_be_is_a_point_unless_none_can(void **state)
{
    (void)state;
    static const char *const overrides[] = {"model=smollm2-135m", "hardware=a40", "context=3840",
                                            "steps=8", "system=retroinfer-10pct"};
    struct whatif_options options = {
        .study.runs = &shared_runs, .over = "batch=[2000000, 3000000]", .study.jobs = 1};
    struct scenario scenario;
    struct whatif whatif;
    struct error why;
    load(overrides, 5, &scenario);
    study(&scenario, "batch=[1, 2000000]", 1, &whatif);
    assert_string_equal(result_cell(&whatif.results[0], COLUMN(status))->text, "ok");
    assert_string_equal(result_cell(&whatif.results[1], COLUMN(status))->text, "failed");
    assert_string_equal(whatif.results[1].message,
                        "'batch' is '2000000', which is more than 1048576");
    whatif_release(&whatif);
    assert_false(whatif_run(&scenario, &options, &whatif, &why));
    assert_non_null(strstr(why.found, "'batch' is '2000000', which is more than 1048576"));
    whatif_release(&whatif);
    scenario_release(&scenario);
}

/* ---- findings ---- */

enum { MOST = 6, NO = -1 };

/* Rates at some values; no rate: it does not fit. */
static const struct {
    const char *name;
    uint32_t count;
    double values[MOST], rates[MOST];
    int best, knee;
    bool flat;
} curves[] = {
    /* above the line 10 + x: 0, 20, 10, 0 */
    {"a corner", 4, {0, 10, 30, 40}, {10, 40, 50, 50}, 2, 1, false},
    {"a line", 3, {0, 10, 20}, {10, 20, 30}, 2, NO, false},
    {"falling", 3, {1, 2, 3}, {30, 29, 10}, 0, NO, false},
    /* 99.95 is as good as 100, and comes first */
    {"no better", 3, {1, 2, 3}, {50, 99.95, 100}, 1, 1, false},
    {"flat", 3, {1, 2, 3}, {100, 100, 100.05}, 0, NO, true},
    /* what does not fit waits for nothing, and is no end of the line */
    {"a hole", 4, {0, 10, 20, 30}, {10, 30, 0, 40}, 3, 1, false},
    {"holes at the end", 4, {0, 10, 20, 30}, {10, 30, 40, 0}, 2, 1, false},
    {"nothing fits", 2, {1, 2}, {0, 0}, NO, NO, false},
};

static void draw(size_t number, struct whatif *whatif, struct axis_value *values,
                 struct result *results)
{
    *whatif = (struct whatif){.axis_count = 1, .results = results, .count = curves[number].count};
    whatif->axes[0] = (struct axis){
        .key = "batch", .numeric = true, .values = values, .count = curves[number].count};
    for (uint32_t i = 0; i < curves[number].count; i++) {
        values[i] = (struct axis_value){.number = curves[number].values[i]};
        result_init(&results[i]);
        if (curves[number].rates[i] > 0) {
            result_real(&results[i], COLUMN(decode_tokens_per_s), curves[number].rates[i]);
            result_integer(&results[i], COLUMN(step_us), 1000000);
        }
    }
}

static void findings_are_those_of_the_curve(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        struct whatif whatif;
        struct axis_value values[MOST];
        struct result *results = calloc(MOST, sizeof *results);
        draw(i, &whatif, values, results);
        struct whatif_findings findings = whatif_find(&whatif);
        int best = findings.best == WHATIF_NONE ? NO : (int)findings.best;
        int knee = findings.knee == WHATIF_NONE ? NO : (int)findings.knee;
        if (best != curves[i].best || knee != curves[i].knee ||
            findings.all_tie != curves[i].flat) {
            fail_msg("%s: best %d, knee %d, flat %d", curves[i].name, best, knee, findings.all_tie);
        }
        free(results);
    }
}

/* Of requests without a clock 0 % may be found, and that of one point alone. */
static void the_only_point_with_a_figure_is_the_best(void **state)
{
    (void)state;
    struct error why;
    struct axis_value values[] = {{.number = 1}, {.number = 2}};
    struct result *results = calloc(2, sizeof *results);
    struct whatif whatif = {.axis_count = 1, .results = results, .count = 2};
    whatif.axes[0] = (struct axis){.key = "limit", .numeric = true, .values = values, .count = 2};
    result_integer(&results[1], COLUMN(hashed_blocks), 9);
    result_integer(&results[1], COLUMN(hit_tokens_gpu), 0);
    result_integer(&results[1], COLUMN(hit_tokens_host), 0);
    result_integer(&results[1], COLUMN(prompt_tokens), 100);
    assert_true(result_text(&results[0], COLUMN(status), "failed", &why));
    whatif_judge(&whatif);
    assert_int_equal(whatif.figure, WHATIF_FOUND);
    struct whatif_findings findings = whatif_find(&whatif);
    assert_int_equal(findings.timed, 1);
    assert_int_equal(findings.best, 1);
    assert_false(findings.all_tie);
    result_release(&results[0]);
    free(results);
}

/* ---- servers ---- */

/* Points of a server: what comes and is decoded a second, the mean request's seconds, whether the
 * queue grows, and tokens of prompts, of 100, that were left out. */
static const struct {
    const char *name;
    bool clients;
    double come[MOST], tokens[MOST], times[MOST];
    int grows[MOST], left_out[MOST];
    enum whatif_figure figure;
    int best, knee;
    bool flat;
} servers[] = {
    /* of 10, 3, 2, 1.9 s the last three: 3 - 0.55 a step is 2.45 at the third */
    {"a pool that is too small",
     false,
     {1, 1, 1, 1},
     {50, 60, 60, 60},
     {10, 3, 2, 1.9},
     {1, 0, 0, 0},
     {0},
     WHATIF_TIME,
     3,
     2,
     false},
    {"and one that leaves some out",
     false,
     {1, 1, 1, 1},
     {50, 60, 60, 60},
     {1, 3, 2, 1.9},
     {0},
     {9, 0, 0, 0},
     WHATIF_TIME,
     3,
     2,
     false},
    /* who is left out everywhere tells nothing apart: above 4, 3.3, 2.6, 1.9 lies none but 2 */
    {"one too long for any",
     false,
     {1, 1, 1, 1},
     {50, 60, 60, 60},
     {4, 3.2, 2, 1.9},
     {0},
     {9, 9, 9, 9},
     WHATIF_TIME,
     3,
     2,
     false},
    {"a pool that does not matter",
     false,
     {1, 1, 1, 1},
     {60, 60, 60, 60},
     {2, 2, 2, 2},
     {0},
     {0},
     WHATIF_TIME,
     0,
     NO,
     true},
    /* none is best: each rate is one draw */
    {"more and more",
     false,
     {1, 2, 4, 8},
     {10, 21, 39, 45},
     {1, 2, 3, 90},
     {0, 0, 0, 1},
     {0},
     WHATIF_BORNE,
     NO,
     NO,
     false},
    {"too many everywhere",
     false,
     {4, 4, 4, 4},
     {10, 10, 10, 10},
     {9, 9, 9, 9},
     {1, 1, 1, 1},
     {0},
     WHATIF_TIME,
     NO,
     NO,
     false},
    /* they send as they are answered; above 10 + 10 x lies 45 most */
    {"clients",
     true,
     {1, 4, 4.5, 5},
     {10, 40, 45, 50},
     {1, 1, 1, 1},
     {0},
     {0},
     WHATIF_RATE,
     3,
     1,
     false},
};

static void serve(size_t number, struct whatif *whatif, struct axis_value *values,
                  struct result *results)
{
    *whatif = (struct whatif){.axis_count = 1, .results = results, .count = 4};
    whatif->axes[0] = (struct axis){.numeric = true, .values = values, .count = 4};
    strcpy(whatif->axes[0].key, servers[number].clients ? "clients" : "kv_pool_tokens");
    for (int i = 0; i < 4; i++) {
        int64_t left_out = servers[number].left_out[i];
        values[i] = (struct axis_value){.number = i};
        result_init(&results[i]);
        result_real(&results[i], COLUMN(decode_tokens_per_s), servers[number].tokens[i]);
        result_real(&results[i], COLUMN(requests_in_per_s), servers[number].come[i]);
        result_real(&results[i], COLUMN(requests_out_per_s), servers[number].come[i]);
        result_integer(&results[i], COLUMN(queue_grows), servers[number].grows[i]);
        result_integer(&results[i], COLUMN(e2e_ms), (int64_t)(1e9 * servers[number].times[i]));
        result_integer(&results[i], COLUMN(prompt_tokens), 100);
        result_integer(&results[i], COLUMN(hit_tokens_gpu), 20);
        result_integer(&results[i], COLUMN(hit_tokens_host), 10);
        result_integer(&results[i], COLUMN(recompute_tokens), 70 - left_out);
    }
    whatif_judge(whatif);
}

static void a_server_is_judged_by_what_it_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        struct whatif whatif;
        struct axis_value values[4];
        struct result *results = calloc(4, sizeof *results);
        serve(i, &whatif, values, results);
        struct whatif_findings findings = whatif_find(&whatif);
        int best = findings.best == WHATIF_NONE ? NO : (int)findings.best;
        int knee = findings.knee == WHATIF_NONE ? NO : (int)findings.knee;
        if (whatif.figure != servers[i].figure || best != servers[i].best ||
            knee != servers[i].knee || findings.all_tie != servers[i].flat) {
            fail_msg("%s: figure %d, best %d, knee %d, flat %d", servers[i].name,
                     (int)whatif.figure, best, knee, findings.all_tie);
        }
        free(results);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_budgets_hit_exactly_what_single_runs_do),
        cmocka_unit_test(any_number_of_threads_studies_alike),
        cmocka_unit_test(the_scenarios_own_point_is_found),
        cmocka_unit_test(a_walked_key_need_not_be_said),
        cmocka_unit_test(a_point_that_cannot_be_is_a_point_unless_none_can),
        cmocka_unit_test(findings_are_those_of_the_curve),
        cmocka_unit_test(the_only_point_with_a_figure_is_the_best),
        cmocka_unit_test(a_server_is_judged_by_what_it_answers),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
