/* Probes with samples that are known beforehand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/measure/measure.h"

#include <math.h>
#include <string.h>

static const struct effort effort = {"test", 2, 9, 50, 0.02, 3600};

static void assert_near(double found, double expected, double allowed)
{
    if (!(fabs(found - expected) <= allowed)) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

/* Gives base, then up to `spread` more by turns; counts, and fails at `fails_at` (0: never). */
struct fake {
    double base, spread;
    uint32_t calls, fails_at;
};

static bool sample(void *state, double *value, struct error *why)
{
    struct fake *fake = state;
    fake->calls++;
    *value = fake->base + fake->spread * (fake->calls % 5);
    return fake->calls != fake->fails_at || error_set(why, NULL, 0, "the machine is on fire");
}

static void steady_probe_ends_at_the_fewest_samples(void **state)
{
    (void)state;
    struct fake fake = {.base = 100};
    const struct probe probe = {"host.lookup", 0, &fake, sample};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_true(measure_probes(&probe, 1, &effort, 1, &findings, &why));
    assert_int_equal(fake.calls, 2 + 9);
    const struct finding *found = findings_get(&findings, "host.lookup");
    assert_non_null(found);
    assert_int_equal(found->unit, UNIT_NS);
    assert_int_equal(found->count, 1);
    assert_true(found->points[0].precise);
    assert_near(found->points[0].median, 100, 0);
    assert_near(found->points[0].drift, 1, 0);
    findings_release(&findings);
}

static void restless_probe_ends_at_the_cap(void **state)
{
    (void)state;
    struct fake fake = {.base = 100, .spread = 50};
    const struct probe probe = {"host.lookup", 0, &fake, sample};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_true(measure_probes(&probe, 1, &effort, 1, &findings, &why));
    assert_int_equal(fake.calls, 2 + 50);
    const struct found_point *point = &findings_get(&findings, "host.lookup")->points[0];
    assert_false(point->precise);
    assert_int_equal(point->samples, 50);
    assert_near(point->median, 200, 0);
    assert_near(point->p10, 100, 0);
    assert_near(point->p90, 300, 0);
    findings_release(&findings);
}

static void time_that_is_up_leaves_one_sample_of_each(void **state)
{
    (void)state;
    struct effort none = effort;
    struct fake fakes[2] = {{.base = 1e9, .spread = 1e8}, {.base = 2e9, .spread = 1e8}};
    const struct probe probes[] = {{"host.gather", 8, &fakes[0], sample},
                                   {"host.gather", 1, &fakes[1], sample}};
    struct findings findings = {.all = NULL};
    struct error why;
    none.seconds = 0;
    assert_true(measure_probes(probes, 2, &none, 1, &findings, &why));
    const struct finding *found = findings_get(&findings, "host.gather");
    assert_int_equal(found->count, 2);
    assert_string_equal(found->axis, "threads");
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(found->points[i].samples, 1);
        assert_false(found->points[i].precise);
    }
    assert_near(found->points[0].size, 1, 0);
    assert_near(found->points[1].size, 8, 0);
    findings_release(&findings);
}

static void failing_sample_ends_it_with_its_name_and_reason(void **state)
{
    (void)state;
    struct fake fake = {.base = 100, .fails_at = 5};
    const struct probe probe = {"host.lookup", 64, &fake, sample};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_false(measure_probes(&probe, 1, &effort, 1, &findings, &why));
    assert_string_equal(why.found, "'host.lookup' at 64: the machine is on fire");
    findings_release(&findings);
}

static void sample_that_is_no_duration_is_refused(void **state)
{
    (void)state;
    struct fake fake = {.base = -1};
    const struct probe probe = {"host.lookup", 0, &fake, sample};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_false(measure_probes(&probe, 1, &effort, 1, &findings, &why));
    assert_non_null(strstr(why.found, "host.lookup"));
    findings_release(&findings);
}

/* Single samples may be 0, as the difference of two times. */
static void figure_of_0_is_refused(void **state)
{
    (void)state;
    struct fake fake = {.base = 0};
    const struct probe probe = {"host.lookup", 64, &fake, sample};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_false(measure_probes(&probe, 1, &effort, 1, &findings, &why));
    assert_string_equal(why.found, "'host.lookup' at 64 is 0, which no machine can have");
    findings_release(&findings);
}

static void observation_has_the_axis_and_unit_it_was_added_with(void **state)
{
    (void)state;
    struct fake fake = {.base = 100};
    const struct probe probe = {"host.no_curve", 4096, &fake, sample};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_false(measure_probes(&probe, 1, &effort, 1, &findings, &why));
    findings_release(&findings);
    assert_non_null(findings_add(&findings, "host.no_curve", "bytes", UNIT_BYTES_PER_S, &why));
    assert_true(measure_probes(&probe, 1, &effort, 1, &findings, &why));
    const struct finding *found = findings_get(&findings, "host.no_curve");
    assert_string_equal(found->axis, "bytes");
    assert_int_equal(found->unit, UNIT_BYTES_PER_S);
    findings_release(&findings);
}

static bool sample_slower(void *state, double *value, struct error *why)
{
    uint32_t *calls = state;
    (void)why;
    *value = ++*calls <= 2 + 25 ? 100 : 150;
    return true;
}

static void machine_that_slows_down_shows_as_drift(void **state)
{
    (void)state;
    uint32_t calls = 0;
    struct effort all = effort;
    all.least = all.most;
    const struct probe probe = {"host.lookup", 0, &calls, sample_slower};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_true(measure_probes(&probe, 1, &all, 1, &findings, &why));
    assert_near(findings_get(&findings, "host.lookup")->points[0].drift, 1.5, 1e-12);
    findings_release(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_probe_ends_at_the_fewest_samples),
        cmocka_unit_test(restless_probe_ends_at_the_cap),
        cmocka_unit_test(time_that_is_up_leaves_one_sample_of_each),
        cmocka_unit_test(failing_sample_ends_it_with_its_name_and_reason),
        cmocka_unit_test(sample_that_is_no_duration_is_refused),
        cmocka_unit_test(figure_of_0_is_refused),
        cmocka_unit_test(observation_has_the_axis_and_unit_it_was_added_with),
        cmocka_unit_test(machine_that_slows_down_shows_as_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
