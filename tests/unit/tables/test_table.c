/* Tables for people: aligned by character, never wider than a line where they can help it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tables/frame.h"

#include <stdlib.h>
#include <string.h>

/* The table under the view, as text. */
static void assert_view_prints(struct frame *frame, const struct table_view *view,
                               const char *expected)
{
    struct error why;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(frame_print(frame, view, out, &why));
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    frame_destroy(frame);
}

static void assert_prints(struct frame *frame, const char *expected)
{
    assert_view_prints(frame, NULL, expected);
}

static struct frame *create(const struct frame_column *columns, uint32_t count)
{
    struct error why;
    struct frame *frame = frame_create(columns, count, &why);
    assert_non_null(frame);
    return frame;
}

/* The last text of a row that is short fills the line. */
static void add(struct frame *frame, const char *const *texts, uint32_t count)
{
    bool all = count == frame->column_count;
    frame_add(frame, texts, count - !all);
    if (!all) {
        frame_reason(frame, count - 1, texts[count - 1]);
    }
}

#define ADD(frame, ...)                                                                            \
    do {                                                                                           \
        const char *texts[] = {__VA_ARGS__};                                                       \
        add(frame, texts, sizeof texts / sizeof texts[0]);                                         \
    } while (0)

static void columns_align_by_character(void **state)
{
    (void)state;
    const struct frame_column columns[] = {
        {.title = "name"}, {.title = "n", .unit = UNIT_COUNT}, {.title = "what"}};
    struct frame *table = create(columns, 3);
    ADD(table, "a", "1", "x");
    ADD(table, "3840→131072", "1000", NULL);
    ADD(table, "", "", "");
    assert_prints(table, "name            n  what\n"
                         "a               1  x\n"
                         "3840→131072  1000  -\n"
                         "\n");
}

static void an_optional_column_shows_where_a_row_has_it(void **state)
{
    (void)state;
    const struct frame_column columns[] = {
        {.title = "a"}, {.title = "b", .optional = true}, {.title = "c"}};
    for (int i = 0; i < 2; i++) {
        struct frame *table = create(columns, 3);
        ADD(table, "1", NULL, "x");
        ADD(table, "2", i == 0 ? NULL : "y", "z");
        assert_prints(table, i == 0 ? "a  c\n1  x\n2  z\n" : "a  b  c\n1  -  x\n2  y  z\n");
    }
}

static void a_column_without_a_title_is_blank_where_a_row_has_nothing(void **state)
{
    (void)state;
    const struct frame_column columns[] = {{.title = "a"}, {.title = "", .optional = true}};
    struct frame *table = create(columns, 2);
    ADD(table, "1", NULL);
    ADD(table, "2", "grows");
    assert_prints(table, "a\n1\n2  grows\n");
}

static void no_titles_mean_no_head(void **state)
{
    (void)state;
    const struct frame_column columns[] = {{.title = ""}, {.title = ""}};
    struct frame *table = create(columns, 2);
    ADD(table, "key", "value");
    assert_prints(table, "key  value\n");
}

#define TEN "0123456789"
#define FORTY TEN TEN TEN TEN
#define FORTY_EIGHT FORTY "01234567"

static void the_column_that_matters_least_is_left_out(void **state)
{
    (void)state;
    const struct frame_column columns[] = {{.title = FORTY_EIGHT},
                                           {.title = FORTY_EIGHT, .drop = 1},
                                           {.title = "c", .drop = 2},
                                           {.title = "why"}};
    struct frame *table = create(columns, 4);
    ADD(table, "1", "2", "3", "link 22, manager 10, sync 1");
    assert_prints(
        table, FORTY_EIGHT
        "  why\n"
        "1                                                 link 22, manager 10, sync 1\n");
}

/* Ranges of columns that nobody sees are no reason to leave out ranges. */
static void ranges_of_hidden_columns_do_not_count(void **state)
{
    (void)state;
    const struct frame_column columns[] = {{.title = "hidden", .unit = UNIT_COUNT, .extra = true},
                                           {.title = FORTY_EIGHT},
                                           {.title = FORTY_EIGHT},
                                           {.title = FORTY_EIGHT}};
    struct frame *table = create(columns, 4);
    frame_row(table);
    frame_range(table, 0, 2, 1, 3);
    for (uint32_t i = 1; i < 4; i++) {
        frame_text(table, i, FORTY_EIGHT);
    }
#define LINE FORTY_EIGHT "  " FORTY_EIGHT "  " FORTY_EIGHT "\n"
    assert_prints(table, LINE LINE);
}

