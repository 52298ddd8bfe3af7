/* Quantiles and the interval of the median, beside cases worked by hand and the binomial
 * distribution summed term by term. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "calibrate/measure/statistics.h"

#include <gsl/gsl_randist.h>
#include <math.h>

static void assert_near(double found, double expected, double allowed)
{
    if (!(fabs(found - expected) <= allowed)) {
        fail_msg("%.17g is not %.17g", found, expected);
    }
}

static void quantile_of_one_sample_is_it(void **state)
{
    (void)state;
    const double one[] = {7};
    for (int percent = 0; percent <= 100; percent += 10) {
        assert_near(samples_quantile(one, 1, percent / 100.0), 7, 0);
    }
}

static void quantiles_lie_on_lines_between_samples(void **state)
{
    (void)state;
    const double sorted[] = {1, 2, 4, 8, 16};
    assert_near(samples_quantile(sorted, 5, 0), 1, 0);
    assert_near(samples_quantile(sorted, 5, 0.5), 4, 0);
    assert_near(samples_quantile(sorted, 5, 0.1), 1.4, 1e-12);
    assert_near(samples_quantile(sorted, 5, 0.9), 12.8, 1e-12);
    assert_near(samples_quantile(sorted, 5, 1), 16, 0);
    assert_near(samples_quantile(sorted, 4, 0.5), 3, 1e-12);
}

static void five_samples_say_nothing_of_the_median(void **state)
{
    (void)state;
    const double sorted[] = {1, 2, 3, 4, 5};
    double low, high;
    for (uint32_t count = 1; count <= 5; count++) {
        assert_false(samples_median_interval(sorted, count, 0.95, &low, &high));
    }
}

/* The ranks of the usual tables for 95 % (such as Hollander and Wolfe, table A.2). */
static void median_interval_has_the_ranks_of_the_tables(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, rank;
    } cases[] = {{6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {50, 18}};
    double sorted[50], low, high;
    for (uint32_t i = 0; i < 50; i++) {
        sorted[i] = i + 1;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(samples_median_interval(sorted, cases[i].count, 0.95, &low, &high));
        assert_near(low, cases[i].rank, 0);
        assert_near(high, cases[i].count + 1 - cases[i].rank, 0);
    }
}

static double covered_by_rank(uint32_t count, uint32_t rank)
{
    double covered = 0, term = pow(0.5, count);
    for (uint32_t below = 0; below <= count; below++) {
        covered += below >= rank && below <= count - rank ? term : 0;
        term *= (double)(count - below) / (below + 1);
    }
    return covered;
}

static void median_interval_is_the_narrowest_that_covers(void **state)
{
    (void)state;
    double sorted[200], low, high;
    for (uint32_t i = 0; i < 200; i++) {
        sorted[i] = i + 1;
    }
    for (uint32_t count = 6; count <= 200; count++) {
        assert_true(samples_median_interval(sorted, count, 0.95, &low, &high));
        uint32_t rank = (uint32_t)low;
        assert_true(covered_by_rank(count, rank) >= 0.95);
        assert_true(rank + 1 > count / 2 || covered_by_rank(count, rank + 1) < 0.95);
    }
}

/* Whatever the distribution, the interval holds its median at least 95 times in 100. */
static void median_interval_holds_the_median_of_a_skewed_source(void **state)
{
    (void)state;
    enum { TRIALS = 4000, COUNT = 21 };
    const uint64_t seed = 3;
    struct error why;
    gsl_rng *random = random_stream(seed, "test", 0, &why);
    assert_non_null(random);
    uint32_t held = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        double samples[COUNT], low, high;
        for (uint32_t i = 0; i < COUNT; i++) {
            samples[i] = gsl_ran_exponential(random, 1);
        }
        samples_sort(samples, COUNT);
        assert_true(samples_median_interval(samples, COUNT, 0.95, &low, &high));
        held += low <= log(2) && log(2) <= high;
    }
    gsl_rng_free(random);
    /* Ranks 6 and 16 of 21 cover 97.3 %; 4 standard deviations are 1 %. */
    assert_in_range(held, (uint32_t)(0.963 * TRIALS), (uint32_t)(0.983 * TRIALS));
}

static void stray_samples_lie_three_quartile_distances_out(void **state)
{
    (void)state;
    const double sorted[] = {-8, 2, 3, 4, 5, 6, 7, 8, 19}; /* quartiles 3 and 7 */
    assert_int_equal(samples_stray(sorted, 9), 1);
    const double same[] = {4, 4, 4, 4, 5};
    assert_int_equal(samples_stray(same, 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantile_of_one_sample_is_it),
        cmocka_unit_test(quantiles_lie_on_lines_between_samples),
        cmocka_unit_test(five_samples_say_nothing_of_the_median),
        cmocka_unit_test(median_interval_has_the_ranks_of_the_tables),
        cmocka_unit_test(median_interval_is_the_narrowest_that_covers),
        cmocka_unit_test(median_interval_holds_the_median_of_a_skewed_source),
        cmocka_unit_test(stray_samples_lie_three_quartile_distances_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
