/* The result of several families: the one in the middle, and the range over all. By hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "predict/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, OOM = -1 };

static const char *const names[MOST] = {"one", "two", "three", "four"};

/* A run of `step` microseconds with `hit` percent of hits; OOM: it does not fit. */
static struct result run_of(int64_t step, double hit)
{
    struct result result;
    struct error why;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(status), step == OOM ? "out-of-memory" : "ok", &why));
    if (step != OOM) {
        result_integer(&result, COLUMN(step_us), 1000 * step);
        result_real(&result, COLUMN(hit_ratio), hit / 100);
    }
    return result;
}

static const struct {
    const char *what;
    int64_t steps[MOST];
    uint32_t count, middle;
} cases[] = {
    {"one alone", {7}, 1, 0},
    {"the second of three", {30, 10, 20}, 3, 2},
    {"in order already", {10, 20, 30}, 3, 1},
    {"the slower of two", {10, 20}, 2, 1},
    {"the slower of the two in the middle", {40, 10, 30, 20}, 4, 2},
    {"ties keep their order", {10, 10, 10}, 3, 1},
    {"two that tie, and a faster one", {20, 20, 10}, 3, 0},
    {"what does not fit is slowest", {OOM, 10, 20}, 3, 2},
    {"most do not fit", {10, OOM, OOM}, 3, 1},
};

static void the_middle_is_by_time(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct result results[MOST];
        for (uint32_t i = 0; i < cases[c].count; i++) {
            results[i] = run_of(cases[c].steps[i], 50);
        }
        uint32_t middle = families_middle(results, cases[c].count);
        if (middle != cases[c].middle) {
            fail_msg("%s: %u, not %u", cases[c].what, middle, cases[c].middle);
        }
        for (uint32_t i = 0; i < cases[c].count; i++) {
            result_release(&results[i]);
        }
    }
}

static void a_server_is_ranked_by_time_per_token(void **state)
{
    struct result results[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        result_init(&results[i]);
        result_integer(&results[i], COLUMN(tpot_ms), 100 - i);
    }
    assert_int_equal(families_middle(results, 3), 1);
}

/* Write the families of these runs into the first. */
static struct result write(struct result *results, uint32_t count)
{
    families_write(results, names, count, &results[0]);
    for (uint32_t i = 1; i < count; i++) {
        result_release(&results[i]);
    }
    return results[0];
}

static void ranges_are_least_and_most_over_families(void **state)
{
    (void)state;
    struct result results[] = {run_of(20, 85), run_of(10, 96), run_of(30, 90)};
    struct result all = write(results, 3);
    assert_int_equal(result_cell(&all, COLUMN(step_us))->integer, 20000);
    assert_int_equal(result_cell(&all, COLUMN(step_us_low))->integer, 10000);
    assert_int_equal(result_cell(&all, COLUMN(step_us_high))->integer, 30000);
    assert_true(result_cell(&all, COLUMN(hit_ratio))->real == .9); /* of another family */
    assert_true(result_cell(&all, COLUMN(hit_ratio_low))->real == .85);
    assert_true(result_cell(&all, COLUMN(hit_ratio_high))->real == .96);
    assert_false(result_cell(&all, COLUMN(mass_recall_low))->set); /* no run has a mass */
    assert_int_equal(all.family_count, 3);
    assert_string_equal(all.families[1].name, "two");
    assert_true(all.families[1].values[COLUMN(step_us)->range - 1] == 10);
    assert_true(all.families[0].values[COLUMN(hit_ratio)->range - 1] == .85);
    assert_true(isnan(all.families[0].values[COLUMN(mass_recall)->range - 1]));
    assert_string_equal(all.message, "");
    result_release(&all);
}

static void a_family_that_does_not_fit_is_named(void **state)
{
    (void)state;
    struct result results[] = {run_of(20, 90), run_of(OOM, 0), run_of(10, 95)};
    result_note(&results[0], note_plain(NOTE_queue_grows));
    struct result all = write(results, 3);
    assert_string_equal(all.message, "more requests arrive than are answered: the queue grows "
                                     "without bound; with the recording of two it does not fit in "
                                     "memory");
    assert_int_equal(result_cell(&all, COLUMN(step_us_high))->integer, 20000);
    assert_true(isnan(all.families[1].values[COLUMN(step_us)->range - 1]));
    result_release(&all);
}

static void what_fits_with_no_family_has_no_range(void **state)
{
    (void)state;
    struct result results[] = {run_of(OOM, 0), run_of(OOM, 0), run_of(OOM, 0)};
    struct result all = write(results, 3);
    assert_false(result_cell(&all, COLUMN(step_us_low))->set);
    assert_string_equal(all.message, "");
    result_release(&all);
}

static void masses_are_those_of_each_family_by_step(void **state)
{
    (void)state;
    struct result_step one[] = {{.mass_recall = 0.9}, {.mass_recall = 0.8}};
    struct result_step three[] = {{.mass_recall = NAN}, {.mass_recall = 0.5}};
    struct result results[3] = {run_of(10, 50), run_of(20, 50), run_of(30, 50)}, out = results[0];
    results[0].steps = one;
    results[2].steps = three;
    results[0].step_count = results[2].step_count = 2;
    struct error why;
    assert_true(families_write_masses(results, 3, &out, &why));
    const struct result_mass expected[] = {{0, 0, 0.9}, {0, 1, 0.8}, {2, 1, 0.5}};
    assert_int_equal(out.mass_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(out.masses[i].family, expected[i].family);
        assert_int_equal(out.masses[i].step, expected[i].step);
        assert_true(out.masses[i].mass_recall == expected[i].mass_recall);
    }
    free(out.masses);
    for (int i = 0; i < 3; i++) {
        results[i].steps = NULL;
        result_release(&results[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_middle_is_by_time),
        cmocka_unit_test(masses_are_those_of_each_family_by_step),
        cmocka_unit_test(a_server_is_ranked_by_time_per_token),
        cmocka_unit_test(ranges_are_least_and_most_over_families),
        cmocka_unit_test(a_family_that_does_not_fit_is_named),
        cmocka_unit_test(what_fits_with_no_family_has_no_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
