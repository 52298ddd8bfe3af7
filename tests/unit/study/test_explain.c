/* What explanations say of steps whose answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "decode/replay/ledger.h"
#include "study/sweep/explain.h"

static struct explanation explain(const char *const *overrides)
{
    struct error why;
    struct explanation explanation;
    struct point point = make_point(overrides);
    struct run_context runs;
    make_runs(&runs, 1);
    if (!explain_run(&point, &runs, NULL, &explanation, &why)) {
        fail_msg("%s", message_of(&why));
    }
    run_context_release(&runs);
    point_release(&point);
    return explanation;
}

static const struct explain_figure *find(const struct explanation *explanation, enum curve_id curve)
{
    const struct explain_time *time = &explanation->times[0];
    for (uint32_t i = 0; i < time->count; i++) {
        if (time->figures[i].curve == curve) {
            return &time->figures[i];
        }
    }
    return NULL;
}

/* All KV in HBM, and little but its bandwidth matters: 10 % more take 1 - 1/1.1 off, 10 % less add
 * 1/0.9 - 1. Activations, 2 % of the time, move through the L2. */
static void reading_hbm_hangs_on_its_bandwidth(void **state)
{
    (void)state;
    struct explanation explanation =
        explain(OVERRIDES("system=fullattn", "mechanisms.operators=11", "steps=1"));
    const struct explain_figure *first = &explanation.times[0].figures[0];
    assert_int_equal(first->curve, CURVE_GPU_HBM_BANDWIDTH);
    assert_true(first->is_more);
    assert_near(first->better, 1 / 1.1 - 1, 0.003);
    assert_near(first->worse, 1 / 0.9 - 1, 0.003);
    assert_null(find(&explanation, CURVE_LINK_IN));
    explanation_release(&explanation);
}

/* A manager on the CPU: less of its costs is better, and every figure helps or does not matter. */
static void a_pool_that_is_handed_work_faster_helps(void **state)
{
    (void)state;
    struct explanation explanation = explain(OVERRIDES("system=retroinfer-10pct", "steps=1"));
    const struct explain_figure *handoff = find(&explanation, CURVE_HOST_POOL_WAKE);
    assert_non_null(handoff);
    assert_false(handoff->is_more);
    for (uint32_t i = 0; i < explanation.times[0].count; i++) {
        const struct explain_figure *figure = &explanation.times[0].figures[i];
        assert_true(figure->better <= 0 && figure->worse >= 0);
        assert_true(i == 0 || explanation.times[0].figures[i - 1].better <= figure->better);
    }
    explanation_release(&explanation);
}

/* Of steps that miss 90, 10, 20, 80 and 40 tokens, the last is in the middle, with its share of each part. */
static void the_step_in_the_middle_stands_for_all(void **state)
{
    (void)state;
    static const uint64_t missed[] = {90, 10, 20, 80, 40};
    struct ledger part = {.rows = NULL}, sum = {.rows = NULL}, one = {.rows = NULL};
    struct error why;
    assert_true(ledger_reserve(&part, 5, 2, 0, &why) && ledger_reserve(&sum, 5, 2, 2, &why));
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t step = 0; step < 5; step++) {
            part.rows[2 * step + 1] = (struct ledger_row){
                .wanted = 100, .missed = missed[step] + i, .hit = 100 - missed[step] - i};
        }
        ledger_set(&sum, i, &part);
    }
    assert_true(ledger_middle_step(&sum, &one, &why));
    assert_int_equal(one.steps, 1);
    assert_int_equal(one.rows[1].missed, 81);
    assert_int_equal(ledger_part(&one, 0)[1].missed, 40);
    assert_int_equal(ledger_part(&one, 1)[1].missed, 41);
    assert_int_equal(ledger_part(&one, 1)[0].wanted, 0);
    ledger_release(&part);
    ledger_release(&sum);
    ledger_release(&one);
}

static void what_does_not_fit_has_no_figures(void **state)
{
    (void)state;
    struct explanation explanation = explain(OVERRIDES("system=fullattn", "batch=1000"));
    assert_int_equal(explanation.count, 0);
    assert_false(result_cell(explanation.result, COLUMN(step_us))->set);
    explanation_release(&explanation);
}

static void a_server_has_two_times(void **state)
{
    (void)state;
    struct explanation explanation = explain(
        OVERRIDES("system=vllm", "context=", "workload=synthetic:prompt=2000,output=20,requests=8",
                  "rate=1"));
    assert_int_equal(explanation.count, 2);
    assert_int_equal(explanation.times[0].column, COLUMN(ttft_ms));
    assert_int_equal(explanation.times[1].column, COLUMN(tpot_ms));
    explanation_release(&explanation);
}

/* What shortens a server's time when it is better, and does not lengthen it when it is worse, is chance. */
static void chance_helps_no_server(void **state)
{
    (void)state;
    struct explanation explanation = explain(
        OVERRIDES("system=vllm",
                  "context=", "workload=synthetic:prompt=1500,output=400,requests=60", "rate=1"));
    assert_int_equal(explanation.count, 2);
    for (uint32_t t = 0; t < explanation.count; t++) {
        const struct explain_time *time = &explanation.times[t];
        for (uint32_t i = 0; i < time->count; i++) {
            print_message("# %s\n", curve_kinds[time->figures[i].curve].name);
            assert_true(-time->figures[i].better <= time->figures[i].worse);
        }
    }
    explanation_release(&explanation);
}

static void without_a_clock_nothing_is_explained(void **state)
{
    (void)state;
    struct explanation explanation = explain(
        OVERRIDES("system=vllm", "context=", "workload=synthetic:prompt=2000,output=20,requests=8",
                  "timed=no"));
    assert_int_equal(explanation.count, 0);
    explanation_release(&explanation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_hbm_hangs_on_its_bandwidth),
        cmocka_unit_test(a_pool_that_is_handed_work_faster_helps),
        cmocka_unit_test(the_step_in_the_middle_stands_for_all),
        cmocka_unit_test(what_does_not_fit_has_no_figures),
        cmocka_unit_test(a_server_has_two_times),
        cmocka_unit_test(chance_helps_no_server),
        cmocka_unit_test(without_a_clock_nothing_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
