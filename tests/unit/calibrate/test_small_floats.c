/* bf16 and fp8 by the tables of their definitions, and every code there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/kernels/small_floats.h"

#include <math.h>

static const struct {
    float value;
    uint8_t bits;
} fp8_cases[] = {
    {0, 0x00},         {1, 0x38}, {-1, 0xb8}, {1.125F, 0x39}, {448, 0x7e}, /* the largest */
    {1000, 0x7e},                                                          /* past it */
    {-INFINITY, 0xfe},                                                     /* past it */
    {0x1p-9F, 0x01},                                                       /* the smallest */
    {0x1p-10F, 0x00},                                                      /* half of it: to even */
    {0x1.8p-9F, 0x02}, /* between 1 and 2 of it: to even */
    {0x1p-6F, 0x08},   /* the first with eight steps to a power of two */
    {0x1.ep-7F, 0x08}, /* 7.5 steps: to even */
    {1.0625F, 0x38},   /* between 1 and 1.125: to even */
    {1.1875F, 0x3a},   /* between 1.125 and 1.25: to even */
    {1.95F, 0x40},     /* carries into the exponent */
};

static void fp8_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fp8_cases / sizeof fp8_cases[0]; i++) {
        if (fp8_of(fp8_cases[i].value) != fp8_cases[i].bits) {
            fail_msg("%a is 0x%02x, not 0x%02x", (double)fp8_cases[i].value,
                     fp8_of(fp8_cases[i].value), fp8_cases[i].bits);
        }
    }
}

static void fp8_comes_back_from_its_value(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        if ((bits & 0x7f) == 0x7f) {
            assert_true(isnan(fp8_value((uint8_t)bits)));
        }
        assert_int_equal(fp8_of(fp8_value((uint8_t)bits)), bits);
    }
}

static void fp8_ascends_with_its_code(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x7e; bits++) {
        assert_true(fp8_value((uint8_t)bits) < fp8_value((uint8_t)(bits + 1)));
    }
    assert_float_equal(fp8_value(0x7e), 448, 0);
}

static const struct {
    float value;
    uint16_t bits;
} bf16_cases[] = {
    {1, 0x3f80},
    {-2, 0xc000},
    {1 + 0x1p-8F, 0x3f80},            /* half a step: to even */
    {1 + 0x3p-8F, 0x3f82},            /* one and a half: to even */
    {1 + 0x1p-8F + 0x1p-20F, 0x3f81}, /* more than half */
    {0x1.fffffep127F, 0x7f80},        /* rounds to infinity */
    {INFINITY, 0x7f80},
};

static void bf16_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bf16_cases / sizeof bf16_cases[0]; i++) {
        if (bf16_of(bf16_cases[i].value) != bf16_cases[i].bits) {
            fail_msg("%a is 0x%04x, not 0x%04x", (double)bf16_cases[i].value,
                     bf16_of(bf16_cases[i].value), bf16_cases[i].bits);
        }
    }
}

static void bf16_comes_back_from_its_value(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        float value = bf16_value((uint16_t)bits);
        if (isnan(value)) {
            assert_true(isnan(bf16_value(bf16_of(value))));
        } else {
            assert_int_equal(bf16_of(value), bits);
        }
    }
}

static void an_array_is_read_by_its_type(void **state)
{
    (void)state;
    const uint16_t wide[] = {0x3f80, 0x4000};
    const uint8_t narrow[] = {0x38, 0xc0};
    assert_float_equal(kv_value(KV_BF16, wide, 1), 2, 0);
    assert_float_equal(kv_value(KV_FP8, narrow, 1), -2, 0);
    assert_int_equal(kv_type_bytes(KV_BF16), 2);
    assert_int_equal(kv_type_bytes(KV_FP8), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp8_rounds_to_nearest_even),
        cmocka_unit_test(fp8_comes_back_from_its_value),
        cmocka_unit_test(fp8_ascends_with_its_code),
        cmocka_unit_test(bf16_rounds_to_nearest_even),
        cmocka_unit_test(bf16_comes_back_from_its_value),
        cmocka_unit_test(an_array_is_read_by_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
