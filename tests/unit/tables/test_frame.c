/* A frame: the same rows for people, for programs and in a database. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tables/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, STEP, SAVES, NOTE, COLUMNS };
static const struct frame_column columns[COLUMNS] = {
    [NAME] = {.title = "name", .key = "name"},
    [STEP] = {.of = "step_us", .key = "step_us"},
    [SAVES] = {.title = "saves ms", .unit = UNIT_US, .key = "saves_us", .ranged = true},
    [NOTE] = {.key = "note", .what = "only data"},
};

static struct frame *create(void)
{
    struct error why;
    struct frame *frame = frame_create(columns, COLUMNS, &why);
    assert_non_null(frame);
    return frame;
}

static void add_run(struct frame *frame, const char *name, int64_t step_ns)
{
    struct result result;
    result_init(&result);
    result_integer(&result, COLUMN(step_us), step_ns);
    frame_row(frame);
    frame_text(frame, NAME, name);
    frame_result(frame, &result);
    result_release(&result);
}

static void assert_form(struct frame *frame, bool json, const struct table_view *view,
                        const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    struct error why;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(json ? frame_print_json(frame, out, &why) : frame_print(frame, view, out, &why));
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    frame_destroy(frame);
}

static void assert_written(struct frame *frame, bool json, const char *expected)
{
    assert_form(frame, json, NULL, expected);
}

static struct frame *two_runs(void)
{
    struct frame *frame = create();
    add_run(frame, "a", 63280000);
    frame_range(frame, SAVES, 1500, 1000, 2000);
    frame_text(frame, NOTE, "é");
    add_run(frame, "b", 8000);
    frame_number(frame, SAVES, -2.5);
    return frame;
}

static void people_see_titles_and_units(void **state)
{
    (void)state;
    assert_written(two_runs(), false,
                   "name  step ms       saves ms\n"
                   "a        63.3  1.5 (1.0–2.0)\n"
                   "b      0.0080        -0.0025\n");
}

static void programs_see_keys_and_numbers(void **state)
{
    (void)state;
    assert_written(
        two_runs(), true,
        "{\"name\":\"a\",\"step_us\":63280.0,\"saves_us\":1500.0,\"saves_us_low\":1000.0,"
        "\"saves_us_high\":2000.0,\"note\":\"é\"}\n"
        "{\"name\":\"b\",\"step_us\":8.0,\"saves_us\":-2.5,\"saves_us_low\":null,"
        "\"saves_us_high\":null,\"note\":null}\n");
}

/* The reason is for people: in data the cells are null. */
static void a_reason_stands_for_figures(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct frame *frame = create();
        frame_row(frame);
        frame_text(frame, NAME, "a");
        frame_reason(frame, STEP, "out of memory: 3 GiB are short");
        assert_written(frame, json,
                       json ? "{\"name\":\"a\",\"step_us\":null,\"saves_us\":null,"
                              "\"saves_us_low\":null,\"saves_us_high\":null,\"note\":null}\n"
                            : "name  step ms  saves ms\n"
                              "a     out of memory: 3 GiB are short\n");
    }
}

static void decimals_are_those_of_the_column(void **state)
{
    (void)state;
    char text[SHOWN_TEXT];
    assert_string_equal(shown_value(UNIT_US, 2, -11094, -15640, 1730, text),
                        "-11.09 (-15.64 … 1.73)");
    assert_string_equal(shown_value(UNIT_US, 2, -3, NAN, NAN, text), "0.00");
    assert_null(shown_value(UNIT_BYTES, 0, 0, NAN, NAN, text));
    assert_null(shown_value(UNIT_MS, 0, NAN, NAN, NAN, text));
    assert_string_equal(shown_value(UNIT_SHARE, 0, 0.9432, NAN, NAN, text), "94.3");
    assert_string_equal(shown_value(UNIT_CHANGE, 0, 0.0234, NAN, NAN, text), "+2.3 %");
    assert_string_equal(shown_value(UNIT_DURATION, 0, 1210, NAN, NAN, text), "1.21 ms");
    assert_string_equal(shown_value(UNIT_ROUGH, 0, 122.6, NAN, NAN, text), "120");
    assert_string_equal(shown_value(UNIT_ROUGH, 0, 0.000148, NAN, NAN, text), "0.00015");
}

