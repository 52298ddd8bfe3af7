/* Quantities: every spelling read by hand, what is refused and how, and that what is printed
 * can be read again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

static void quantities_are_read_as_written(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit unit;
        double value;
    } cases[] = {
        {"0", UNIT_COUNT, 0},
        {"42", UNIT_COUNT, 42},
        {"1.5", UNIT_COUNT, 1.5},
        {"1e3", UNIT_COUNT, 1000},
        {"25E-2", UNIT_COUNT, 0.25},
        {"2.5e+1", UNIT_COUNT, 25},
        {"30%", UNIT_SHARE, 0.3},
        {"3x", UNIT_TIMES, 3},
        {"4096tok", UNIT_TOKENS, 4096},
        {"128K", UNIT_TOKENS, 131072},
        {"1M", UNIT_TOKENS, 1048576},
        {"7B", UNIT_BYTES, 7},
        {"1kB", UNIT_BYTES, 1000},
        {"1KiB", UNIT_BYTES, 1024},
        {"2MB", UNIT_BYTES, 2e6},
        {"2MiB", UNIT_BYTES, 2097152},
        {"8GiB", UNIT_BYTES, 8589934592.0},
        {"8 GiB", UNIT_BYTES, 8589934592.0},
        {"0.5GB", UNIT_BYTES, 5e8},
        {"1TB", UNIT_BYTES, 1e12},
        {"1TiB", UNIT_BYTES, 1099511627776.0},
        {"12ns", UNIT_NS, 12},
        {"12us", UNIT_NS, 12e3},
        {"1.5ms", UNIT_NS, 1.5e6},
        {"2min", UNIT_NS, 120e9},
        {"1h", UNIT_NS, 3600e9},
        {"2s", UNIT_NS, 2e9},
        {"26GB/s", UNIT_BYTES_PER_S, 26e9},
        {"3.35TB/s", UNIT_BYTES_PER_S, 3.35e12},
        {"1GiB/s", UNIT_BYTES_PER_S, 1073741824},
        {"312TFLOP/s", UNIT_FLOP_PER_S, 312e12},
        {"1PFLOP/s", UNIT_FLOP_PER_S, 1e15},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct quantity quantity;
        print_message("# %s\n", cases[i].text);
        assert_true(quantity_parse(cases[i].text, &quantity));
        assert_int_equal(quantity.unit, cases[i].unit);
        assert_true(fabs(quantity.value - cases[i].value) <= 1e-15 * cases[i].value);
    }
}

static void everything_else_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",        " ",        "GiB",    "-1",         "+1",           "-8GiB",  ".5",
        "5.",      "1.GiB",    "1e",     "1e+",        "0x10",         "inf",    "nan",
        "1e400",   "8gib",     "8Gib",   "8GiB ",      " 8GiB",        "8  GiB", "8\tGiB",
        "8 ",      "8GiBs",    "8 GiB/", "1,5",        "1_000",        "12 μs",  "1e20",
        "1e12TiB", "300years", "3X",     "4096tokens", "10000000000s", "1 2",    "--3",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct quantity quantity = {-1, UNIT_NS};
        print_message("# '%s'\n", cases[i]);
        assert_false(quantity_parse(cases[i], &quantity));
        assert_true(quantity.value == -1);
    }
}

static void bare_numbers_are_taken_where_they_make_sense(void **state)
{
    (void)state;
    static const struct {
        enum unit unit;
        bool taken;
    } cases[] = {
        {UNIT_COUNT, true},        {UNIT_SHARE, true},       {UNIT_TOKENS, true},
        {UNIT_TIMES, false},       {UNIT_BYTES, false},      {UNIT_NS, false},
        {UNIT_BYTES_PER_S, false}, {UNIT_FLOP_PER_S, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        double value = -1;
        bool taken = units_parse("0.5", cases[i].unit, "a", 1, "key", &value, &why);
        assert_int_equal(taken, cases[i].taken);
        assert_true(value == (taken ? 0.5 : -1));
    }
}

static void refusals_say_what_was_found_and_expected(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit unit;
        const char *message;
    } cases[] = {
        {"8us", UNIT_BYTES,
         "a.yaml:3: 'budget' is '8us', which is a time\n  expected: a size such as 8GiB"},
        {"-8GiB", UNIT_BYTES,
         "a.yaml:3: 'budget' is '-8GiB', which is negative\n  expected: a size such as 8GiB"},
        {"8", UNIT_NS,
         "a.yaml:3: 'budget' is '8', which has no unit\n  expected: a time such as 12us"},
        {"8gib", UNIT_BYTES,
         "a.yaml:3: 'budget' is '8gib', which has an unknown unit\n"
         "  nearest: 'GiB'   expected: a size such as 8GiB"},
        {"much", UNIT_COUNT,
         "a.yaml:3: 'budget' is 'much', which is not a number\n  expected: a number such as 4"},
        {"30", UNIT_SHARE,
         "a.yaml:3: 'budget' is '30', which is more than 100 %\n"
         "  nearest: '30%'   expected: a share such as 30%"},
        {"300", UNIT_SHARE,
         "a.yaml:3: 'budget' is '300', which is more than 100 %\n"
         "  expected: a share such as 30%"},
        {"99999999999TiB", UNIT_BYTES,
         "a.yaml:3: 'budget' is '99999999999TiB', which is too large\n"
         "  expected: a size such as 8GiB"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        char text[1024];
        double value = -1;
        assert_false(
            units_parse(cases[i].text, cases[i].unit, "a.yaml", 3, "budget", &value, &why));
        error_format(&why, text, sizeof text);
        assert_string_equal(text, cases[i].message);
        assert_true(value == -1);
    }
}

static void whole_numbers_are_exact_in_all_their_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit unit;
        uint64_t value;
    } cases[] = {
        {"0", UNIT_COUNT, 0},
        {"007", UNIT_COUNT, 7},
        {"9007199254740993", UNIT_COUNT, 9007199254740993u}, /* 2^53 + 1 */
        {"18446744073709551615", UNIT_COUNT, UINT64_MAX},
        {"8796093022209KiB", UNIT_BYTES, 9007199254742016u},
        {"16777215TiB", UNIT_BYTES, 16777215ull << 40},
        {"1.5KiB", UNIT_BYTES, 1536},
        {"1.1GiB", UNIT_BYTES, 1181116006}, /* of 1181116006.4 */
        {"0.3GB", UNIT_BYTES, 300000000},
        {"1e3", UNIT_COUNT, 1000},
        {"4096", UNIT_TOKENS, 4096},
        {"4096tok", UNIT_TOKENS, 4096},
        {"128K", UNIT_TOKENS, 131072},
        {"1M", UNIT_TOKENS, 1048576},
        {"16K", UNIT_BYTES, 16384}, /* not tokens, where bytes are asked for */
        {"2G", UNIT_BYTES, 2147483648u},
        {"12us", UNIT_NS, 12000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        uint64_t value = 1;
        print_message("# %s\n", cases[i].text);
        assert_true(units_parse_whole(cases[i].text, cases[i].unit, UINT64_MAX, "a", 1, "key",
                                      &value, &why));
        assert_true(value == cases[i].value);
    }
}

