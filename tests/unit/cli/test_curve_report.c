/* What a table of curves calls its curves, and where it sees a knee. By hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/curve/curve_report.h"
#include "policy/policy.h"

#include <stdlib.h>

static const char *label(double eta, double power, char text[CURVE_PARAMETERS])
{
    struct policy_curves curves = {.policy = &policy_qsac, .values = {eta, power, 1, 0, 0}};
    curve_report_parameters(&curves, false, text);
    return text;
}

static void the_first_parameter_is_always_named(void **state)
{
    (void)state;
    char text[CURVE_PARAMETERS];
    assert_string_equal(label(0.6, 3, text), "eta 0.6");
    assert_string_equal(label(0.8, 3, text), "eta 0.8"); /* the default */
    assert_string_equal(label(0.8, 2, text), "eta 0.8, power 2");
}

static uint32_t knee_of(uint64_t misses[3])
{
    uint32_t size[] = {10, 20, 50};
    uint64_t accesses = 100;
    const struct curve_sizes sizes = {.size = size, .count = 3};
    const struct miss_curve curve = {
        .groups = 1, .count = 3, .accesses = &accesses, .misses = misses};
    return curve_report_knee(&sizes, &curve, 0);
}

static void a_flat_curve_has_no_knee(void **state)
{
    (void)state;
    assert_int_equal(knee_of((uint64_t[]){60, 10, 5}), 20);
    assert_int_equal(knee_of((uint64_t[]){40, 40, 40}), 0);
}

static void a_list_of_blocks_is_told_from_shares(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        bool in_blocks;
    } cases[] = {{"384,768", true}, {"10%,20%", false}, {"384,20%", false}, {NULL, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct curve_sizes sizes = {.size = NULL};
        struct error why;
        assert_true(curve_sizes_read(cases[i].list, 3840, &sizes, &why));
        assert_int_equal(sizes.in_blocks, cases[i].in_blocks);
        curve_sizes_release(&sizes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_parameter_is_always_named),
        cmocka_unit_test(a_flat_curve_has_no_knee),
        cmocka_unit_test(a_list_of_blocks_is_told_from_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
