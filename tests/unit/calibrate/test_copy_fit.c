/* What a copy takes beyond its bytes, how many are timed at once, and what overlaps: by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "calibrate/measure/copy_fit.h"

#include <gsl/gsl_rng.h>
#include <math.h>

#define RATE 50e9
#define SIZES 12

static void copies_that_follow_the_formula_are_fitted_exactly(void **state)
{
    (void)state;
    double sizes[SIZES], times[SIZES], worst;
    for (uint32_t i = 0; i < SIZES; i++) {
        sizes[i] = 256 * pow(4, i);
        times[i] = 1700 + sizes[i] * 1e9 / RATE;
    }
    assert_float_equal(copy_fixed_ns(sizes, times, SIZES, RATE, &worst), 1700, 1e-6);
    assert_float_equal(worst, 0, 1e-9);
}

/* Two copies of no bytes that take 1000 and 2000 ns: errors weigh as shares, so the fixed time is
 * (1/1000 + 1/2000) / (1/1000^2 + 1/2000^2) = 1200, 20 % over the first and 40 % under the second. */
static void errors_weigh_as_shares(void **state)
{
    (void)state;
    const double sizes[] = {0, 0}, times[] = {1000, 2000};
    double worst;
    assert_float_equal(copy_fixed_ns(sizes, times, 2, RATE, &worst), 1200, 1e-9);
    assert_float_equal(worst, 0.4, 1e-12);
}

/* Faster than the rate alone would have it. */
static void a_fixed_time_is_not_negative(void **state)
{
    (void)state;
    const double sizes[] = {1e6}, times[] = {10000};
    double worst;
    assert_float_equal(copy_fixed_ns(sizes, times, 1, RATE, &worst), 0, 0);
    assert_float_equal(worst, 1, 1e-12);
}

static double squares(const double *sizes, const double *times, uint32_t count, double fixed)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        double error = (fixed + sizes[i] * 1e9 / RATE) / times[i] - 1;
        sum += error * error;
    }
    return sum;
}

static void no_other_fixed_time_comes_closer(void **state)
{
    (void)state;
    struct error why;
    const uint64_t seed = 6;
    gsl_rng *random = random_stream(seed, "copy_fit", 0, &why);
    assert_non_null(random);
    for (int round = 0; round < 200; round++) {
        double sizes[SIZES], times[SIZES], worst;
        for (uint32_t i = 0; i < SIZES; i++) {
            sizes[i] = 256 * pow(4, i);
            times[i] = (500 + 4000 * gsl_rng_uniform(random) + sizes[i] * 1e9 / RATE) *
                       (0.9 + 0.3 * gsl_rng_uniform(random));
        }
        double fixed = copy_fixed_ns(sizes, times, SIZES, RATE, &worst);
        double least = squares(sizes, times, SIZES, fixed);
        print_message("# seed %lu, round %d: %.1f ns\n", (unsigned long)seed, round, fixed);
        assert_true(squares(sizes, times, SIZES, fixed + 1) >= least);
        assert_true(fixed < 1 || squares(sizes, times, SIZES, fixed - 1) >= least);
    }
    gsl_rng_free(random);
}

static void small_copies_are_repeated(void **state)
{
    (void)state;
    assert_int_equal(copy_repeats(1024, 4096, 100), 4);
    assert_int_equal(copy_repeats(1024, 4096, 3), 3);
    assert_int_equal(copy_repeats(5000, 4096, 3), 1);
    assert_int_equal(copy_repeats(0, 4096, 3), 3);
}

static void pieces_count_by_the_part_that_is_done(void **state)
{
    (void)state;
    const double ends[] = {10, 30, 40};
    assert_float_equal(pieces_done(ends, 3, 0), 0, 0);
    assert_float_equal(pieces_done(ends, 3, 5), 0.5, 1e-12);
    assert_float_equal(pieces_done(ends, 3, 10), 1, 1e-12);
    assert_float_equal(pieces_done(ends, 3, 25), 1.75, 1e-12);
    assert_float_equal(pieces_done(ends, 3, 40), 3, 1e-12);
    assert_float_equal(pieces_done(ends, 3, 99), 3, 1e-12);
    assert_float_equal(pieces_done(ends, 3, -1), 0, 0);
    assert_float_equal(pieces_done(ends, 0, 5), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_that_follow_the_formula_are_fitted_exactly),
        cmocka_unit_test(errors_weigh_as_shares),
        cmocka_unit_test(a_fixed_time_is_not_negative),
        cmocka_unit_test(no_other_fixed_time_comes_closer),
        cmocka_unit_test(small_copies_are_repeated),
        cmocka_unit_test(pieces_count_by_the_part_that_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
