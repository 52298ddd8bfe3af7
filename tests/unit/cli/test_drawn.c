/* What is said of replications: means and spans as text, JSON and CSV, and who beats whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/frame/drawn.h"
#include "cli/runs/contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run whose step takes 2 ms, with these rates drawn; up to a 0. */
static struct result make(enum drawn drawn, const double *values)
{
    struct result result;
    result_init(&result);
    result_integer(&result, drawn == DRAWN_TTFT ? COLUMN_TTFT : COLUMN_STEP, 2000000);
    while (values[result.draws.count] != 0) {
        result.draws.count++;
    }
    result.draws.values = calloc(result.draws.count, sizeof *result.draws.values);
    for (uint32_t i = 0; i < result.draws.count; i++) {
        for (int f = 0; f < DRAWN_COUNT; f++) {
            result.draws.values[i][f] = f == (int)drawn ? values[i] : (double)NAN;
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
        char text[DRAWN_TEXT];
        struct result result = make(DRAWN_DECODE_RATE, cases[i].values);
        assert_string_equal(drawn_mean(&result, DRAWN_DECODE_RATE, text), cases[i].text);
        assert_null(drawn_mean(&result, DRAWN_HIT_RATIO, text));
        assert_true(isnan(drawn_value(&result, DRAWN_HIT_RATIO)));
        result_release(&result);
    }
}

/* Of 0, 1, ... 20 nine of ten lie from 1 to 19. */
static void spans_hold_nine_of_ten(void **state)
{
    (void)state;
    struct error why;
    char room[DRAWN_TEXT];
    const char *text;
    double values[22] = {0};
    for (int i = 0; i < 21; i++) {
        values[i] = 10 + 0.1 * i;
    }
    struct result result = make(DRAWN_DECODE_RATE, values);
    assert_true(drawn_span(&result, DRAWN_DECODE_RATE, room, &text, &why));
    assert_string_equal(text, "10.1 - 11.9");
    assert_true(drawn_span(&result, DRAWN_STEP, room, &text, &why));
    assert_null(text);
    result_release(&result);
}

static void programs_get_every_figure(void **state)
{
    (void)state;
    struct error why;
    char *text = NULL;
    size_t size = 0;
    struct result result = make(DRAWN_STEP, (const double[]){10, 12, 0});
    struct result none = make(DRAWN_STEP, (const double[]){0});
    FILE *out = open_memstream(&text, &size);
    assert_true(drawn_print_json(&none, out, &why));
    assert_true(drawn_print_json(&result, out, &why));
    fputc('\n', out);
    drawn_print_csv_head(out);
    fputc('\n', out);
    drawn_print_csv(&result, out);
    fclose(out);
    const char *csv = strchr(text, '\n') + 1, *row = strchr(csv, '\n') + 1;
    assert_int_equal(strncmp(text,
                             ",\"replications\":{\"draws\":2,\"step_us\":{\"mean\":11,"
                             "\"low\":-1.70620474,\"high\":23.7062047,\"deviation\":1.41421356,"
                             "\"p5\":10.1,\"median\":11,\"p95\":11.9}}\n",
                             (size_t)(csv - text)),
                     0);
    assert_int_equal(strncmp(csv, ",draws,step_us_mean,step_us_low,step_us_high,decode_", 52), 0);
    assert_int_equal(strncmp(row, ",2,11,-1.70620474,23.7062047,,,,", 32), 0);
    int commas = 0, titles = 0;
    for (const char *c = csv; c < row; c++) {
        titles += *c == ',';
    }
    for (const char *c = row; *c != '\0'; c++) {
        commas += *c == ',';
    }
    assert_int_equal(commas, titles);
    free(text);
    result_release(&result);
    result_release(&none);
}

/* ---- matches ---- */

struct runner {
    size_t group;
    const char *title, *name;
    double values[5];
};

static void assert_matches(enum drawn drawn, const struct runner *runners, uint32_t count,
                           const char *said)
{
    struct error why;
    char *text = NULL;
    size_t size = 0;
    struct contest *contest = contest_create(0, &why);
    FILE *out = open_memstream(&text, &size);
    for (uint32_t i = 0; i < count; i++) {
        struct result result = make(drawn, runners[i].values);
        assert_true(contest_add(contest, runners[i].group, runners[i].title, runners[i].name,
                                &result, &why));
        result_release(&result);
    }
    contest_print(contest, out);
    fclose(out);
    const char *matches = strstr(text, "draw by draw");
    assert_string_equal(matches != NULL ? matches : "", said);
    free(text);
    contest_destroy(contest);
}

#define MATCHES(drawn, said, ...)                                                                  \
    assert_matches(drawn, (const struct runner[]){__VA_ARGS__},                                    \
                   sizeof((const struct runner[]){__VA_ARGS__}) / sizeof(struct runner), said)

static void the_better_mean_is_matched_with_the_next(void **state)
{
    (void)state;
    MATCHES(DRAWN_DECODE_RATE,
            "draw by draw, by tokens/s: b beats a in 2 of 3, a beats c in 3 of 3\n",
            {0, "", "a", {5, 5, 5}}, {0, "", "b", {6, 9, 4}}, {0, "", "c", {1, 2, 3}});
}

/* In draws that both have; a tie is nobody's. */
static void ties_are_counted_apart(void **state)
{
    (void)state;
    MATCHES(DRAWN_DECODE_RATE, "draw by draw, by tokens/s: b beats a in 1 of 3 (1 tie)\n",
            {0, "", "a", {5, 5, 5}}, {0, "", "b", {6, 5, 4, 9}});
    MATCHES(DRAWN_DECODE_RATE, "draw by draw, by tokens/s: a ties with b in all 2\n",
            {0, "", "a", {5, 6}}, {0, "", "b", {5, 6}});
}

static void a_server_is_better_that_answers_sooner(void **state)
{
    (void)state;
    MATCHES(DRAWN_TTFT, "draw by draw, by TTFT: a beats b in 2 of 2\n", {0, "", "b", {5, 6}},
            {0, "", "a", {1, 2}});
}

/* Groups stand in the order of the sweep, and one alone has no match. */
static void groups_are_apart(void **state)
{
    (void)state;
    MATCHES(DRAWN_DECODE_RATE,
            "draw by draw, by tokens/s: batch 1: a beats b in 2 of 2\n"
            "draw by draw, by tokens/s: batch 2: b beats a in 2 of 2\n",
            {0, "batch 1", "a", {5, 6}}, {2, "batch 3", "a", {5, 6}}, {1, "batch 2", "a", {5, 6}},
            {0, "batch 1", "b", {3, 4}}, {1, "batch 2", "b", {7, 8}});
}

/* Where some draws answer nobody in time, nothing can be said of a mean. */
static void a_run_with_draws_that_say_nothing_has_no_rank(void **state)
{
    (void)state;
    MATCHES(DRAWN_TTFT, "draw by draw, by TTFT: a beats b in 2 of 2\n", {0, "", "n", {1, NAN}},
            {0, "", "b", {5, 6}}, {0, "", "m", {NAN, 1}}, {0, "", "a", {1, 2}});
    MATCHES(DRAWN_TTFT, "", {0, "", "n", {1, NAN}}, {0, "", "m", {NAN, 1}});
}

/* The run's own step is 2000 us; 1 of these 4 lies below it, and 4000 above it does none. */
static void a_run_says_where_its_own_figure_lies_among_its_draws(void **state)
{
    (void)state;
    struct error why;
    char room[DRAWN_TEXT];
    const char *text;
    struct result far = make(DRAWN_STEP, (const double[]){1000, 3000, 3001, 3002, 0});
    struct result near = make(DRAWN_STEP, (const double[]){1000, 3000, 0});
    assert_true(drawn_own(&near, DRAWN_STEP, room, &text, &why));
    assert_null(text); /* their mean itself */
    assert_true(drawn_own(&far, DRAWN_STEP, room, &text, &why));
    assert_null(text); /* within 2500.75 ± 1593 and the span */
    result_integer(&far, COLUMN_STEP, 4000000);
    assert_true(drawn_own(&far, DRAWN_STEP, room, &text, &why));
    assert_string_equal(text, "4 ms a step, longer than in 4 of 4 draws");
    result_release(&far);
    result_release(&near);
}

/* 10 and 12 lie within 12.7062 of 11: 116 %. */
static void a_precision_that_was_not_reached_is_said(void **state)
{
    (void)state;
    char room[DRAWN_TEXT];
    struct result result = make(DRAWN_STEP, (const double[]){10, 12, 0});
    assert_string_equal(drawn_missed(&result, 0.05, room),
                        "5 % wanted, 116 % reached after 2 draws");
    assert_null(drawn_missed(&result, 0, room));
    assert_null(drawn_missed(&result, 1.2, room));
    result_release(&result);
}

static void nothing_is_said_of_runs_without_draws(void **state)
{
    (void)state;
    MATCHES(DRAWN_DECODE_RATE, "", {0, "", "a", {0}}, {0, "", "b", {0}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_have_the_digits_that_their_interval_has),
        cmocka_unit_test(spans_hold_nine_of_ten),
        cmocka_unit_test(programs_get_every_figure),
        cmocka_unit_test(the_better_mean_is_matched_with_the_next),
        cmocka_unit_test(ties_are_counted_apart),
        cmocka_unit_test(a_server_is_better_that_answers_sooner),
        cmocka_unit_test(groups_are_apart),
        cmocka_unit_test(a_run_with_draws_that_say_nothing_has_no_rank),
        cmocka_unit_test(a_run_says_where_its_own_figure_lies_among_its_draws),
        cmocka_unit_test(a_precision_that_was_not_reached_is_said),
        cmocka_unit_test(nothing_is_said_of_runs_without_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
