/* What is fitted to the times of kernels: by hand, and against every neighbour. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "calibrate/gpu/kernel_fit.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

#define PEAK 1e12 /* a byte takes 0.001 ns */
#define TIMES 12

/* 1 to 64 sequences of 8 KV heads, 64 KiB to 1 GiB: not in proportion to each other. */
static void make_times(struct kernel_time times[TIMES], double fixed, double pair, double byte)
{
    for (int i = 0; i < TIMES; i++) {
        double pairs = 8 << i % 4 * 2, bytes = 65536 * pow(4, i / 4 * 2 + (i % 4 == 3));
        times[i] = (struct kernel_time){fixed + pair * pairs + byte * bytes, pairs, bytes};
    }
}

static void times_that_follow_the_form_are_fitted_exactly(void **state)
{
    (void)state;
    static const struct {
        double fixed, pair, byte, share;
    } cases[] = {
        {12000, 13, 0.00125, 0.8}, {4000, 0, 0.002, 0.5}, {0, 20, 0.001, 1}, {5000, 0, 0.001, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kernel_time times[TIMES];
        struct kernel_fit fit;
        struct error why;
        make_times(times, cases[i].fixed, cases[i].pair, cases[i].byte);
        assert_true(kernel_fit_times(times, TIMES, PEAK, &fit, &why));
        assert_float_equal(fit.fixed_ns, cases[i].fixed, 1e-3);
        assert_float_equal(fit.pair_ns, cases[i].pair, 1e-5);
        assert_float_equal(fit.share, cases[i].share, 1e-9);
        assert_float_equal(fit.worst, 0, 1e-9);
        assert_float_equal(fit.low, 1, 1e-9);
        assert_float_equal(fit.high, 1, 1e-9);
    }
}

/* Without a peak there is no share, and the times of the form are the same. */
static void a_peak_that_is_not_known_gives_no_share(void **state)
{
    (void)state;
    struct kernel_time times[TIMES];
    struct kernel_fit fit;
    struct error why;
    make_times(times, 3000, 0, 0.002);
    assert_true(kernel_fit_times(times, TIMES, 0, &fit, &why));
    assert_float_equal(fit.fixed_ns, 3000, 1e-3);
    assert_float_equal(fit.bytes_ns, 0.002, 1e-9);
    assert_float_equal(fit.share, 0, 0);
}

static double squares(const struct kernel_time *times, double fixed, double pair, double byte)
{
    double sum = 0;
    for (int i = 0; i < TIMES; i++) {
        double fitted = fixed + pair * times[i].pairs + byte * times[i].bytes;
        sum += pow(fitted / times[i].ns - 1, 2);
    }
    return sum;
}

/* No neighbour that the bounds allow comes closer, in any direction. */
static void no_other_factors_come_closer(void **state)
{
    (void)state;
    struct error why;
    const uint64_t seed = 8;
    gsl_rng *random = random_stream(seed, "kernel_fit", 0, &why);
    assert_non_null(random);
    for (int round = 0; round < 200; round++) {
        struct kernel_time times[TIMES];
        struct kernel_fit fit;
        make_times(times, 10000 * gsl_rng_uniform(random), 20 * gsl_rng_uniform(random),
                   0.001 * (1.1 + gsl_rng_uniform(random)));
        for (int i = 0; i < TIMES; i++) {
            times[i].ns *= 0.95 + 0.3 * gsl_rng_uniform(random);
        }
        assert_true(kernel_fit_times(times, TIMES, PEAK, &fit, &why));
        print_message("# seed %lu, round %d: %.0f ns, %.1f ns, %.3f\n", (unsigned long)seed, round,
                      fit.fixed_ns, fit.pair_ns, fit.share);
        assert_true(fit.fixed_ns >= 0 && fit.pair_ns >= 0 && fit.share <= 1);
        double least = squares(times, fit.fixed_ns, fit.pair_ns, fit.bytes_ns) * (1 + 1e-9);
        for (int way = -1; way <= 1; way += 2) {
            double fixed = fit.fixed_ns + way * 10, pair = fit.pair_ns + way * 0.1;
            double byte = fit.bytes_ns + way * 1e-6;
            assert_true(fixed < 0 || squares(times, fixed, fit.pair_ns, fit.bytes_ns) >= least);
            assert_true(pair < 0 || squares(times, fit.fixed_ns, pair, fit.bytes_ns) >= least);
            assert_true(byte < 1e9 / PEAK ||
                        squares(times, fit.fixed_ns, fit.pair_ns, byte) >= least);
        }
    }
    gsl_rng_free(random);
}

static void assert_refused(const struct kernel_time *times, uint32_t count, double peak,
                           const char *complaint)
{
    struct kernel_fit fit;
    struct error why;
    assert_false(kernel_fit_times(times, count, peak, &fit, &why));
    assert_non_null(strstr(why.found, complaint));
}

static void what_no_machine_measures_is_refused(void **state)
{
    (void)state;
    struct kernel_time times[TIMES];
    make_times(times, 0, 0, 0.001 / 1.004);
    struct kernel_fit fit;
    struct error why;
    assert_true(kernel_fit_times(times, TIMES, PEAK, &fit, &why));
    assert_float_equal(fit.share, 1, 1e-12);
    make_times(times, 0, 0, 0.001 / 1.006);
    assert_refused(times, TIMES, PEAK, "above the peak of 1.00 TB/s");
    assert_refused(times, 3, PEAK, "3 times are too few");
    make_times(times, 5000, 0, 0);
    assert_refused(times, TIMES, 0, "do not grow with their bytes");
}

/* Times between 0.9 and 1.25 of what was fitted: a share is 1 / 1.25 to 1 / 0.9 of its value. */
static void a_figure_has_the_spread_of_its_times(void **state)
{
    (void)state;
    const struct kernel_fit fit = {.low = 0.9, .high = 1.25, .count = 7};
    struct findings findings = {.all = NULL};
    struct error why;
    assert_true(kernel_fit_state(&fit, "gpu.product_fixed", 4000, false, "a", &findings, &why));
    assert_true(kernel_fit_state(&fit, "gpu.product_share", 0.9, true, "b", &findings, &why));
    const struct finding *fixed = findings_get(&findings, "gpu.product_fixed");
    const struct finding *share = findings_get(&findings, "gpu.product_share");
    assert_float_equal(fixed->points[0].p10, 3600, 1e-9);
    assert_float_equal(fixed->points[0].p90, 5000, 1e-9);
    assert_int_equal(fixed->points[0].samples, 7);
    assert_float_equal(share->points[0].p10, 0.72, 1e-12);
    assert_float_equal(share->points[0].p90, 1, 1e-12);
    assert_string_equal(share->note, "b");
    findings_release(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_that_follow_the_form_are_fitted_exactly),
        cmocka_unit_test(a_peak_that_is_not_known_gives_no_share),
        cmocka_unit_test(no_other_factors_come_closer),
        cmocka_unit_test(what_no_machine_measures_is_refused),
        cmocka_unit_test(a_figure_has_the_spread_of_its_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
