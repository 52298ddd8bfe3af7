/* Points of decode surfaces: computed once, by whoever asks first, and only where they are alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "predict/server/decode_surface.h"

#include <string.h>

static struct error why;

/* Context: how often it was called. A context of 13 tokens fails. */
static bool compute(void *context, struct decode_point *point, struct error *why)
{
    ++*(int *)context;
    point->step.ns = (double)(point->sequences * point->context);
    return point->context != 13 || error_set(why, NULL, 0, "unlucky");
}

static double read_point(const struct decode_points *points, uint64_t sequences, uint64_t context,
                         int *calls)
{
    struct decode_point point = {.sequences = sequences, .context = context};
    assert_true(decode_points_read(points, NULL, compute, calls, &point, &why));
    return point.step.ns;
}

static void point_is_computed_once(void **state)
{
    (void)state;
    int calls = 0;
    struct decode_points *points = decode_points_kind.make(NULL, &why);
    for (int again = 0; again < 2; again++) {
        assert_true(read_point(points, 2, 5, &calls) == 10);
        assert_true(read_point(points, 5, 2, &calls) == 10);
        assert_true(read_point(points, 5, 3, &calls) == 15);
    }
    assert_int_equal(calls, 3);
    decode_points_kind.destroy(points);
}

static void failure_is_not_kept(void **state)
{
    (void)state;
    int calls = 0;
    struct decode_points *points = decode_points_kind.make(NULL, &why);
    for (int again = 0; again < 2; again++) {
        struct decode_point point = {.sequences = 1, .context = 13};
        assert_false(decode_points_read(points, NULL, compute, &calls, &point, &why));
        assert_string_equal(why.found, "unlucky");
    }
    assert_int_equal(calls, 2);
    decode_points_kind.destroy(points);
}

/* Whose text names a table: what only a server asks is not in it, all else is. */
static void servers_share_what_takes_a_step(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        bool shared;
    } cases[] = {
        {"rate=3", true},           {"time_scale=2", true},    {"replicas=2", true},
        {"host_memory=9GiB", true}, {"slo.ttft_ms=100", true}, {"max_sequences=7", true},
        {"seed=2", false},          {"dtype.kv=fp8", false},   {"mechanisms.budget=20%", false}};
    const char *overrides[] = {"model=smollm2-135m",
                               "hardware=h200",
                               "system=litecache",
                               "workload=conversations",
                               "context=",
                               "limit=8",
                               NULL,
                               NULL};
    struct point own = make_point(overrides);
    for (size_t i = 0; i < COUNT(cases); i++) {
        overrides[6] = cases[i].key;
        struct point other = make_point(overrides);
        bool shared = strcmp(own.decode_scenario, other.decode_scenario) == 0;
        if (shared != cases[i].shared || strcmp(own.scenario, other.scenario) == 0) {
            fail_msg("%s: %s", cases[i].key, other.decode_scenario);
        }
        point_release(&other);
    }
    point_release(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_is_computed_once),
        cmocka_unit_test(failure_is_not_kept),
        cmocka_unit_test(servers_share_what_takes_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
