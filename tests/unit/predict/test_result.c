/* A run's result: what is read of its items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/result/shown.h"
#include "predict/result/result.h"

#include <math.h>
#include <string.h>
#include <stdio.h>

static void the_largest_item_is_the_first_of_the_longest(void **state)
{
    (void)state;
    struct result result;
    result_init(&result);
    assert_null(result_largest(&result, COLUMN(parts_us)));
    result.part_count = 4;
    result.parts[0] = (struct result_item){.name = "link", .ns = 2};
    result.parts[1] = (struct result_item){.name = "compute", .ns = 7};
    result.parts[2] = (struct result_item){.name = "sync", .ns = 0};
    result.parts[3] = (struct result_item){.name = "merge", .ns = 7};
    assert_string_equal(result_largest(&result, COLUMN(parts_us))->name, "compute");
    assert_null(result_largest(&result, COLUMN(stalls_us)));
    result_release(&result);
}

/* Digits end at the first digit of half the range, but the figure has two; three at most. */
static void a_range_says_how_many_digits_hold(void **state)
{
    (void)state;
    static const struct {
        double value, low, high;
        const char *text; /* NULL: no range */
    } cases[] = {
        {94.12, 84.6, 96.4, "94 (85–96)"},       /* half: 5.9 */
        {94.12, 93.4, 94.9, "94.1 (93.4–94.9)"}, /* half: 0.75 */
        {35.924, 35.9, 35.93, NULL},
        {35.924, 35.6, 35.95, NULL},
        {35.924, 35.6, 35.96, "35.9 (35.6–36.0)"},
        {101.4, 62.2, 138, "100 (60–140)"},
        {1234, 1187, 1291, "1230 (1190–1290)"},
        {0.0312, 0.0288, 0.0333, "0.031 (0.029–0.033)"},
        {37.4, 14.6, 82.1, "37 (15–82)"},    /* half: 34; the figure has two digits */
        {5.21, 2.94, 8.36, "5.2 (2.9–8.4)"}, /* half: 2.7 */
        {103.2, 3.2, 904, "103 (3–904)"},    /* the low end is not 0 */
        {0.4, 0, 0.9, "0.40 (0.00–0.90)"},
        {57.52, 57.52, 57.52, NULL},
        {0, 0, 0, NULL},
        {1, (double)NAN, (double)NAN, NULL},
        {(double)NAN, 1, 2, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char room[SHOWN_TEXT];
        const char *text = range_format(cases[i].value, cases[i].low, cases[i].high, room);
        if (cases[i].text == NULL) {
            assert_null(text);
        } else {
            assert_string_equal(text, cases[i].text);
        }
    }
}

/* Three digits, no exponent, and not 0 for what is little. */
static void a_figure_without_a_range_has_three_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{38.2431, "38.2"},  {99.96, "100"},      {4562.3, "4560"},  {2.9, "2.90"},
                 {0.0165, "0.0165"}, {0.00012, "0.0001"}, {-9.876, "-9.88"}, {0, "0.00"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char room[SHOWN_TEXT];
        assert_string_equal(range_single(cases[i].value, room, sizeof room), cases[i].text);
    }
}

/* Of a run that does not fit, the first note; of one that failed, the message. */
static void a_reason_leaves_out_what_would_fit(void **state)
{
    (void)state;
    struct result result;
    char text[64];
    result_init(&result);
    strcpy(result.message, "no such model; nearest: x");
    assert_string_equal(result_reason(&result, text, sizeof text), "no such model; nearest: x");
    result_drop_notes(&result);
    result_note(&result,
                note_make(NOTE_short_of_host, note_bytes(3ULL << 30), note_bytes(1ULL << 30)));
    result_note(&result, note_make(NOTE_room, note_whole(7), note_whole(0)));
    assert_string_equal(result_reason(&result, text, sizeof text),
                        "host memory: needs 3.00 GiB, has 1.00 GiB");
    assert_string_equal(result.message, "host memory: needs 3.00 GiB, has 1.00 GiB; "
                                        "largest batch 7, largest context 0");
    result_release(&result);
}

static void every_range_has_its_ends(void **state)
{
    (void)state;
    const struct column *column;
    uint32_t count = 0;
    for (; (column = column_ranged(count)) != NULL; count++) {
        char low[64], high[64];
        snprintf(low, sizeof low, "%s_low", column->name);
        snprintf(high, sizeof high, "%s_high", column->name);
        assert_string_equal(column->low->name, low);
        assert_string_equal(column->high->name, high);
        assert_int_equal(column->low->unit, column->unit);
        assert_true(column->low->is_end && column->high->is_end);
        assert_int_equal(column->low->index, column->index + 1);
    }
    assert_in_range(count, 10, RANGES_MOST);
    assert_int_equal(COLUMN(run)->range, 0);
}

static void rows_are_in_their_places_with_names_of_their_own(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (; column_rows[count] != NULL; count++) {
        const struct column *column = column_rows[count];
        assert_int_equal(column->index, count);
        assert_ptr_equal(column_find(column->name), column);
        assert_int_equal(column->read != NULL, count >= column_count);
        assert_true(column->read != NULL || column_sql(column)[0] != '\0');
        assert_true(column->title != NULL || column->label == NULL);
    }
    assert_true(count > column_count);
    assert_null(column_find("nothing"));
}

/* Each figure of replications has a place of its own, without a gap. */
static void figures_of_replications_are_counted_from_one(void **state)
{
    (void)state;
    uint32_t drawn = 0, places = 0;
    for (uint32_t i = 0; i < column_count; i++) {
        drawn += column_rows[i]->drawn > 0;
    }
    while (column_drawn(places) != NULL) {
        places++;
    }
    assert_int_equal(places, drawn);
    assert_in_range(drawn, 1, DRAWN_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_item_is_the_first_of_the_longest),
        cmocka_unit_test(a_range_says_how_many_digits_hold),
        cmocka_unit_test(a_figure_without_a_range_has_three_digits),
        cmocka_unit_test(a_reason_leaves_out_what_would_fit),
        cmocka_unit_test(every_range_has_its_ends),
        cmocka_unit_test(rows_are_in_their_places_with_names_of_their_own),
        cmocka_unit_test(figures_of_replications_are_counted_from_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
