/* Rows stored by threads are where they belong; GDRCopy and nodes that are not there say so. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/device/window.h"
#include "calibrate/host/store_rows.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000, MOST_ROW = 4096 };

/* Row r of the source is all r; rows[i] is any permutation of them. */
static void check_rows(uint32_t threads, uint32_t row_bytes, uint32_t count)
{
    struct error why;
    struct pool *pool = pool_create(threads, NULL, &why);
    uint32_t rows[ROWS];
    size_t size = (size_t)ROWS * row_bytes;
    char *from = aligned_alloc(64, (size + 63) / 64 * 64);
    char *to = aligned_alloc(64, (size + 64 + 63) / 64 * 64);
    assert_non_null(pool);
    assert_true(from != NULL && to != NULL);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = (i * 377 + 5) % ROWS;
        for (uint32_t at = 0; at < row_bytes; at += sizeof i) {
            memcpy(from + (size_t)i * row_bytes + at, &i, sizeof i);
        }
    }
    memset(to, 0x5a, size + 64);
    struct store_rows store = {from, rows, count, row_bytes, to, ROWS, NULL};
    store_rows_run(pool, &store);
    for (uint32_t i = 0; i < count; i++) {
        assert_memory_equal(to + (size_t)i * row_bytes, from + (size_t)rows[i] * row_bytes,
                            row_bytes);
    }
    for (size_t at = (size_t)count * row_bytes; at < size + 64; at++) {
        assert_int_equal(to[at], 0x5a);
    }
    free(from);
    free(to);
    pool_destroy(pool);
}

static void every_row_is_stored_in_its_place(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 5}, sizes[] = {16, 48, 256, MOST_ROW},
                          counts[] = {0, 1, 4, 333, ROWS};
    for (size_t t = 0; t < 3; t++) {
        for (size_t s = 0; s < 4; s++) {
            for (size_t c = 0; c < 5; c++) {
                print_message("# %u threads, %u rows of %u bytes\n", threads[t], counts[c],
                              sizes[s]);
                check_rows(threads[t], sizes[s], counts[c]);
            }
        }
    }
}

/* Rows 0, 1, 2, 3, 4 into two places: 0 and 1 of them hold what one of theirs was. */
static void places_are_taken_in_turn(void **state)
{
    (void)state;
    struct error why;
    struct pool *pool = pool_create(1, NULL, &why);
    static _Alignas(16) char from[5 * 16], to[3 * 16];
    const uint32_t rows[] = {0, 1, 2, 3, 4};
    assert_non_null(pool);
    for (int i = 0; i < 5 * 16; i++) {
        from[i] = (char)(i / 16 + 1);
    }
    struct store_rows store = {from, rows, 5, 16, to, 2, NULL};
    store_rows_run(pool, &store);
    assert_int_equal(to[0], 5);
    assert_int_equal(to[15], 5);
    assert_int_equal(to[16], 4);
    assert_int_equal(to[32], 0);
    pool_destroy(pool);
}

static void what_cannot_be_mapped_has_a_reason(void **state)
{
    (void)state;
    struct window window;
    struct error why;
    memset(&why, 0, sizeof why);
    assert_false(window_map((void *)WINDOW_PAGE, WINDOW_PAGE, &window, &why));
    assert_non_null(strstr(why.found, "GDRCopy"));
    assert_null(window.at);
    assert_false(window_take(-1, WINDOW_PAGE, &window, &why));
    assert_non_null(strstr(why.found, "NUMA node"));
    assert_false(window_take(1000, WINDOW_PAGE, &window, &why));
    assert_non_null(strstr(why.found, "no memory of node 1000"));
    assert_null(window.at);
    window_release(&window);
}

static void rows_are_stored_where_they_are_sent(void **state)
{
    (void)state;
    static char from[4][16] __attribute__((aligned(16))), to[6][16] __attribute__((aligned(16)));
    static const uint32_t rows[] = {3, 0, 2}, places[] = {5, 4, 0};
    struct error why;
    struct pool *pool = pool_create(2, NULL, &why);
    assert_non_null(pool);
    for (int i = 0; i < 4; i++) {
        memset(from[i], 'a' + i, 16);
    }
    struct store_rows store = {from[0], rows, 3, 16, to[0], 0, places};
    store_rows_run(pool, &store);
    static const char expected[] = "c\0\0\0ad";
    for (int i = 0; i < 6; i++) {
        assert_int_equal(to[i][0], expected[i]);
        assert_int_equal(to[i][15], expected[i]);
    }
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_stored_in_its_place),
        cmocka_unit_test(rows_are_stored_where_they_are_sent),
        cmocka_unit_test(places_are_taken_in_turn),
        cmocka_unit_test(what_cannot_be_mapped_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
