/* Plain streams of ids: how they are numbered, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/spillway-ids-XXXXXX";

static void write_bytes(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void ids_stay_apart_when_the_table_grows(void **state)
{
    (void)state;
    struct dense_ids dense = {.places = 0};
    struct error why;
    uint32_t number;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            assert_true(dense_ids_find(&dense, i * 0x100000001u, &number, &why));
            assert_int_equal(number, i);
        }
    }
    dense_ids_release(&dense);
}

/* 7, 256, 7, a fourth and 0: the fourth is a small id, the last of those, the next and the largest.
 */
static void ids_are_little_endian_and_numbered_as_they_come(void **state)
{
    (void)state;
    const uint8_t fourths[][4] = {
        {0, 0, 7, 0}, {255, 255, 15, 0}, {0, 0, 16, 0}, {255, 255, 255, 255}};
    for (size_t f = 0; f < sizeof fourths / sizeof *fourths; f++) {
        struct error why;
        struct ids ids;
        uint8_t bytes[] = {7, 0, 0, 0, 0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        const uint32_t expected[] = {0, 1, 0, 2, 3};
        memcpy(bytes + 12, fourths[f], 4);
        write_bytes(bytes, sizeof bytes);
        assert_true(ids_read(path, &ids, &why));
        assert_int_equal(ids.count, 5);
        assert_int_equal(ids.blocks, 4);
        assert_memory_equal(ids.block, expected, sizeof expected);
        ids_release(&ids);
    }
}

static void files_without_ids_are_refused(void **state)
{
    (void)state;
    struct error why;
    struct ids ids;
    write_bytes("", 0);
    assert_false(ids_read(path, &ids, &why));
    assert_string_equal(why.found, "the file has 0 bytes");
    write_bytes("123456", 6);
    assert_false(ids_read(path, &ids, &why));
    assert_string_equal(why.found, "the file has 6 bytes");
    assert_int_equal(truncate(path, 4 * ((off_t)IDS_MOST + 1)), 0);
    assert_false(ids_read(path, &ids, &why));
    assert_string_equal(why.expected, "32-bit ids, at least one and at most 67108864");
    assert_false(ids_read("/nowhere/at/all.u32", &ids, &why));
    assert_string_equal(why.found, "cannot be opened: No such file or directory");
    assert_false(ids_read("/", &ids, &why));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* must not hang */
    assert_false(ids_read(path, &ids, &why));
    assert_string_equal(why.found, "is not a regular file");
}

static int group_setup(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int group_teardown(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_stay_apart_when_the_table_grows),
        cmocka_unit_test(ids_are_little_endian_and_numbered_as_they_come),
        cmocka_unit_test(files_without_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
