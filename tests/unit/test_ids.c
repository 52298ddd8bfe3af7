/* Plain streams of ids: how they are numbered, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "trace/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/spillway-ids-XXXXXX";

static void write_bytes(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void ids_are_little_endian_and_numbered_ascending(void **state)
{
    (void)state;
    struct error why;
    struct ids ids;
    const uint8_t bytes[] = {7, 0, 0, 0, 0, 1, 0, 0, 7, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0};
    const uint32_t expected[] = {1, 2, 1, 3, 0}; /* of 7, 256, 7, 2^32 - 1, 0 */
    write_bytes(bytes, sizeof bytes);
    assert_true(ids_read(path, &ids, &why));
    assert_int_equal(ids.count, 5);
    assert_int_equal(ids.blocks, 4);
    assert_memory_equal(ids.block, expected, sizeof expected);
    ids_release(&ids);
}

/* Ids of any size keep their order, and only equals are equal. */
static void numbers_keep_the_order_of_ids(void **state)
{
    (void)state;
    enum { COUNT = 1500 };
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct error why;
        uint32_t id[COUNT], number[COUNT];
        gsl_rng *random = random_stream(seed, "test.ids", 0, &why);
        assert_non_null(random);
        for (uint32_t i = 0; i < COUNT; i++) {
            id[i] = (uint32_t)gsl_rng_uniform_int(random, 4000) << gsl_rng_uniform_int(random, 21);
        }
        gsl_rng_free(random);
        memcpy(number, id, sizeof id);
        uint32_t blocks = ids_number(number, COUNT, &why), seen = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            bool first = true;
            for (uint32_t j = 0; j < i; j++) {
                first = first && id[j] != id[i];
                if ((id[i] < id[j]) != (number[i] < number[j]) ||
                    (id[i] == id[j]) != (number[i] == number[j])) {
                    fail_msg("seed %u: ids %u and %u are numbers %u and %u", (unsigned)seed, id[j],
                             id[i], number[j], number[i]);
                }
            }
            seen += first;
            assert_true(number[i] < blocks);
        }
        assert_int_equal(seen, blocks);
    }
}

static void files_without_ids_are_refused(void **state)
{
    (void)state;
    struct error why;
    struct ids ids;
    write_bytes("", 0);
    assert_false(ids_read(path, &ids, &why));
    assert_string_equal(why.found, "0 bytes");
    write_bytes("123456", 6);
    assert_false(ids_read(path, &ids, &why));
    assert_string_equal(why.found, "6 bytes");
    assert_false(ids_read("/nowhere/at/all.u32", &ids, &why));
    assert_string_equal(why.found, "No such file or directory");
    assert_false(ids_read("/", &ids, &why));
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
        cmocka_unit_test(ids_are_little_endian_and_numbered_ascending),
        cmocka_unit_test(numbers_keep_the_order_of_ids),
        cmocka_unit_test(files_without_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
