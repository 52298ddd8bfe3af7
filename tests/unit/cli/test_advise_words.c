/* Numbers of an advice have two digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/advise/advise_words.h"

static void numbers_have_two_digits(void **state)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{122.6, "120"},    {9949, "9900"},      {99.6, "100"},  {17.07, "17"},
                 {9.96, "10"},      {2.49, "2.5"},       {0.995, "1.0"}, {0.93, "0.93"},
                 {0.0806, "0.081"}, {0.00806, "0.0081"}, {0, "0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ADVISE_NUMBER];
        assert_string_equal(advise_number(cases[i].number, text), cases[i].text);
    }
}

static void forms_are_said_in_words(void **state)
{
    static const struct {
        struct advice_form form;
        const char *text;
    } cases[] = {{{1, 1}, "one GPU"},
                 {{1, 8}, "one server of 8 GPUs"},
                 {{2, 1}, "2 servers of one GPU each"},
                 {{2, 4}, "2 servers of 4 GPUs each"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ADVISE_PHRASE];
        assert_string_equal(advise_form(&cases[i].form, text), cases[i].text);
    }
}

static void tokens_are_in_units_of_1024_if_they_are_whole(void **state)
{
    char text[ADVISE_NUMBER];
    (void)state;
    assert_string_equal(advise_tokens(131072, text), "128K");
    assert_string_equal(advise_tokens(4000, text), "4000");
}

/* A run of this TTFT against a bound of two seconds. */
static void a_miss_differs_from_its_bound(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{3180000000, "TTFT p50 3.18 s instead of 2s"},
                 {2003000000, "TTFT p50 2.003 s instead of 2s"},
                 {2000040000, "TTFT p50 2.00004 s instead of 2s"},
                 {269270000000, "TTFT p50 269 s instead of 2s"}};
    struct targets targets;
    struct result result;
    struct error why = {0};
    (void)state;
    result_init(&result);
    assert_true(result_text(&result, COLUMN_STATUS, "ok", &why));
    assert_true(targets_parse("ttft_p50_ms<=2s", &targets, &why));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ADVISE_PHRASE];
        result_integer(&result, COLUMN_TTFT_P50, cases[i].ns);
        assert_string_equal(advise_misses(&targets, &result, text), cases[i].text);
    }
    result_release(&result);
}

/* A median that is met, while one request in a hundred takes ten times as long. */
static void a_long_tail_is_told_beside_a_median(void **state)
{
    struct targets targets;
    struct result result;
    struct error why = {0};
    char text[ADVISE_PHRASE];
    (void)state;
    result_init(&result);
    assert_true(result_text(&result, COLUMN_STATUS, "ok", &why));
    assert_true(targets_parse("ttft_p50_ms<=2s", &targets, &why));
    result_integer(&result, COLUMN_TTFT_P50, 1000000000);
    result_integer(&result, COLUMN_TTFT_P99, 9900000000);
    assert_string_equal(advise_meets(&targets, &result, text), "TTFT p50 1 s of 2s");
    result_integer(&result, COLUMN_TTFT_P99, 12000000000);
    assert_string_equal(advise_meets(&targets, &result, text), "TTFT p50 1 s of 2s (but p99 12 s)");
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_two_digits),
        cmocka_unit_test(forms_are_said_in_words),
        cmocka_unit_test(a_miss_differs_from_its_bound),
        cmocka_unit_test(a_long_tail_is_told_beside_a_median),
        cmocka_unit_test(tokens_are_in_units_of_1024_if_they_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
