/* A sentence says the values of its row, and leaves out what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tables/sentence.h"

#include <math.h>

enum { SAID, SYSTEM, RATE, SHARE, GPUS, LIST, COLUMNS };

static struct frame *make_frame(const char *words, struct error *why)
{
    const struct frame_column columns[COLUMNS] = {
        [SAID] = {.key = "said", .words = words},
        [SYSTEM] = {.name = "system"},
        [RATE] = {.key = "rate", .unit = UNIT_COUNT},
        [SHARE] = {.key = "share", .unit = UNIT_PERCENT},
        [GPUS] = {.key = "gpus", .unit = UNIT_WHOLE},
        [LIST] = {.key = "list", .unit = UNIT_JSON},
    };
    static const struct frame_column parts[] = {
        {.key = "n", .unit = UNIT_WHOLE}, {.name = "told"}, {.name = "never"}};
    struct frame *frame = frame_create(columns, COLUMNS, why), *list = frame_create(parts, 3, why);
    frame_row(frame);
    for (int i = 0; i < 3; i++) {
        frame_row(list);
        frame_number(list, 0, i);
        frame_text(list, 1, i > 0 ? "part" : NULL);
    }
    frame_take(frame, LIST, list);
    return frame;
}

/* `system` is set, `gpus` is not. NULL: nothing is said. */
static void assert_says(const char *words, const char *expected)
{
    struct error why;
    struct frame *frame = make_frame(words, &why);
    frame_text(frame, SYSTEM, "vllm");
    frame_range(frame, RATE, 122.6, 104, 143);
    frame_range(frame, SHARE, 0.1164, 0.085, NAN);
    frame_say(frame);
    assert_true(frame_ok(frame, &why));
    if (expected == NULL) {
        assert_false(frame->cells[SAID].set);
    } else {
        assert_string_equal(frame->cells[SAID].text, expected);
    }
    frame_destroy(frame);
}

static void values_read_as_their_units_or_with_two_digits(void **state)
{
    (void)state;
    assert_says("{system}: {rate}", "vllm: 123");
    assert_says("{rate~} a second", "120 (100 to 140) a second");
    assert_says("{share} or {share~}", "12 % or 12 %");
    assert_says("GPU{rate?|s}", "GPUs");
}

static void what_is_not_there_is_left_out(void **state)
{
    (void)state;
    assert_says("{system}[ on {gpus} GPUs], {rate}", "vllm, 123");
    assert_says("[{gpus} GPU{gpus?|s}|{system}[ of {gpus}]|nothing]", "vllm");
    assert_says("[{gpus}]", NULL);
    assert_says("{system} on {gpus}", NULL);
}

static void rows_of_a_list_are_joined(void **state)
{
    (void)state;
    assert_says("of <list:{n}>", "of 0, 1, 2");
    assert_says("<list;[{told} ]{n}>.", "0; part 1; part 2.");
    assert_says("<list:{told} {n}>", "part 1, part 2");
    assert_says("[<list:{n}[{told}]> {gpus}|none]", "none");
    assert_says("[some <list:{never}>|none]", "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_read_as_their_units_or_with_two_digits),
        cmocka_unit_test(what_is_not_there_is_left_out),
        cmocka_unit_test(rows_of_a_list_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
