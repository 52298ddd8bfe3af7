/* Text as it stands in other languages. tests/fuzz/fuzz_deploy.c reads it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/quote.h"

#include <stdlib.h>

static const struct {
    enum quote quote;
    const char *text, *written;
} cases[] = {
    {QUOTE_LINE, "a\tb\n\x1b[m \xc3\xa9", "a\\u0009b\\u000a\\u001b[m \xc3\xa9"},
    {QUOTE_LINE, "\xc2\x85\xe2\x80\xa8\xe2\x80\xae\xef\xbb\xbf", "\\u0085\\u2028\\u202e\\ufeff"},
    {QUOTE_LINE, "\xff\xc3(\xed\xa0\x80", "\\ufffd\\ufffd(\\ufffd\\ufffd\\ufffd"},
    {QUOTE_SHELL, "org/Llama-3.1_8B:x=1,y@%+", "org/Llama-3.1_8B:x=1,y@%+"},
    {QUOTE_SHELL, "", "''"},
    {QUOTE_SHELL, "a $(b)", "'a $(b)'"},
    {QUOTE_SHELL, "it's\n", "'it'\\''s\n'"},
    {QUOTE_SHELL, "~", "'~'"},
    {QUOTE_SHELL_SINGLE, "it's", "it'\\''s"},
    {QUOTE_SHELL_DOUBLE, "a!b", "\"'a!b'\""},
    {QUOTE_YAML, "vllm-0.19", "vllm-0.19"},
    {QUOTE_YAML, "null", "\"null\""},
    {QUOTE_YAML, "a: b", "\"a: b\""},
    {QUOTE_YAML, "", "\"\""},
    {QUOTE_YAML_DOUBLE, "a\"\\\n\x7f\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80$",
     "a\\\"\\\\\\u000a\\u007f\\u00e9\\u2028\\U0001f600$"},
    {QUOTE_MANIFEST, "2", "2"},
    {QUOTE_MANIFEST, "$HOME", "\"$$HOME\""},
    {QUOTE_MANIFEST_DOUBLE, "'$(a)' \"b\"", "'$$(a)' \\\"b\\\""},
    {QUOTE_MARKDOWN, "a_b <c> `d` \\ [e](f) 1 | 2 #",
     "a\\_b \\<c\\> \\`d\\` \\\\ \\[e\\](f) 1 \\| 2 \\#"},
};

static void text_is_text_in_each_language(void **state)
{
    (void)state;
    struct error why;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *written = quote_text(cases[i].quote, cases[i].text, &why);
        assert_non_null(written);
        assert_string_equal(written, cases[i].written);
        free(written);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_is_text_in_each_language)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