/* Rows within a row: how a command gives an answer and what it rests on as one object. */
static void a_list_stands_in_one_cell(void **state)
{
    (void)state;
    static const struct frame_column whole[] = {
        {.key = "of"}, {.key = "absent", .sparse = true}, {.key = "rows", .unit = UNIT_JSON}};
    static const struct frame_column part[] = {{.key = "n", .unit = UNIT_WHOLE},
                                               {.key = "good", .unit = UNIT_FLAG}};
    struct error why;
    struct frame *frame = frame_create(whole, 3, &why), *rows = frame_create(part, 2, &why);
    frame_row(frame);
    frame_textf(frame, 0, "%d %s", 0, "rows");
    frame_take(frame, 2, frame_create(part, 2, &why));
    for (int i = 0; i < 2; i++) {
        frame_row(rows);
        frame_number(rows, 0, i);
        frame_number(rows, 1, i);
    }
    frame_add(frame, (const char *[]){"2 rows", "1"}, 2);
    frame_take(frame, 2, rows);
    assert_written(frame, true,
                   "{\"of\":\"0 rows\",\"rows\":[]}\n"
                   "{\"of\":\"2 rows\",\"absent\":\"1\","
                   "\"rows\":[{\"n\":0,\"good\":false},{\"n\":1,\"good\":true}]}\n");
}

static void a_row_stands_in_an_object(void **state)
{
    (void)state;
    static const struct frame_column columns[] = {{.title = "run", .key = "run"},
                                                  {.title = "sure", .key = "sure"},
                                                  {.key = "gpus", .unit = UNIT_WHOLE}};
    struct error why;
    struct frame *verdict = frame_create(columns, 3, &why);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    frame_row(verdict);
    frame_text(verdict, 0, "on 2 GPUs.");
    frame_number(verdict, 2, 2);
    assert_true(frame_print_json_member(verdict, "verdict", out, &why));
    fclose(out);
    assert_string_equal(text, "{\"verdict\":{\"run\":\"on 2 GPUs.\",\"sure\":null,\"gpus\":2}}\n");
    free(text);
    frame_destroy(verdict);
}

static void a_list_that_cannot_be_written_spoils_its_frame(void **state)
{
    (void)state;
    static const struct frame_column column = {.key = "rows", .unit = UNIT_JSON};
    struct error why;
    struct frame *frame = frame_create(&column, 1, &why), *rows = frame_create(&column, 1, &why);
    frame_row(frame);
    frame_take(frame, 0, rows);
    assert_true(frame_ok(frame, &why));
    frame_take(frame, 0, NULL);
    assert_false(frame_ok(frame, &why));
    frame_destroy(frame);
}

static void a_row_can_be_read_downwards(void **state)
{
    (void)state;
    static const struct frame_column columns[] = {
        {.title = "layers", .unit = UNIT_WHOLE, .what = "of the model"},
        {.key = "only data"},
        {.title = "source"},
        {.title = "whole", .unit = UNIT_FLAG, .what = "all of it"}};
    struct error why;
    char *text = NULL;
    size_t size = 0;
    struct frame *frame = frame_create(columns, 4, &why);
    frame_row(frame);
    frame_number(frame, 0, 28);
    frame_text(frame, 2, "a text longer than any number");
    frame_number(frame, 3, 0);
    FILE *out = open_memstream(&text, &size);
    assert_true(frame_print_fields(frame, out, &why));
    fclose(out);
    assert_string_equal(text, "layers  28  of the model\n"
                              "source  a text longer than any number\n"
                              "whole   no  all of it\n");
    free(text);
    frame_destroy(frame);
}

/* A reader can choose the columns that people see, and no others. */
static void only_titles_can_be_chosen(void **state)
{
    (void)state;
    struct error why;
    assert_true(frame_view_check(&(struct table_view){.columns = "step"}, columns, COLUMNS, &why));
    assert_false(frame_view_check(&(struct table_view){.columns = "note"}, columns, COLUMNS, &why));
}

