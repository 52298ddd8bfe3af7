/* Errors: what a person reads, what is cut, and what never reaches a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/error.h"

#include <stdio.h>
#include <string.h>

static void assert_message(const struct error *why, const char *message)
{
    char text[1024];
    error_format(why, text, sizeof text);
    assert_string_equal(text, message);
}

static void message_names_place_found_expected_nearest(void **state)
{
    (void)state;
    struct error why;
    assert_false(error_set(&why, "a.yaml", 12, "unknown key '%s' in '%s'", "granularty", "system"));
    assert_false(error_expect(&why, "policy, granularity, budget"));
    assert_false(error_nearest(&why, "granularity"));
    assert_message(&why, "a.yaml:12: unknown key 'granularty' in 'system'\n"
                         "  nearest: 'granularity'   expected: policy, granularity, budget");
}

static void message_leaves_out_what_is_not_known(void **state)
{
    (void)state;
    struct error why;
    error_set(&why, "a.yaml", 0, "cannot be read");
    assert_message(&why, "a.yaml: cannot be read");
    error_set(&why, NULL, 0, "no room");
    assert_message(&why, "no room");
    error_expect(&why, "more");
    assert_message(&why, "no room\n  expected: more");
    error_set(&why, NULL, 0, "no '%s'", "lur");
    error_nearest(&why, "lru");
    error_nearest(&why, NULL);
    assert_message(&why, "no 'lur'\n  nearest: 'lru'");
}

static void a_shortened_list_says_what_prints_the_rest(void **state)
{
    (void)state;
    struct error why;
    error_set(&why, NULL, 0, "no 'lur'");
    error_expect(&why, "lru, lfu");
    assert_false(error_rest(&why, "list policies"));
    assert_message(&why, "no 'lur'\n  expected: lru, lfu");
    error_expect(&why, "lru, lfu, ...");
    error_rest(&why, "list policies");
    assert_message(&why, "no 'lur'\n  expected: one of 'list policies'");
}

static void setting_forgets_the_error_before(void **state)
{
    (void)state;
    struct error why;
    error_usage(&why, "a", 3, "first");
    error_expect(&why, "something");
    error_nearest(&why, "name");
    error_set(&why, NULL, 0, "second");
    assert_int_equal(why.kind, ERROR_FAILURE);
    assert_message(&why, "second");
}

static void kind_tells_what_was_typed_from_what_stood_in_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum error_kind kind;
    } cases[] = {{NULL, ERROR_USAGE}, {"--set", ERROR_USAGE}, {"a.yaml", ERROR_FAILURE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error why;
        assert_false(error_input(&why, cases[i].file, 1, "x"));
        assert_int_equal(why.kind, cases[i].kind);
    }
}

static void texts_may_come_from_the_error_itself(void **state)
{
    (void)state;
    struct error why;
    error_set(&why, "a.yaml", 3, "inner");
    error_set(&why, why.file, why.line, "in 'system': %s", why.found);
    assert_message(&why, "a.yaml:3: in 'system': inner");
    error_expect(&why, "one");
    error_expect(&why, "%s or two", why.expected);
    assert_message(&why, "a.yaml:3: in 'system': inner\n  expected: one or two");
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    char text[1024];
    for (size_t start = 0; start < 3; start++) {
        memset(text, 'a', start);
        for (size_t i = 0; i < 300; i++) { /* three bytes each */
            memcpy(text + start + 3 * i, "€", 4);
        }
        struct error why;
        error_set(&why, NULL, 0, "%s", text);
        size_t kept = strlen(why.found);
        assert_in_range(kept, sizeof why.found - 3, sizeof why.found - 1);
        assert_int_equal((kept - start) % 3, 0);
    }
}

static void control_characters_become_question_marks(void **state)
{
    (void)state;
    struct error why;
    error_set(&why, "a\nb", 1, "x%sy", "\x1b[31m\n\x7f");
    assert_message(&why, "a?b:1: x?[31m??y");
}

static void formatting_stays_within_its_room(void **state)
{
    (void)state;
    struct error why;
    error_set(&why, "file", 1, "found");
    char text[8] = "-------";
    error_format(&why, text, 6);
    assert_string_equal(text, "file:");
    assert_int_equal(text[6], '-');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_names_place_found_expected_nearest),
        cmocka_unit_test(message_leaves_out_what_is_not_known),
        cmocka_unit_test(a_shortened_list_says_what_prints_the_rest),
        cmocka_unit_test(setting_forgets_the_error_before),
        cmocka_unit_test(kind_tells_what_was_typed_from_what_stood_in_a_file),
        cmocka_unit_test(texts_may_come_from_the_error_itself),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(control_characters_become_question_marks),
        cmocka_unit_test(formatting_stays_within_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
