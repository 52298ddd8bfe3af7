/* The error band of a result: where its time is known at all. */
#include "unit/fixture/tiny.h"

#include "serving/answer.h"
#include "serving/serving_outcome.h"

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
    point.band_known[0] = true;
    point.band[0][0] = -0.2;
    point.band[0][1] = 0.25;
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
    assert_true(result.cells[COLUMN_STEP].set);
    assert_false(result.cells[COLUMN_ERROR_BAND].set);
    result_release(&result);
}

static void a_band_stands_where_time_is_known(void **state)
{
    (void)state;
    struct result result = answer_of(true);
    assert_true(result.cells[COLUMN_ERROR_BAND].set);
    assert_near(result.band[0][0], -0.2, 0);
    assert_near(result.band[0][1], 0.25, 0);
    result_release(&result);
}

static void a_server_is_saturated_if_half_of_the_requests_wait_longest(void **state)
{
    struct result result;
    (void)state;
    result_init(&result);
    result.cells[COLUMN_TTFT_P50] = (struct cell){.set = true, .integer = 100};
    result.cells[COLUMN_TPOT_P50] = (struct cell){.set = true, .integer = 12};
    assert_false(serving_saturated(&result));
    result.cells[COLUMN_QUEUE_P50] = (struct cell){.set = true, .integer = 50};
    assert_false(serving_saturated(&result));
    result.cells[COLUMN_QUEUE_P50].integer = 51;
    assert_true(serving_saturated(&result));
    result.cells[COLUMN_TPOT_P50].integer = 13; /* it waited for a few steps */
    assert_false(serving_saturated(&result));
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_band_stands_on_assumptions_alone),
        cmocka_unit_test(a_band_stands_where_time_is_known),
        cmocka_unit_test(a_server_is_saturated_if_half_of_the_requests_wait_longest),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
