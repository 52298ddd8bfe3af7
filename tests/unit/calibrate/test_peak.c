/* When products are warm, and what their peak is; by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/gpu/peak.h"

#include <math.h>
#include <string.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

/* How many windows of 50 ms run, by the rate of each; the last rate lasts. */
static uint32_t windows(const double *rates, uint32_t count, struct peak_warm_up *warm)
{
    uint32_t ran = 0;
    *warm = (struct peak_warm_up){0};
    while (peak_warm_up(warm, PEAK_WINDOW_NS, rates[ran < count ? ran : count - 1])) {
        ran++;
    }
    return ran + 1;
}

static void a_warm_gpu_takes_200_ms(void **state)
{
    (void)state;
    struct peak_warm_up warm;
    const double even[] = {700}, falls[] = {700, 690, 680, 670};
    assert_int_equal(windows(even, 1, &warm), 4);
    assert_true(warm.steady);
    assert_int_equal(windows(falls, 4, &warm), 4);
}

/* An SM that wakes up at 345 MHz: the rate rises for seven windows. */
static void windows_go_on_while_the_clock_rises(void **state)
{
    (void)state;
    struct peak_warm_up warm;
    const double rises[] = {130, 200, 300, 400, 550, 650, 700, 704};
    assert_int_equal(windows(rises, COUNT(rises), &warm), 8);
    assert_true(warm.steady);
    assert_float_equal(warm.rate, 704, 0);
}

static void a_clock_that_rises_for_ever_is_left_after_2_s(void **state)
{
    (void)state;
    struct peak_warm_up warm;
    double rises[100];
    for (size_t i = 0; i < COUNT(rises); i++) {
        rises[i] = 100 * pow(1.02, (double)i);
    }
    assert_int_equal(windows(rises, COUNT(rises), &warm), 40);
    assert_false(warm.steady);
}

/* H200: 132 SMs at 1980 MHz at most and 4096 FLOPs a clock, 1070 TFLOP/s. */
static void flops_a_clock_are_a_power_of_two(void **state)
{
    (void)state;
    static const struct {
        double rate, sms, most_mhz, now_mhz, found;
    } cases[] = {
        {750e12, 132, 1980, 1500, 4096}, /* a usual rate */
        {750e12, 132, 1980, 0, 4096},    /* no clock is stated */
        {1060e12, 132, 1980, 1980, 4096},
        /* a power cap halves the clock: the highest clock alone says 2048, at 0.96 of it */
        {512e12, 132, 1980, 1100, 4096},
        {512e12, 132, 1980, 0, 2048},
        /* the clock of now lags a little behind the rate */
        {720e12, 132, 1980, 1290, 4096},
        /* a clock of now that was read while the GPU idled */
        {750e12, 132, 1980, 345, 4096},
        {130e12, 108, 1410, 1200, 1024}, /* half an A100, of 2048 a clock in its SM */
        {280e12, 108, 1410, 1400, 2048}, /* A100 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double sms = cases[i].sms * 1e6;
        print_message("# %zu\n", i);
        assert_float_equal(
            peak_flops_a_clock(cases[i].rate, sms * cases[i].most_mhz, sms * cases[i].now_mhz),
            cases[i].found, 0);
    }
}

static void shares_above_one_are_refused(void **state)
{
    (void)state;
    struct error why;
    double share;
    assert_true(peak_share(500e12, 1000e12, &share, &why));
    assert_float_equal(share, 0.5, 1e-12);
    assert_true(peak_share(1004e12, 1000e12, &share, &why));
    assert_float_equal(share, 1, 0);
    assert_false(peak_share(1006e12, 1000e12, &share, &why));
    assert_non_null(strstr(why.found, "above the peak of"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_gpu_takes_200_ms),
        cmocka_unit_test(windows_go_on_while_the_clock_rises),
        cmocka_unit_test(a_clock_that_rises_for_ever_is_left_after_2_s),
        cmocka_unit_test(flops_a_clock_are_a_power_of_two),
        cmocka_unit_test(shares_above_one_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
