/* What an advice says of its limits and forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/advise/advise.h"

static void forms_are_said_in_words(void **state)
{
    static const struct {
        uint32_t servers, gpus;
        bool ranks;
        const char *text;
    } cases[] = {{1, 1, false, "one GPU"},
                 {1, 8, false, "one server of 8 GPUs"},
                 {1, 8, true, "one server of 8 ranks"},
                 {2, 1, false, "2 servers of one GPU each"},
                 {2, 4, false, "2 servers of 4 GPUs each"},
                 {2, 4, true, "2 servers of 4 ranks each"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ADVISE_WORDS];
        assert_string_equal(advise_form(cases[i].servers, cases[i].gpus, cases[i].ranks, text),
                            cases[i].text);
    }
}

static void tokens_are_in_units_of_1024_if_they_are_whole(void **state)
{
    char text[ADVISE_WORDS];
    (void)state;
    assert_string_equal(advise_tokens(131072, text), "128K");
    assert_string_equal(advise_tokens(4000, text), "4000");
}

/* What a run with these times has of the limits. */
static void assert_said(const char *limits, int64_t p50_ns, int64_t p99_ns, const char *expected)
{
    struct targets targets;
    struct result result;
    struct error why = {0};
    char has[ADVISE_SENTENCE];
    result_init(&result);
    assert_true(result_text(&result, COLUMN(status), "ok", &why));
    assert_true(targets_parse(limits, &targets, &why));
    result_integer(&result, COLUMN(ttft_p50_ms), p50_ns);
    result_integer(&result, COLUMN(ttft_p99_ms), p99_ns);
    result_integer(&result, COLUMN(requests_left_out), 0);
    assert_string_equal(advise_limits(&targets, &result, has), expected);
    result_release(&result);
}

/* A median that is met does not hide requests that take ten times as long. */
static void limits_are_said_with_what_a_run_has_of_them(void **state)
{
    static const char limit[] = "ttft_p50_ms<=2s,requests_left_out<=0";
    (void)state;
    assert_said(limit, 1000000000, 9900000000, "TTFT p50 1.00 s of 2s");
    assert_said(limit, 1000000000, 12000000000, "TTFT p50 1.00 s of 2s (but p99 12.0 s)");
    assert_said(limit, 1900000000, 9900000000, "TTFT p50 1.90 s of 2s (by 5 %)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_said_in_words),
        cmocka_unit_test(limits_are_said_with_what_a_run_has_of_them),
        cmocka_unit_test(tokens_are_in_units_of_1024_if_they_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
