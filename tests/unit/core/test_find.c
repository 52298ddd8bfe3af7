/* Where the data is found. The answer is kept for the life of a process, so each case is a
 * process of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/named.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char scratch[] = "/tmp/test_find.XXXXXX";

static void make(const char *name, bool folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    if (folder) {
        assert_int_equal(mkdir(path, 0755), 0);
    } else {
        int handle = open(path, O_CREAT | O_WRONLY, 0644);
        assert_true(handle >= 0);
        close(handle);
    }
}

static int make_data(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(scratch));
    make("models", true);
    make("hwprofiles", true);
    static const char *const files[] = {"b.yaml", "a.yaml",  "c.yml", ".d.yaml",
                                        ".yaml",  "e.yaml~", "xyaml", "link.yaml.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "hwprofiles/%s", files[i]);
        make(name, false);
    }
    make("hwprofiles/folder.yaml", true); /* no profile, and neither is a FIFO */
    char fifo[PATH_MAX];
    snprintf(fifo, sizeof fifo, "%s/hwprofiles/fifo.yaml", scratch);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    return 0;
}

static int remove_data(void **state)
{
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}

/* Run `check` in a process where $SPILLWAY_DATA is `data` (NULL: unset). */
static void in_process(const char *data, bool (*check)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (data != NULL) {
            setenv("SPILLWAY_DATA", data, 1);
        } else {
            unsetenv("SPILLWAY_DATA");
        }
        _exit(check() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static bool finds_scratch(void)
{
    struct error why;
    char path[PATH_MAX], expected[PATH_MAX];
    const char *data = find_data(&why);
    snprintf(expected, sizeof expected, "%s/models/x.json", scratch);
    return data != NULL && strcmp(data, scratch) == 0 &&
           find_path("models", "x", "json", path, sizeof path, &why) &&
           strcmp(path, expected) == 0 &&
           find_path("models", "x.json", "", path, sizeof path, &why) &&
           strcmp(path, expected) == 0 && !find_path("models", "x", "json", path, 10, &why);
}

static void the_variable_names_the_data_folder(void **state)
{
    (void)state;
    in_process(scratch, finds_scratch);
    char slashes[64];
    snprintf(slashes, sizeof slashes, "%s//", scratch);
    in_process(slashes, finds_scratch);
}

static bool refuses(void)
{
    struct error why;
    char **names;
    size_t count;
    return find_data(&why) == NULL && why.kind == ERROR_USAGE &&
           strstr(why.found, "which is not a data folder") != NULL &&
           !find_names("models", "json", &names, &count, &why) && names == NULL && count == 0;
}

static void a_variable_that_names_no_data_is_an_error(void **state)
{
    (void)state;
    in_process("/tmp", refuses);
    in_process("/nowhere", refuses);
}

/* The repository, from build/VARIANT/tests/unit/core/test_find. */
static bool finds_repository(void)
{
    struct error why;
    char program[PATH_MAX] = "";
    const char *data = find_data(&why);
    return data != NULL && readlink("/proc/self/exe", program, sizeof program - 1) > 0 &&
           strncmp(program, data, strlen(data)) == 0;
}

static void without_it_the_folders_above_the_program_are_tried(void **state)
{
    (void)state;
    in_process(NULL, finds_repository);
    in_process("", finds_repository);
}

/* As installed: the folders above a copy of this program. */
static bool finds_installed(const char *place)
{
    char command[4 * PATH_MAX];
    snprintf(
        command, sizeof command,
        "cd %s && rm -rf prefix && mkdir -p prefix/bin prefix/%s/models prefix/%s/hwprofiles && "
        "cp /proc/%ld/exe prefix/bin/copy && [ \"$(env -u SPILLWAY_DATA prefix/bin/copy find)\" "
        "= %s/prefix/%s ]",
        scratch, place, place, (long)getpid(), scratch, place);
    return system(command) == 0;
}

static void an_installation_has_its_data_in_share_or_in_lib(void **state)
{
    (void)state;
    assert_true(finds_installed("share/spillway"));
    assert_true(finds_installed("lib/spillway"));
    assert_false(finds_installed("etc/spillway"));
}

static bool lists_profiles(void)
{
    static const char *const expected[] = {"a", "b", "link.yaml"};
    struct error why;
    char **names;
    size_t count;
    if (!find_names("hwprofiles", "yaml", &names, &count, &why) || count != 3) {
        return false;
    }
    bool equal = true;
    for (size_t i = 0; i < count; i++) {
        equal = equal && strcmp(names[i], expected[i]) == 0;
        free(names[i]);
    }
    free(names);
    return equal && find_names("models", "json", &names, &count, &why) && count == 0 &&
           find_names("nowhere", "json", &names, &count, &why) && count == 0;
}

static void names_are_sorted_and_only_of_the_suffix(void **state)
{
    (void)state;
    in_process(scratch, lists_profiles);
}

/* No file has the name; does the error say that it was left out? */
static bool is_left_out(const struct named_kind *kind, const char *name)
{
    char path[PATH_MAX];
    struct error why;
    return !named_file(kind, name, NULL, 0, path, sizeof path, &why) &&
           strcmp(why.found, "the hardware 'big-2' is not in this package") == 0 &&
           strstr(why.expected, "(123.5 MB)") != NULL;
}

static bool knows_what_was_left_out(void)
{
    char path[PATH_MAX];
    bool before = is_left_out(&named_machine, "big-2");
    snprintf(path, sizeof path, "%s/hwprofiles/ELSEWHERE", scratch);
    FILE *list = fopen(path, "w");
    fputs("small-1 7\nbig-2 123456789\n", list);
    fclose(list);
    return !before && is_left_out(&named_machine, "Big_2") && !is_left_out(&named_machine, "big") &&
           !is_left_out(&named_model, "big-2");
}

static void a_list_names_what_was_left_out(void **state)
{
    (void)state;
    in_process(scratch, knows_what_was_left_out);
}

/* With "find" it only says where it finds the data. */
int main(int argc, char **argv)
{
    struct error why;
    const char *data = argc > 1 && strcmp(argv[1], "find") == 0 ? find_data(&why) : NULL;
    if (argc > 1) {
        puts(data != NULL ? data : "");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_variable_names_the_data_folder),
        cmocka_unit_test(a_variable_that_names_no_data_is_an_error),
        cmocka_unit_test(without_it_the_folders_above_the_program_are_tried),
        cmocka_unit_test(a_list_names_what_was_left_out),
        cmocka_unit_test(an_installation_has_its_data_in_share_or_in_lib),
        cmocka_unit_test(names_are_sorted_and_only_of_the_suffix),
    };
    return cmocka_run_group_tests(tests, make_data, remove_data);
}
