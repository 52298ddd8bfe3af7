/* Plain streams of ids: how they are numbered, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/ids.h"

#include <endian.h>
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
        assert_true(ids_read(path, IDS_KEPT, &ids, &why));
        assert_int_equal(ids.count, 5);
        assert_int_equal(ids.blocks, 4);
        assert_memory_equal(ids.block, expected, sizeof expected);
        ids_release(&ids);
    }
}

/* A stream that does not stay in memory gives the same, whatever its ids. */
static void a_long_stream_is_read_again(void **state)
{
    (void)state;
    static const uint32_t factors[] = {1, 1 << 20};
    for (size_t f = 0; f < 2; f++) {
        const uint32_t factor = factors[f];
        struct error why;
        struct ids kept, longer;
        uint32_t bytes[40000], some[3];
        for (uint32_t i = 0; i < 40000; i++) {
            bytes[i] = htole32((i * 7919 % 3001 + 1) * factor);
        }
        write_bytes(bytes, sizeof bytes);
        assert_true(ids_read(path, 40000, &kept, &why));
        assert_true(ids_read(path, 39999, &longer, &why));
        assert_true(kept.block != NULL && kept.file == NULL && longer.block == NULL);
        assert_true(kept.count == longer.count && kept.blocks == 3001 && longer.blocks == 3001);
        assert_true(kept.hash == longer.hash);
        for (uint32_t i = 0; i + 3 <= 40000; i += 257) {
            assert_true(ids_blocks(&longer, i, 3, some, &why));
            assert_memory_equal(some, kept.block + i, sizeof some);
        }
        bytes[1] = htole32(9 * factor + 3003 * factor);
        write_bytes(bytes, 80000);
        assert_false(ids_blocks(&longer, 0, 3, some, &why));
        assert_string_equal(why.found, "has changed since it was first read");
        assert_false(ids_blocks(&longer, 19999, 3, some, &why));
        assert_string_equal(why.found, "ends before its 40000 ids");
        ids_release(&kept);
        ids_release(&longer);
    }
}

static void files_without_ids_are_refused(void **state)
{
    (void)state;
    struct error why;
    struct ids ids;
    write_bytes("", 0);
    assert_false(ids_read(path, IDS_KEPT, &ids, &why));
    assert_string_equal(why.found, "the file has 0 bytes");
    write_bytes("123456", 6);
    assert_false(ids_read(path, IDS_KEPT, &ids, &why));
    assert_string_equal(why.found, "the file has 6 bytes");
    assert_false(ids_read("/nowhere/at/all.u32", IDS_KEPT, &ids, &why));
    assert_string_equal(why.found, "cannot be opened: No such file or directory");
    assert_false(ids_read("/", IDS_KEPT, &ids, &why));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* must not hang */
    assert_false(ids_read(path, IDS_KEPT, &ids, &why));
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
        cmocka_unit_test(a_long_stream_is_read_again),
        cmocka_unit_test(files_without_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
