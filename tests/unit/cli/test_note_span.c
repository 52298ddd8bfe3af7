/* Notes that differ in whole numbers become one with ranges; others stay apart. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/runs/note_span.h"

static void numbers_become_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *both;
    } cases[] = {
        {"for 164 steps, run has 128", "for 611 steps, run has 128",
         "for 164–611 steps, run has 128"},
        {"for 164–611 steps", "for 32 steps", "for 32–611 steps"},
        {"for 164–611 steps", "for 200–9000 steps", "for 164–9000 steps"},
        {"for 164–611 steps", "for 300 steps", "for 164–611 steps"},
        {"the same", "the same", "the same"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char both[NOTE_SPAN];
        assert_true(note_span(cases[i].a, cases[i].b, both));
        assert_string_equal(both, cases[i].both);
        assert_true(note_span(cases[i].b, cases[i].a, both));
        assert_string_equal(both, cases[i].both);
    }
}

static void other_texts_stay_apart(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"for 164 steps", "for ten steps"},     {"for 164 steps", "for 164 steps more"},
        {"of gemma-3 here", "of gemma-2 here"}, {"at 1.5 x", "at 2.5 x"},
        {"for 1– steps", "for 2 steps"},        {"a 164", "a 164 "},
        {"for -1 steps", "for 1 steps"},        {"", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char both[NOTE_SPAN];
        assert_false(note_span(cases[i][0], cases[i][1], both));
        assert_false(note_span(cases[i][1], cases[i][0], both));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_become_ranges),
        cmocka_unit_test(other_texts_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
