/* The error band of a result: where its time is known at all. */
#include "unit/fixture/tiny.h"

#include "predict/answer.h"
#include "predict/server/serving_load.h"

#include <math.h>

/* A run of the tiny machine, whose figures are all assumed, in a point that has a band. */
static struct result answer_of(bool measured)
{
    char model[128];
    const char *overrides[] = {tiny_model(3, model), tiny_machine, "system=fullattn",
                               "context=1000", "steps=2"};
    struct scenario scenario;
    struct run_context runs;
    struct point point;
    struct result result;
    struct error why;
    make_runs(&runs, 1);
    assert_true(scenario_load(NULL, 0, overrides, COUNT(overrides), &scenario, &why));
    assert_true(scenario_point(&scenario, 0, &point, &why));
    struct error_band band = {.figures = 5, .sources = 2, .least = 0.8, .most = 1.25};
    point.bands[BAND_LOW].figure[BAND_RATE] = band;
    point.bands[BAND_SATURATED].figure[BAND_RATE] = band; /* of no run of decode */
    for (enum curve_id id = 0; measured && id < CURVE_COUNT; id++) {
        point.setup.profile.curves[id].basis = BASIS_MEASURED;
    }
    if (!answer_run(&point, &runs, &result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    point_release(&point);
    scenario_release(&scenario);
    run_context_release(&runs);
    return result;
}

static void no_band_stands_on_assumptions_alone(void **state)
{
    (void)state;
    struct result result = answer_of(false);
    assert_true(result_cell(&result, COLUMN(step_us))->set);
    assert_false(result_cell(&result, COLUMN(error_band))->set);
    result_release(&result);
}

static void a_band_stands_where_time_is_known(void **state)
{
    (void)state;
    struct result result = answer_of(true);
    assert_true(result_cell(&result, COLUMN(error_band))->set);
    assert_near(result.band[0][0], 0.8 - 1, 0);
    assert_near(result.band[0][1], 0.25, 0);
    result_release(&result);
}

static void a_server_is_saturated_if_half_of_the_requests_wait_longest(void **state)
{
    struct result result;
    (void)state;
    result_init(&result);
    result.cells[COLUMN(ttft_p50_ms)->index] = (struct cell){.set = true, .integer = 100};
    result.cells[COLUMN(tpot_p50_ms)->index] = (struct cell){.set = true, .integer = 12};
    assert_false(serving_saturated(&result));
    result.cells[COLUMN(queue_p50_ms)->index] = (struct cell){.set = true, .integer = 50};
    assert_false(serving_saturated(&result));
    result.cells[COLUMN(queue_p50_ms)->index].integer = 51;
    assert_true(serving_saturated(&result));
    result.cells[COLUMN(tpot_p50_ms)->index].integer = 13; /* it waited for a few steps */
    assert_false(serving_saturated(&result));
    result_release(&result);
}

/* ---- families ---- */

/* The answer with this trace. */
static struct result answer_with(const char *system, const char *trace)
{
    struct run_context runs;
    struct point point =
        make_point(OVERRIDES("context=32768", system, trace, "steps=2", "warmup=4"));
    struct result result;
    struct error why;
    make_runs(&runs, 1);
    if (!answer_run(&point, &runs, &result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    point_release(&point);
    run_context_release(&runs);
    return result;
}

/* Each family is the run that its recording alone gives, of the draws of heads the one with its number; the
 * answer is one of them. */
static void an_ensemble_is_a_run_with_each_recording(void **state)
{
    (void)state;
    struct result all = answer_with("system=clo", "trace=ensemble");
    assert_int_equal(all.family_count, 3);
    assert_string_equal(result_cell(&all, COLUMN(trace))->text, "ensemble");
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < all.family_count; i++) {
        char trace[64];
        snprintf(trace, sizeof trace, "trace=%s", all.families[i].name);
        struct result one = answer_with("system=clo", trace);
        assert_int_equal(one.family_count, 3);
        assert_null(strstr(one.message, "QSAC's threshold means something else for each model"));
        const double *step = &one.families[i].values[COLUMN(step_us)->range - 1];
        assert_near(all.families[i].values[COLUMN(step_us)->range - 1], *step, 0);
        assert_near(all.families[i].values[COLUMN(hit_ratio)->range - 1],
                    one.families[i].values[COLUMN(hit_ratio)->range - 1], 0);
        chosen += fabs(*step - (double)result_cell(&all, COLUMN(step_us))->integer / 1000) < .001;
        result_release(&one);
    }
    assert_int_equal(chosen, 1);
    assert_true(result_cell(&all, COLUMN(hit_ratio_low))->real <
                result_cell(&all, COLUMN(hit_ratio_high))->real);
    assert_non_null(strstr(all.message, "QSAC's threshold means something else for each model"));
    result_release(&all);
}

static void hits_that_need_no_trace_have_no_range(void **state)
{
    (void)state;
    struct result all = answer_with("system=fullattn", "trace=ensemble");
    assert_int_equal(all.family_count, 0);
    assert_false(result_cell(&all, COLUMN(step_us_low))->set);
    assert_false(result_cell(&all, COLUMN(trace_source))->set);
    result_release(&all);
}

/* Quest holds all KV in HBM, but what it attends to depends on demands. */
static void masses_that_need_a_trace_have_a_range(void **state)
{
    (void)state;
    struct result all = answer_with("system=quest", "trace=ensemble");
    assert_true(result_cell(&all, COLUMN(mass_recall_low))->real <
                result_cell(&all, COLUMN(mass_recall_high))->real);
    result_release(&all);
}

static void a_family_that_fails_is_named(void **state)
{
    (void)state;
    struct run_context runs;
    struct result result;
    struct error why;
    struct point point = make_point(OVERRIDES("system=clo", "trace=ensemble", "steps=100"));
    make_runs(&runs, 1);
    assert_null(answer_open(&point, &runs, &result, &why));
    assert_non_null(strstr(why.found, "ensemble, with 'smollm2-135m': the trace has 76 steps"));
    point_release(&point);
    run_context_release(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_band_stands_on_assumptions_alone),
        cmocka_unit_test(a_band_stands_where_time_is_known),
        cmocka_unit_test(a_server_is_saturated_if_half_of_the_requests_wait_longest),
        cmocka_unit_test(an_ensemble_is_a_run_with_each_recording),
        cmocka_unit_test(hits_that_need_no_trace_have_no_range),
        cmocka_unit_test(masses_that_need_a_trace_have_a_range),
        cmocka_unit_test(a_family_that_fails_is_named),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