static void fractions_and_excess_are_no_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit unit;
        uint64_t most;
        const char *complaint;
    } cases[] = {
        {"1.5", UNIT_COUNT, UINT64_MAX, "which is not a whole number"},
        {"0.0001kB", UNIT_BYTES, UINT64_MAX, "which is not a whole number"},
        {"1.2345us", UNIT_NS, UINT64_MAX, "which is not a whole number"},
        {"1000000.5", UNIT_COUNT, UINT64_MAX, "which is not a whole number"},
        {"18446744073709551616", UNIT_COUNT, UINT64_MAX, "which is too large"},
        {"16777216TiB", UNIT_BYTES, UINT64_MAX, "which is too large"},
        {"1e30", UNIT_COUNT, UINT64_MAX, "which is too large"},
        {"99999999999999999999999999", UNIT_COUNT, UINT64_MAX, "which is too large"},
        {"129", UNIT_COUNT, 128, "which is more than 128"},
        {"1GiB", UNIT_BYTES, 512, "which is more than 512B"},
        {"-1", UNIT_COUNT, 128, "which is negative"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        uint64_t value = 77;
        print_message("# %s\n", cases[i].text);
        assert_false(units_parse_whole(cases[i].text, cases[i].unit, cases[i].most, "--set", 0,
                                       "key", &value, &why));
        assert_non_null(strstr(why.found, cases[i].complaint));
        assert_int_equal(why.kind, ERROR_USAGE);
        assert_int_equal(value, 77);
        assert_int_equal(strcmp(why.expected, "a number up to 128") == 0,
                         strcmp(cases[i].text, "129") == 0);
    }
}

