/* Quantiles of gaps against sorted ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/record.h"

#include <math.h>

static void quantiles_are_within_a_percent(void **state)
{
    (void)state;
    const double shares[] = {0.001, 0.25, 0.5, 0.9, 0.99, 1};
    for (int64_t scale = 1; scale < (int64_t)1 << 50; scale *= 7) {
        struct gaps gaps = {.count = 0};
        for (int64_t i = 1000; i >= 1; i--) {
            gaps_add(&gaps, i * scale, 1);
        }
        for (int i = 0; i < 6; i++) {
            double exact = ceil(1000 * shares[i]) * (double)scale;
            assert_true(fabs(gaps_quantile_ns(&gaps, shares[i]) / exact - 1) < 0.01);
        }
        assert_int_equal(gaps.count, 1000);
        assert_true(fabs(gaps.sum_ns / (500500.0 * (double)scale) - 1) < 1e-9);
    }
}

static void every_length_has_a_bin(void **state)
{
    (void)state;
    struct gaps gaps = {.count = 0};
    assert_true(gaps_quantile_ns(&gaps, 0.5) == 0);
    gaps_add(&gaps, 0, 1);
    assert_true(gaps_quantile_ns(&gaps, 1) == 0);
    gaps_add(&gaps, INT64_MAX, 1);
    assert_true(fabs(gaps_quantile_ns(&gaps, 1) / (double)INT64_MAX - 1) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_within_a_percent),
        cmocka_unit_test(every_length_has_a_bin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
