/* A file appears under its name when it is whole, and what a killed command left is taken over. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/unfinished.h"
#include "unit/fixture/store_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[sizeof path + sizeof UNFINISHED_SUFFIX];

static int enter_named(void **state)
{
    int status = enter(state);
    snprintf(name, sizeof name, "%s" UNFINISHED_SUFFIX, path);
    return status;
}

static int leave(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if anything is left */
}

static void put(const char *file, const char *text)
{
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static void expect(const char *text)
{
    char found[64] = "";
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    size_t count = fread(found, 1, sizeof found - 1, stream);
    assert_int_equal(count, strlen(text));
    assert_string_equal(found, text);
    fclose(stream);
}

static struct unfinished open_with(const char *text)
{
    struct unfinished file;
    struct error why;
    assert_true(unfinished_open(path, &file, &why));
    assert_int_equal(write(file.fd, text, strlen(text)), strlen(text));
    return file;
}

static void a_file_appears_when_it_is_published(void **state)
{
    (void)state;
    struct error why;
    for (int durable = 0; durable <= 1; durable++) {
        put(path, "old");
        struct unfinished file = open_with("new");
        expect("old");
        assert_true(unfinished_publish(&file, durable != 0, &why));
        expect("new");
        assert_int_equal(access(name, F_OK), -1);
        unfinished_discard(&file); /* does nothing */
        expect("new");
    }
}

static void a_discarded_file_leaves_nothing(void **state)
{
    (void)state;
    put(path, "old");
    struct unfinished file = open_with("new");
    unfinished_discard(&file);
    unfinished_discard(&file);
    expect("old");
    assert_int_equal(access(name, F_OK), -1);
}

static void what_a_killed_command_left_is_taken_over(void **state)
{
    (void)state;
    struct error why;
    put(name, "half of something longer");
    struct unfinished file = open_with("new");
    assert_true(unfinished_publish(&file, false, &why));
    expect("new");
    assert_int_equal(access(name, F_OK), -1);
}

static void two_commands_cannot_write_one_file(void **state)
{
    (void)state;
    struct error why;
    struct unfinished first = open_with("first"), second;
    assert_false(unfinished_open(path, &second, &why));
    assert_string_equal(why.found, "is being written by another command");
    unfinished_discard(&second); /* nothing to discard */
    assert_true(unfinished_publish(&first, false, &why));
    expect("first");
    second = open_with("second"); /* a new file, although the first one's was locked */
    assert_true(unfinished_publish(&second, false, &why));
    expect("second");
}

static void only_regular_files_are_replaced(void **state)
{
    (void)state;
    struct unfinished file;
    struct error why;
    assert_false(unfinished_open(folder, &file, &why));
    assert_string_equal(why.found, "exists and is not a regular file");
    assert_false(unfinished_open("/dev/fd/2", &file, &why));
    assert_string_equal(why.found, "exists and is not a regular file");
}

/* `name` is taken by something that is not ours. */
static void expect_refused(const char *claim)
{
    struct unfinished file;
    struct error why;
    assert_false(unfinished_open(path, &file, &why));
    if (strncmp(why.found, "is in the way", 13) != 0 || strcmp(why.file, name) != 0) {
        fail_msg("%s: '%s' in '%s'", claim, why.found, why.file);
    }
    expect("old");
}

/* Nothing of it is emptied, removed or waited for. */
static void what_is_in_the_way_stays(void **state)
{
    (void)state;
    put(path, "old");
    assert_int_equal(symlink(path, name), 0);
    expect_refused("a link");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(link(path, name), 0);
    expect_refused("a second name");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkfifo(name, 0600), 0);
    expect_refused("a FIFO");
    int reader = open(name, O_RDONLY | O_NONBLOCK);
    expect_refused("a FIFO that is read");
    close(reader);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkdir(name, 0700), 0);
    expect_refused("a folder");
    assert_int_equal(rmdir(name), 0);
}

static void a_link_stays_and_its_target_is_written(void **state)
{
    (void)state;
    struct error why;
    struct unfinished file;
    char link[sizeof path], second[sizeof path];
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(second, sizeof second, "%s/second", folder);
    assert_int_equal(symlink("second", link), 0);
    assert_int_equal(symlink(strrchr(path, '/') + 1, second), 0);
    for (int there = 0; there <= 1; there++) { /* the target is absent, then old */
        assert_true(unfinished_open(link, &file, &why));
        assert_int_equal(write(file.fd, "new", 3), 3);
        assert_true(unfinished_publish(&file, false, &why));
        expect("new");
        put(path, "old");
    }
    assert_int_equal(unlink(second), 0);
    assert_int_equal(symlink(link, second), 0);
    assert_false(unfinished_open(link, &file, &why));
    assert_non_null(strstr(why.found, "Too many levels"));
    assert_int_equal(unlink(link) + unlink(second), 0);
}

/* The name is taken by a folder meanwhile. */
static void a_publish_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct error why;
    unlink(path);
    struct unfinished file = open_with("new");
    assert_int_equal(mkdir(path, 0777), 0);
    assert_false(unfinished_publish(&file, false, &why));
    assert_non_null(strstr(why.found, "cannot be written"));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(access(name, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_when_it_is_published),
        cmocka_unit_test(a_discarded_file_leaves_nothing),
        cmocka_unit_test(what_a_killed_command_left_is_taken_over),
        cmocka_unit_test(two_commands_cannot_write_one_file),
        cmocka_unit_test(only_regular_files_are_replaced),
        cmocka_unit_test(what_is_in_the_way_stays),
        cmocka_unit_test(a_link_stays_and_its_target_is_written),
        cmocka_unit_test(a_publish_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, enter_named, leave);
}
