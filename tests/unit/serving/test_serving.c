/* Runs of a server: the file of requests is the one that the scenario was read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "serving/serving.h"

static struct error why;

/* Two points of one scenario, a server each; the second has another rate. */
static void points_share_requests_and_draw_their_own_arrivals(void **state)
{
    (void)state;
    const char *const overrides[] = {"model=llama-3-8b", "hardware=h200",
                                     "system=vllm",      "workload=conversations",
                                     "limit=10",         "sweep.rate=[1, 100]"};
    struct scenario scenario;
    struct point points[2];
    struct result results[2];
    struct run_context runs;
    make_runs(&runs, 1);
    assert_true(scenario_load(NULL, 0, overrides, COUNT(overrides), &scenario, &why));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(scenario_point(&scenario, i, &points[i], &why));
    }
    scenario_release(&scenario); /* points keep what they use */
    assert_ptr_equal(points[0].requests, points[1].requests);
    int64_t last = points[0].requests->all[9].arrival_ns;
    for (uint32_t i = 0; i < 2; i++) {
        if (!serving_run(&points[i], &runs, &results[i], &why)) {
            fail_msg("%s", message_of(&why));
        }
    }
    assert_int_equal(points[0].requests->all[9].arrival_ns, last);
    assert_true(results[0].requests[9].arrived_ns > 10 * results[1].requests[9].arrived_ns);
    for (uint32_t i = 0; i < 2; i++) {
        result_release(&results[i]);
        point_release(&points[i]);
    }
    run_context_release(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_share_requests_and_draw_their_own_arrivals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
