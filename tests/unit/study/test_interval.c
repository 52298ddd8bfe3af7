/* Intervals of a mean, against cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/sweep/replication.h"

#include <math.h>

static void assert_near(double got, double expected, double within)
{
    if (!(fabs(got - expected) <= within)) {
        fail_msg("%.9g, not %.9g", got, expected);
    }
}

static struct interval all_of(const double *values, size_t stride, uint32_t count)
{
    struct interval interval;
    struct error why;
    assert_true(interval_of(values, stride, count, &interval, &why));
    return interval;
}

/* Mean 3, deviation √(10/4) = 1.58114; t(4) at 97.5 % is 2.77645 in any table: 2.77645 · 1.58114 /
 * √5 = 1.96325. The quantile 5 % lies a fifth of the way from the first to the second. */
static void five_draws_by_hand(void **state)
{
    (void)state;
    const double values[] = {4, 1, 5, 2, 3};
    struct interval interval = all_of(values, 1, 5);
    assert_near(interval.mean, 3, 1e-12);
    assert_near(interval.deviation, 1.58114, 1e-5);
    assert_near(interval.half, 1.96325, 1e-5);
    assert_near(interval.p5, 1.2, 1e-12);
    assert_near(interval.median, 3, 1e-12);
    assert_near(interval.p95, 4.8, 1e-12);
}

/* Two draws, a apart: t(1) is 12.7062, the deviation a/√2, so the half-width 6.3531 a. */
static void two_draws_say_little(void **state)
{
    (void)state;
    const double values[] = {10, 12};
    struct interval interval = all_of(values, 1, 2);
    assert_near(interval.mean, 11, 1e-12);
    assert_near(interval.half, 6.3531 * 2, 1e-3);
}

static void equal_draws_are_sure(void **state)
{
    (void)state;
    const double values[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    struct interval interval = all_of(values, 1, 7);
    assert_true(interval.mean == 0.1 && interval.half == 0 && interval.deviation == 0);
    assert_true(interval.p5 == 0.1 && interval.p95 == 0.1);
}

static void draws_may_stand_in_columns(void **state)
{
    (void)state;
    const double rows[][2] = {{4, -1}, {1, -2}, {5, -3}, {2, -4}, {3, -5}};
    struct interval interval = all_of(&rows[0][0], 2, 5);
    assert_near(interval.mean, 3, 1e-12);
    assert_near(interval.half, 1.96325, 1e-5);
    assert_near(interval_mean(&rows[0][1], 2, 5).mean, -3, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_draws_by_hand),
        cmocka_unit_test(two_draws_say_little),
        cmocka_unit_test(equal_draws_are_sure),
        cmocka_unit_test(draws_may_stand_in_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
