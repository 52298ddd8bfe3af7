/* What is said of replications: means and spans as text, JSON and CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/runs/runs.h"
#include "study/sweep/replication.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run whose step takes 2 ms, with these rates drawn; up to a 0. */
static struct result make(const struct column *drawn, const double *values)
{
    struct result result;
    result_init(&result);
    result_integer(&result, drawn == COLUMN(ttft_ms) ? drawn : COLUMN(step_us), 2000000);
    while (values[result.draws.count] != 0) {
        result.draws.count++;
    }
    result.draws.values = calloc(result.draws.count, sizeof *result.draws.values);
    for (uint32_t i = 0; i < result.draws.count; i++) {
        for (int f = 0; f < DRAWN_MOST; f++) {
            result.draws.values[i][f] = f == drawn->drawn - 1 ? values[i] : (double)NAN;
        }
    }
    return result;
}

/* Two draws a apart lie within 6.3531 a of their mean. */
static void means_have_the_digits_that_their_interval_has(void **state)
{
    (void)state;
    static const struct {
        double values[3];
        const char *text;
    } cases[] = {
        {{10, 12}, "11 ± 13"},          {{10, 10.2}, "10.1 ± 1.3"},   {{10, 10.02}, "10.01 ± 0.13"},
        {{10, 10.002}, "10.00 ± 0.01"}, {{2345, 2365}, "2355 ± 127"}, {{0.5, 0.5}, "0.5000 ± 0"},
        {{12345, 12345}, "12345 ± 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[SHOWN_TEXT];
        struct interval mean = interval_mean(cases[i].values, 1, 2);
        assert_string_equal(shown_mean(UNIT_COUNT, mean.mean, mean.half, text), cases[i].text);
    }
}

/* Of 0, 1, ... 20 nine of ten lie from 1 to 19. */
static void spans_hold_nine_of_ten(void **state)
{
    (void)state;
    struct error why;
    char room[SHOWN_TEXT];
    const char *text;
    double values[22] = {0};
    for (int i = 0; i < 21; i++) {
        values[i] = 10 + 0.1 * i;
    }
    struct result result = make(COLUMN(decode_tokens_per_s), values);
    assert_true(drawn_span(&result, COLUMN(decode_tokens_per_s), room, &text, &why));
    assert_string_equal(text, "10.1 - 11.9");
    assert_true(drawn_span(&result, COLUMN(step_us), room, &text, &why));
    assert_null(text);
    result_release(&result);
}

static void programs_get_every_figure(void **state)
{
    (void)state;
    struct error why;
    char *text = NULL;
    size_t size = 0;
    struct result result = make(COLUMN(step_us), (const double[]){10, 12, 0});
    struct result none = make(COLUMN(step_us), (const double[]){0});
    FILE *out = open_memstream(&text, &size);
    assert_true(run_print_json(&none, NULL, out, &why));
    fflush(out);
    assert_null(strstr(text, "replications"));
    assert_true(run_print_json(&result, NULL, out, &why));
    fclose(out);
    assert_string_equal(strstr(text, "\"replications\""),
                        "\"replications\":{\"draws\":2,\"step_us\":{\"mean\":11,"
                        "\"low\":-1.70620474,\"high\":23.7062047,\"deviation\":1.41421356,"
                        "\"p5\":10.1,\"median\":11,\"p95\":11.9}}}\n");
    free(text);
    result_release(&result);
    result_release(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_have_the_digits_that_their_interval_has),
        cmocka_unit_test(spans_hold_nine_of_ten),
        cmocka_unit_test(programs_get_every_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
