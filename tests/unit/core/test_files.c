/* Text files are read once: whoever asks later gets what the first one got. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/files.h"
#include "core/node.h"
#include "core/parallel.h"
#include "unit/fixture/fault.h"
#include "unit/fixture/store_folder.h"

#include <unistd.h>

static int leave(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct files *create(void)
{
    struct error why;
    struct files *files = files_create(&why);
    assert_non_null(files);
    return files;
}

static void expect_text(struct files *files, const char *expected)
{
    struct error why;
    size_t size = 0;
    char *text = files_text(files, path, &size, &why);
    assert_non_null(text);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
    free(text);
}

static void expect_link(struct files *files, const char *expected)
{
    struct error why;
    const struct node *root = files_tree(files, path, &why);
    assert_non_null(root);
    assert_string_equal(node_get(root, "link")->text, expected);
    assert_string_equal(node_get(root, "link")->file, path);
    files_drop(files, root);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    struct files *files = create();
    write_file("\xef\xbb\xbflink: pcie5\n");
    expect_text(files, "link: pcie5\n");
    expect_link(files, "pcie5");
    files_destroy(files);
}

static void a_file_that_changes_meanwhile_is_read_once(void **state)
{
    (void)state;
    struct files *files = create();
    write_file("link: nvlink\n");
    expect_text(files, "link: nvlink\n");
    write_file("link: pcie\n");
    expect_text(files, "link: nvlink\n");
    expect_link(files, "nvlink");
    files_destroy(files);
    files = create();
    expect_link(files, "pcie");
    files_destroy(files);
}

static void a_file_that_is_removed_meanwhile_is_still_there(void **state)
{
    (void)state;
    struct files *files = create();
    write_file("link: nvlink\n");
    expect_link(files, "nvlink");
    unlink(path);
    expect_link(files, "nvlink");
    files_destroy(files);
}

static void a_copy_is_its_callers(void **state)
{
    (void)state;
    struct error why;
    size_t size;
    struct files *files = create();
    write_file("link: nvlink\n");
    char *text = files_text(files, path, &size, &why);
    assert_non_null(text);
    memset(text, 'x', size);
    free(text);
    expect_text(files, "link: nvlink\n");
    files_destroy(files);
}

static void without_files_each_caller_reads_again(void **state)
{
    (void)state;
    write_file("link: nvlink\n");
    expect_text(NULL, "link: nvlink\n");
    write_file("link: pcie\n");
    expect_text(NULL, "link: pcie\n");
    expect_link(NULL, "pcie");
    files_destroy(NULL);
}

static void an_empty_file_is_an_empty_text(void **state)
{
    (void)state;
    struct files *files = create();
    write_file("");
    expect_text(files, "");
    write_file("link: pcie\n");
    expect_text(files, "");
    files_destroy(files);
}

/* A failure is not kept: the file may be there when the next caller asks. */
static void a_missing_file_is_an_error_until_it_is_there(void **state)
{
    (void)state;
    struct error why = {0};
    char fault[FAULT_SIZE];
    size_t size;
    struct files *files = create();
    assert_null(files_text(files, path, &size, &why));
    assert_string_equal(fault_of(&why, fault), path);
    why = (struct error){0};
    assert_null(files_tree(files, path, &why));
    assert_string_equal(fault_of(&why, fault), path);
    write_file("link: nvlink\n");
    expect_link(files, "nvlink");
    files_destroy(files);
}

/* The message names the place in the text that was read, which is no longer that of the file. */
static void a_text_that_is_no_yaml_stays_wrong(void **state)
{
    (void)state;
    struct error why = {0};
    char fault[FAULT_SIZE], place[sizeof path + 16];
    struct files *files = create();
    snprintf(place, sizeof place, "%s:2 'link'", path);
    write_file("link: nvlink\nlink: pcie\n");
    for (int i = 0; i < 2; i++) {
        assert_null(files_tree(files, path, &why));
        assert_string_equal(fault_of(&why, fault), place);
        write_file("link: nvlink\n");
    }
    files_destroy(files);
}

enum { ASKED = 200, THREADS = 8 };

static bool ask_for_text(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    size_t size;
    char *text = files_text(context, path, &size, why);
    (void)thread;
    if (text == NULL) {
        return false;
    }
    bool same = strcmp(text, "link: nvlink\n") == 0;
    free(text);
    return same || error_set(why, NULL, 0, "caller %u read another text", index);
}

static void all_threads_get_the_same_text(void **state)
{
    (void)state;
    struct error why;
    struct files *files = create();
    write_file("link: nvlink\n");
    if (!parallel_for(ASKED, THREADS, ask_for_text, files, &why)) {
        fail_msg("%s", why.found);
    }
    files_destroy(files);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_byte_order_mark_is_skipped),
        IN_FOLDER(a_file_that_changes_meanwhile_is_read_once),
        IN_FOLDER(a_file_that_is_removed_meanwhile_is_still_there),
        IN_FOLDER(a_copy_is_its_callers),
        IN_FOLDER(without_files_each_caller_reads_again),
        IN_FOLDER(an_empty_file_is_an_empty_text),
        IN_FOLDER(a_missing_file_is_an_error_until_it_is_there),
        IN_FOLDER(a_text_that_is_no_yaml_stays_wrong),
        IN_FOLDER(all_threads_get_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