/* Hidden columns behind it take no room, and it may go as any other. */
static void the_last_column_that_shows_may_be_left_out(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct frame_column columns[] = {
            {.title = FORTY_EIGHT},
            {.title = FORTY_EIGHT},
            {.title = i == 0 ? "sixteen letters." : "seventeen letters", .drop = 1},
            {.title = "", .optional = true}};
        struct frame *table = create(columns, 4);
        assert_prints(table, i == 0 ? FORTY_EIGHT "  " FORTY_EIGHT "  sixteen letters.\n"
                                    : FORTY_EIGHT "  " FORTY_EIGHT "\n");
    }
}

static void the_last_column_is_cut_at_a_comma(void **state)
{
    (void)state;
    const struct frame_column columns[] = {
        {.title = FORTY_EIGHT}, {.title = TEN TEN TEN "01234567"}, {.title = "why"}};
    struct frame *table = create(columns, 3);
    ADD(table, "1", "2", "manager 35, retrieval 12, merge 7");
    assert_prints(table,
                  FORTY_EIGHT "  " TEN TEN TEN "01234567  why\n"
                              "1                                                 "
                              "2                                       manager 35, retrieval 12\n");
}

static void a_short_row_runs_over_and_is_wrapped(void **state)
{
    (void)state;
    const struct frame_column columns[] = {
        {.title = "system"}, {.title = "b", .unit = UNIT_COUNT}, {.title = "c"}, {.title = "d"}};
    struct frame *table = create(columns, 4);
    ADD(table, "vllm", "1", "2", "3");
    ADD(table, "clo", "16", FORTY " " FORTY " " TEN " and more");
    assert_prints(table, "system   b  c  d\n"
                         "vllm     1  2  3\n"
                         "clo     16  " FORTY " " FORTY "\n"
                         "            " TEN " and more\n");
}

/* ---- choice ---- */

static const struct frame_column named[] = {
    {.title = "system"},
    {.title = "batch", .unit = UNIT_COUNT, .name = "batch"},
    {.title = "HBM", .unit = UNIT_COUNT, .name = "hbm", .extra = true},
    {.title = FORTY_EIGHT FORTY_EIGHT, .name = "long", .drop = 1},
    {.title = "none", .name = "none", .optional = true},
    {.title = "waiting for", .name = "waits"},
};

static void assert_choice_prints(const struct table_view *view, const char *expected)
{
    struct frame *frame = create(named, 6);
    ADD(frame, "clo", "4", "5 GiB", "l", NULL, "link 3, sync 1");
    ADD(frame, "h2o", "8", "too large");
    assert_view_prints(frame, view, expected);
}

static void extra_columns_are_not_usual(void **state)
{
    (void)state;
    const struct table_view usual = {.wide = false};
    assert_choice_prints(&usual, "system  batch  waiting for\n"
                                 "clo         4  link 3, sync 1\n"
                                 "h2o         8  too large\n");
}

static void chosen_columns_stand_in_their_order(void **state)
{
    (void)state;
    const struct table_view view = {.columns = "waits, hbm,waits"};
    assert_choice_prints(&view, "system  waiting for       HBM\n"
                                "clo     link 3, sync 1  5 GiB\n"
                                "h2o     too large\n");
    const struct table_view empty = {.columns = "none"};
    assert_choice_prints(&empty, "system  none\nclo     -\nh2o     too large\n");
}

static void a_wide_table_leaves_out_nothing_that_a_row_has(void **state)
{
    (void)state;
    const struct table_view view = {.wide = true};
    assert_choice_prints(
        &view, "system  batch    HBM  " FORTY_EIGHT FORTY_EIGHT "  waiting for\n"
               "clo         4  5 GiB  l                                                        "
               "                                         link 3, sync 1\n"
               "h2o         8  too large\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_align_by_character),
        cmocka_unit_test(an_optional_column_shows_where_a_row_has_it),
        cmocka_unit_test(a_column_without_a_title_is_blank_where_a_row_has_nothing),
        cmocka_unit_test(no_titles_mean_no_head),
        cmocka_unit_test(the_last_column_that_shows_may_be_left_out),
        cmocka_unit_test(the_column_that_matters_least_is_left_out),
        cmocka_unit_test(ranges_of_hidden_columns_do_not_count),
        cmocka_unit_test(the_last_column_is_cut_at_a_comma),
        cmocka_unit_test(a_short_row_runs_over_and_is_wrapped),
        cmocka_unit_test(extra_columns_are_not_usual),
        cmocka_unit_test(chosen_columns_stand_in_their_order),
        cmocka_unit_test(a_wide_table_leaves_out_nothing_that_a_row_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