static void values_are_printed_with_three_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        enum unit unit;
        const char *text;
    } cases[] = {
        {4.8 * 1073741824, UNIT_BYTES, "4.80 GiB"},
        {0, UNIT_BYTES, "0 B"},
        {-0.0, UNIT_NS, "0 ns"},
        {512, UNIT_BYTES, "512 B"},
        {1023 * 1024.0, UNIT_BYTES, "1023 KiB"},
        {1023.7 * 1024, UNIT_BYTES, "1.00 MiB"},
        {1e18, UNIT_BYTES, "909495 TiB"},
        {127e3, UNIT_NS, "127 us"},
        {999.7e3, UNIT_NS, "1.00 ms"},
        {999.4e3, UNIT_NS, "999 us"},
        {0.25, UNIT_NS, "0.250 ns"},
        {-1500, UNIT_NS, "-1.50 us"},
        {26e9, UNIT_BYTES_PER_S, "26.0 GB/s"},
        {3.35e12, UNIT_BYTES_PER_S, "3.35 TB/s"},
        {312e12, UNIT_FLOP_PER_S, "312 TFLOP/s"},
        {0.93, UNIT_SHARE, "93.0 %"},
        {1, UNIT_SHARE, "100 %"},
        {0.005, UNIT_SHARE, "0.500 %"},
        {3, UNIT_TIMES, "3.00 x"},
        {131072, UNIT_TOKENS, "131072 tok"},
        {42, UNIT_COUNT, "42"},
        {2.5, UNIT_COUNT, "2.50"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[32];
        assert_ptr_equal(units_format(cases[i].value, cases[i].unit, text, sizeof text), text);
        assert_string_equal(text, cases[i].text);
    }
}

static void what_is_printed_is_read_as_nearly_the_same(void **state)
{
    (void)state;
    struct error why;
    gsl_rng *stream = random_stream(11, "test.units", 0, &why);
    assert_non_null(stream);
    for (int i = 0; i < 20000; i++) {
        enum unit unit = (enum unit)(UNIT_COUNT + gsl_rng_uniform_int(stream, UNIT_FLOP_PER_S));
        double value = exp(40 * gsl_rng_uniform(stream));
        char text[32];
        struct quantity quantity;
        units_format(value, unit, text, sizeof text);
        assert_true(strlen(text) < sizeof text - 1);
        if (!quantity_parse(text, &quantity) || quantity.unit != unit ||
            fabs(quantity.value - value) > 0.00501 * value) {
            fail_msg("seed 11, draw %d: %.17g of unit %d printed as '%s'", i, value, (int)unit,
                     text);
        }
    }
    gsl_rng_free(stream);
}

static void extreme_values_fit_their_room(void **state)
{
    (void)state;
    static const double values[] = {
        1.7976931348623157e308, -1.7976931348623157e308, 5e-324, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < COUNT(values); i++) {
        for (int unit = UNIT_COUNT; unit <= UNIT_FLOP_PER_S; unit++) {
            char text[33];
            memset(text, '!', sizeof text);
            units_format(values[i], (enum unit)unit, text, 32);
            assert_in_range(strlen(text), 1, 30); /* nothing was cut */
        }
    }
}

static void every_example_is_of_its_unit(void **state)
{
    (void)state;
    for (int unit = UNIT_COUNT; unit <= UNIT_FLOP_PER_S; unit++) {
        struct quantity quantity;
        assert_true(quantity_parse(unit_kinds[(enum unit)unit].example, &quantity));
        assert_int_equal(quantity.unit, unit);
    }
}

