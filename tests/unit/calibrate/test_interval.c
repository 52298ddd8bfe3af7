/* How often work is repeated until it fills an interval; by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/measure/interval.h"

#define ENOUGH 200e3
#define MOST 120

static void short_intervals_are_filled(void **state)
{
    (void)state;
    assert_int_equal(interval_repeats(1, 16e3, ENOUGH, MOST), 13); /* 12.5 */
    assert_int_equal(interval_repeats(13, 100e3, ENOUGH, MOST), 26);
    assert_int_equal(interval_repeats(1, 100, ENOUGH, MOST), MOST);
    assert_int_equal(interval_repeats(1, 0, ENOUGH, MOST), MOST);
}

static void repetitions_never_fall(void **state)
{
    (void)state;
    assert_int_equal(interval_repeats(1, ENOUGH, ENOUGH, MOST), 1);
    assert_int_equal(interval_repeats(13, 10 * ENOUGH, ENOUGH, MOST), 13);
    assert_int_equal(interval_repeats(MOST, 1, ENOUGH, MOST), MOST);
}

/* A kernel of 2 us, and 2 us that each interval takes of its own: three intervals suffice, and the
 * last one's own time is 1 %. */
static void the_intervals_own_time_becomes_a_hundredth(void **state)
{
    (void)state;
    uint32_t repeats = 1;
    double ns = 0;
    for (int i = 0; i < 3; i++) {
        ns = 2e3 + 2e3 * repeats;
        repeats = interval_repeats(repeats, ns, ENOUGH, MOST);
    }
    ns = 2e3 + 2e3 * repeats;
    assert_true(ns >= ENOUGH);
    assert_true(2e3 / ns <= 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_intervals_are_filled),
        cmocka_unit_test(repetitions_never_fall),
        cmocka_unit_test(the_intervals_own_time_becomes_a_hundredth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
