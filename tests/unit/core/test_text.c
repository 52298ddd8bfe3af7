/* Texts in UTF-8, cut and appended to. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/text.h"

#include <stdlib.h>
#include <string.h>

static void copies_are_cut_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *copy; /* into 5 bytes */
    } cases[] = {
        {"", ""},
        {"abcd", "abcd"},
        {"abcde", "abcd"},
        {"ab\xc3\xa9", "ab\xc3\xa9"},
        {"abc\xc3\xa9", "abc"},
        {"ab\xe2\x80\xa8", "ab"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"a\xf0\x9f\x98\x80", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char copy[5];
        text_copy(copy, sizeof copy, cases[i].text);
        assert_string_equal(copy, cases[i].copy);
    }
}

static void what_is_appended_is_cut_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *more, *both; /* in 5 bytes */
    } cases[] = {
        {"", "", ""},          {"ab", "cd", "abcd"},       {"ab", "cde", "abcd"},
        {"abcd", "e", "abcd"}, {"abc", "\xc3\xa9", "abc"}, {"ab", "\xc3\xa9", "ab\xc3\xa9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[5];
        strcpy(text, cases[i].text);
        text_append(text, sizeof text, "%s", cases[i].more);
        assert_string_equal(text, cases[i].both);
    }
}

static void a_duplicate_is_the_whole_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "a", "ab\xc3\xa9 of any length"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct error why;
        char *copy = text_duplicate(texts[i], &why);
        assert_ptr_not_equal(copy, texts[i]);
        assert_string_equal(copy, texts[i]);
        free(copy);
    }
}

static void a_list_has_an_item_between_commas(void **state)
{
    (void)state;
    static const struct {
        const char *list, *items; /* with | between */
    } cases[] = {
        {"", ""},
        {"a", "a"},
        {"a,b", "a|b"},
        {" a b ,c ", "a b|c"},
        {"a,,b", "a||b"},
        {",", "|"},
        {"  ", ""},
        {"a, ,", "a||"},
        {"{a: 1, b: [2,3]},c", "{a: 1, b: [2,3]}|c"},
        {"'a,b',c", "'a,b'|c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char items[32] = "";
        const char *rest = cases[i].list, *item, *between = "";
        size_t length;
        while (text_item(&rest, &item, &length)) {
            strcat(items, between);
            strncat(items, item, length);
            between = "|";
        }
        assert_string_equal(items, cases[i].items);
    }
}

static void a_value_follows_its_noun(void **state)
{
    (void)state;
    static const struct {
        const char *noun, *value, *text;
    } cases[] = {
        {"batch", "4", "with a batch of 4"},
        {"output", "128", "with an output of 128"},
        {"replicas", "2", "with 2 replicas"},
        {"replicas", "1", "with 1 replica"},
        {"clients", "16", "with 16 clients"},
        {"link.sms", "3", "with a link.sms of 3"},
        {"kv_pool_tokens", "4096 tok", "with a kv_pool_tokens of 4096 tok"},
        {"link", "pcie5", "with a link of pcie5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64] = "with ";
        text_append_value(text, sizeof text, cases[i].noun, cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
    assert_string_equal(text_plural(1), "");
    assert_string_equal(text_plural(0), "s");
}

static void a_text_is_written_as_a_file(void **state)
{
    (void)state;
    struct text_file file;
    struct error why;
    assert_true(text_open(&file, &why));
    fprintf(file.out, "%d of %s", 3, "8");
    char *text = text_close(&file, true, &why);
    assert_string_equal(text, "3 of 8");
    free(text);
    assert_true(text_open(&file, &why));
    fputs("half", file.out);
    assert_null(text_close(&file, false, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_cut_between_characters),
        cmocka_unit_test(what_is_appended_is_cut_between_characters),
        cmocka_unit_test(a_duplicate_is_the_whole_text),
        cmocka_unit_test(a_value_follows_its_noun),
        cmocka_unit_test(a_list_has_an_item_between_commas),
        cmocka_unit_test(a_text_is_written_as_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
