/* Programs that are run for what they print. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/frame/harness.h"

#include <stdlib.h>
#include <string.h>

static bool shell(const char *script, char **out, struct error *why)
{
    const char *const words[] = {"sh", "-c", script, NULL};
    return child_read("/bin/sh", words, false, out, why);
}

static void what_it_prints_is_read_whole(void **state)
{
    (void)state;
    char *text;
    struct error why;
    assert_true(shell("i=0; while [ $i -lt 5000 ]; do echo 123456789; i=$((i+1)); done; echo >&2 x",
                      &text, &why));
    assert_int_equal(strlen(text), 50000);
    free(text);
    assert_true(shell(":", &text, &why));
    assert_string_equal(text, "");
    free(text);
}

static const struct {
    const char *script, *complaint;
} failures[] = {
    {"exit 3", "ended with status 3"},
    {"kill -9 $$", "was killed: Killed"},
    {"kill -SEGV $$", "was killed: Segmentation fault"},
};

static void what_went_wrong_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        char *text;
        struct error why;
        assert_false(shell(failures[i].script, &text, &why));
        assert_string_equal(why.found, failures[i].complaint);
    }
}

static void a_missing_program_is_named(void **state)
{
    (void)state;
    char *text;
    struct error why;
    const char *const words[] = {"nothing", NULL};
    assert_false(child_read("/no/such/program", words, false, &text, &why));
    assert_string_equal(why.file, "/no/such/program");
    assert_string_equal(why.found, "cannot be run: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_prints_is_read_whole),
        cmocka_unit_test(what_went_wrong_is_said),
        cmocka_unit_test(a_missing_program_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