/* So does every column of a result, under its own name, with its range. */
static void a_column_of_results_can_be_chosen(void **state)
{
    (void)state;
    struct error why;
    const struct table_view view = {.columns = "policy,step_us"};
    struct frame *frame = frame_create_view(columns, COLUMNS, &view, &why);
    assert_non_null(frame);
    add_run(frame, "a", 63280000);
    assert_form(frame, false, &view,
                "name  saves ms  policy  step_us\n"
                "a            -  -         63300\n");
}

static void an_unknown_column_is_refused(void **state)
{
    (void)state;
    struct error why;
    const struct table_view view = {.columns = "step,hit_ration"};
    assert_null(frame_create_view(columns, COLUMNS, &view, &why));
    assert_string_equal(why.found, "there is no column 'hit_ration'");
    assert_non_null(strstr(why.expected, "'spillway list columns'"));
}

/* Its interval is its range in data. */
static void a_mean_stands_for_a_figure(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct frame *frame = create();
        add_run(frame, "a", 63280000);
        frame_mean(frame, STEP, 61000, 1500);
        frame_mean(frame, SAVES, 500, 0);
        assert_written(frame, json,
                       json ? "{\"name\":\"a\",\"step_us\":61000.0,\"saves_us\":500.0,"
                              "\"saves_us_low\":null,\"saves_us_high\":null,\"note\":null}\n"
                            : "name     step ms    saves ms\n"
                              "a     61.0 ± 1.5  0.5000 ± 0\n");
    }
}

static void a_row_can_be_gone_back_to(void **state)
{
    (void)state;
    struct frame *frame = two_runs();
    assert_int_equal(frame_find(frame, "step"), STEP);
    frame_row_again(frame, 0);
    frame_number(frame, SAVES, 4000);
    assert_written(frame, false,
                   "name  step ms  saves ms\n"
                   "a        63.3      4.00\n"
                   "b      0.0080   -0.0025\n");
}

static void a_failed_run_says_why(void **state)
{
    (void)state;
    struct error why;
    struct result result;
    struct frame *frame = create();
    result_init(&result);
    frame_row(frame);
    frame_failed(frame, STEP, &result);
    assert_true(result_text(&result, COLUMN(status), "out-of-memory", &why));
    snprintf(result.message, sizeof result.message, "HBM is short");
    frame_row(frame);
    frame_failed(frame, STEP, &result);
    result_release(&result);
    assert_written(frame, false,
                   "name  step ms  saves ms\n"
                   "-     failed\n"
                   "-     out-of-memory: HBM is short\n");
}

static void no_frame_is_an_error(void **state)
{
    (void)state;
    struct error why;
    frame_row(NULL);
    frame_number(NULL, STEP, 1);
    frame_mean(NULL, STEP, 1, 1);
    frame_row_again(NULL, 0);
    assert_false(frame_print(NULL, NULL, stdout, &why));
    assert_false(frame_print_json(NULL, stdout, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_see_titles_and_units),
        cmocka_unit_test(programs_see_keys_and_numbers),
        cmocka_unit_test(a_reason_stands_for_figures),
        cmocka_unit_test(decimals_are_those_of_the_column),
        cmocka_unit_test(a_list_stands_in_one_cell),
        cmocka_unit_test(a_row_stands_in_an_object),
        cmocka_unit_test(a_list_that_cannot_be_written_spoils_its_frame),
        cmocka_unit_test(a_row_can_be_read_downwards),
        cmocka_unit_test(only_titles_can_be_chosen),
        cmocka_unit_test(a_column_of_results_can_be_chosen),
        cmocka_unit_test(an_unknown_column_is_refused),
        cmocka_unit_test(a_mean_stands_for_a_figure),
        cmocka_unit_test(a_row_can_be_gone_back_to),
        cmocka_unit_test(a_failed_run_says_why),
        cmocka_unit_test(no_frame_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