/* ---- one spelling ---- */

static const struct {
    double value;
    enum unit unit;
    const char *text;
} spelt[] = {
    {0, UNIT_COUNT, "0"},
    {40, UNIT_COUNT, "40"},
    {0.1, UNIT_COUNT, "0.1"},
    {100000, UNIT_COUNT, "100000"},
    {0.3, UNIT_SHARE, "30%"},
    {1, UNIT_SHARE, "100%"},
    {0.125, UNIT_SHARE, "12.5%"},
    {0, UNIT_SHARE, "0%"},
    {3, UNIT_TIMES, "3x"},
    {2.5, UNIT_TIMES, "2.5x"},
    {32768, UNIT_TOKENS, "32768tok"},
    {0, UNIT_BYTES, "0B"},
    {132, UNIT_BYTES, "132B"},
    {1.5 * (1 << 30), UNIT_BYTES, "1536MiB"},
    {8.0 * (1 << 30), UNIT_BYTES, "8GiB"},
    {1e6, UNIT_NS, "1ms"},
    {1500000, UNIT_NS, "1500us"},
    {26e9, UNIT_BYTES_PER_S, "26GB/s"},
};

static void each_value_has_one_spelling(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++) {
        char text[32];
        assert_string_equal(units_write(spelt[i].value, spelt[i].unit, text, sizeof text),
                            spelt[i].text);
    }
}

/* A percentage is its hundredth, to the last bit: they have one spelling. */
static void a_share_is_what_is_written(void **state)
{
    (void)state;
    for (int i = 0; i <= 100000; i++) {
        char percent[32], share[32];
        double a, b;
        struct error why;
        snprintf(percent, sizeof percent, "%d.%03d%s%%", i / 1000, i % 1000, i % 2 ? " " : "");
        snprintf(share, sizeof share, "%d.%05d", i / 100000, i % 100000);
        assert_true(units_parse(percent, UNIT_SHARE, NULL, 0, "share", &a, &why));
        assert_true(units_parse(share, UNIT_SHARE, NULL, 0, "share", &b, &why));
        if (a != b) {
            fail_msg("%s is %.17g, and %s is %.17g", percent, a, share, b);
        }
    }
}

/* Any number that a scenario may say, written and read again. */
static void what_is_written_is_read_as_the_same(void **state)
{
    (void)state;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(random, 41);
    for (int i = 0; i < 50000; i++) {
        enum unit unit = (enum unit)(UNIT_COUNT + i % UNIT_FLOP_PER_S);
        double value = gsl_rng_uniform(random);
        if (unit != UNIT_SHARE) {
            value = ldexp(value, (int)gsl_rng_uniform_int(random, 40));
            value = i % 3 == 0 ? nearbyint(value) : value;
        }
        char text[32];
        struct quantity read;
        units_write(value, unit, text, sizeof text);
        bool good = quantity_parse(text, &read) && read.value == value &&
                    (read.unit == unit || read.unit == UNIT_COUNT);
        if (!good) {
            fail_msg("%.17g of unit %d: %s", value, (int)unit, text);
        }
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_read_as_written),
        cmocka_unit_test(everything_else_is_refused),
        cmocka_unit_test(bare_numbers_are_taken_where_they_make_sense),
        cmocka_unit_test(refusals_say_what_was_found_and_expected),
        cmocka_unit_test(whole_numbers_are_exact_in_all_their_bits),
        cmocka_unit_test(fractions_and_excess_are_no_whole_numbers),
        cmocka_unit_test(values_are_printed_with_three_digits),
        cmocka_unit_test(what_is_printed_is_read_as_nearly_the_same),
        cmocka_unit_test(extreme_values_fit_their_room),
        cmocka_unit_test(every_example_is_of_its_unit),
        cmocka_unit_test(each_value_has_one_spelling),
        cmocka_unit_test(a_share_is_what_is_written),
        cmocka_unit_test(what_is_written_is_read_as_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
