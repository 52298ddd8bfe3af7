/* Names that users mistype. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/name.h"

#include <stdio.h>
#include <string.h>

static const char *const policies[] = {"none",  "lru",    "fifo",     "lfu", "qsac",
                                       "clock", "belady", "rtx-4090", NULL};

static void nearest_is_within_a_third_of_the_letters(void **state)
{
    (void)state;
    static const struct {
        const char *given, *nearest;
    } cases[] = {
        {"lru", "lru"},
        {"lur", "lru"},
        {"LRU", "lru"},
        {"lr", "lru"},
        {"flfo", "fifo"},
        {"qsacc", "qsac"},
        {"clokc", "clock"},
        {"beldy", "belady"},
        {"bleady", "belady"},
        {"l", NULL},
        {"", NULL},
        {"retroinfer", NULL},
        {"bel", "belady"},
        {"be", NULL},
        {"BELA", "belady"},
        {"4090", "rtx-4090"},
        {"409", "rtx-4090"},
        {"40", NULL},
        {"belda", "belady"},
        {"rtx_4090", "rtx-4090"},
        {"rtx-4090-oc", "rtx-4090"},
        {"xyz", NULL},
        {"lxu", "lru"}, /* as near to lfu, which comes later */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *nearest = name_nearest(cases[i].given, NAMES(policies));
        print_message("# nearest to '%s' is '%s'\n", cases[i].given, nearest ? nearest : "none");
        if (cases[i].nearest == NULL) {
            assert_null(nearest);
        } else {
            assert_non_null(nearest);
            assert_string_equal(nearest, cases[i].nearest);
        }
    }
}

static void absurdly_long_names_are_near_nothing(void **state)
{
    (void)state;
    char given[5000];
    memset(given, 'l', sizeof given - 1);
    given[sizeof given - 1] = '\0';
    assert_null(name_nearest(given, NAMES(policies)));
    given[64] = '\0';
    assert_null(name_nearest(given, NAMES(policies)));
    given[63] = '\0';
    assert_null(name_nearest(given, NAMES(policies)));
}

static void case_and_separators_do_not_make_another_name(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"rtx-4090", "RTX4090", true},
        {"rtx-4090", "RTX 4090", true},
        {"lru", "LRU", true},
        {"a_b", "A-b", true},
        {"llama-3.1", "llama-31", false},
        {"lru", "lru2", false},
        {"", "", true},
        {"-", "", true},
        {"lru", "", false},
        {"rtx-4090-", "rtx-4090", true},
        {"llama-38b", "llama-3-8b", false},
        {"llama3:8b", "Llama_3-8B", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("# '%s' '%s'\n", cases[i].a, cases[i].b);
        assert_int_equal(name_same(cases[i].a, cases[i].b), cases[i].same);
        assert_int_equal(name_same(cases[i].b, cases[i].a), cases[i].same);
    }
    static const char *const two[] = {"LRU", "lru", NULL};
    assert_int_equal(name_match("lru", two), 1); /* the same text before the same name */
    assert_int_equal(name_match("Lru", two), 0);
    assert_int_equal(name_match("lfu", two), -1);
    struct error why;
    assert_int_equal(name_find("RTX4090", NAMES(policies), "policy", NULL, 0, &why), 7);
}

static void a_longer_spelling_holds_the_name(void **state)
{
    (void)state;
    static const struct {
        const char *given, *name;
        bool holds;
    } cases[] = {
        {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b", true},
        {"llama3.1:8b", "llama-3.1-8b", true},
        {"Llama-3.3-70B-Instruct", "llama-3.1-70b", false},
        {"deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama-3.1-8b", false},
        {"llama", "llama-3.1-8b", false},
        {"Qwen/Qwen2.5-32B-Instruct-AWQ", "qwen2.5-32b-awq", true},
        {"Qwen2.5-32B-Instruct", "qwen2.5-32b-awq", false},
        {"meta-llama/Llama-3.1-8B", "llama-3-8b", false},
        {"", "a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(name_holds(cases[i].given, cases[i].name), cases[i].holds);
    }
}

static void find_gives_the_row(void **state)
{
    (void)state;
    struct error why = {.line = 77};
    assert_int_equal(name_find("none", NAMES(policies), "policy", NULL, 0, &why), 0);
    assert_int_equal(name_find("qsac", NAMES(policies), "policy", NULL, 0, &why), 4);
    assert_int_equal(why.line, 77);
}

static void unknown_name_lists_all_and_the_nearest(void **state)
{
    (void)state;
    struct error why;
    char text[1024];
    assert_int_equal(name_find("lur", NAMES(policies), "policy", "a.yaml", 4, &why), -1);
    error_format(&why, text, sizeof text);
    assert_string_equal(text, "a.yaml:4: unknown policy 'lur'\n"
                              "  nearest: 'lru'   "
                              "expected: none, lru, fifo, lfu, qsac, clock, belady, rtx-4090");
    assert_int_equal(why.kind, ERROR_FAILURE);
    name_find("lur", NAMES(policies), "policy", "--set", 0, &why);
    assert_int_equal(why.kind, ERROR_USAGE);
}

static void a_list_too_long_ends_in_dots_after_a_whole_name(void **state)
{
    (void)state;
    static char texts[200][8]; /* more names than fit a message */
    const char *many[201] = {NULL};
    struct error why;
    for (size_t i = 0; i < 200; i++) {
        snprintf(texts[i], sizeof texts[i], "name%zu", i);
        many[i] = texts[i];
    }
    assert_int_equal(name_find("x", NAMES(many), "thing", NULL, 0, &why), -1);
    size_t length = strlen(why.expected);
    assert_in_range(length, sizeof why.expected - 16, sizeof why.expected - 1);
    assert_string_equal(why.expected + length - 5, ", ...");
    assert_memory_equal(why.expected, "name0, name1, name2, ", 21);
    int last = -1;
    const char *comma = why.expected + length - 5;
    while (comma > why.expected && comma[-1] != ' ') {
        comma--;
    }
    assert_int_equal(sscanf(comma, "name%d, ...", &last), 1);
    assert_in_range(last, 1, 198);
}

/* "b200" is no part of "8 b200". */
static void a_listed_name_is_a_whole_one(void **state)
{
    char list[32] = "";
    (void)state;
    name_list_add(list, sizeof list, "8 b200");
    name_list_add(list, sizeof list, "b200");
    name_list_add(list, sizeof list, "8 b200");
    assert_string_equal(list, "8 b200, b200");
    assert_true(name_listed("8 b200, h200", "8 b200"));
    assert_true(name_listed("8 b200, h200", "h200"));
    assert_false(name_listed("8 b200, h200", "b200"));
    assert_false(name_listed("h100-sxm", "h100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_is_within_a_third_of_the_letters),
        cmocka_unit_test(absurdly_long_names_are_near_nothing),
        cmocka_unit_test(case_and_separators_do_not_make_another_name),
        cmocka_unit_test(a_longer_spelling_holds_the_name),
        cmocka_unit_test(find_gives_the_row),
        cmocka_unit_test(unknown_name_lists_all_and_the_nearest),
        cmocka_unit_test(a_listed_name_is_a_whole_one),
        cmocka_unit_test(a_list_too_long_ends_in_dots_after_a_whole_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
