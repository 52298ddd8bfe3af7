/* Buffers and gathers: bytes, not times. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/host/buffer.h"
#include "calibrate/host/gather.h"
#include "calibrate/kernels/small_floats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pool *new_pool(uint32_t threads)
{
    struct error why;
    struct pool *pool = pool_create(threads, NULL, &why);
    assert_non_null(pool);
    return pool;
}

/* More than a chunk, and not whole words. */
enum { SIZE = (5 << 20) + 6 };

static void a_buffer_is_the_same_whoever_fills_it(void **state)
{
    (void)state;
    struct error why;
    struct buffer by[3] = {{NULL, 0}};
    for (uint32_t i = 0; i < 3; i++) {
        struct pool *pool = new_pool(1 + 2 * i);
        assert_true(buffer_init(&by[i], SIZE, i < 2 ? 7 : 8, pool, &why));
        assert_int_equal(by[i].size, SIZE);
        pool_destroy(pool);
    }
    assert_memory_equal(by[0].bytes, by[1].bytes, SIZE);
    assert_true(memcmp(by[0].bytes, by[2].bytes, SIZE) != 0);
    for (uint32_t i = 0; i < 3; i++) {
        buffer_release(&by[i]);
        assert_null(by[i].bytes);
        buffer_release(&by[i]);
    }
}

static void a_buffer_holds_numbers_of_which_none_is_tiny_or_large(void **state)
{
    (void)state;
    struct error why;
    struct buffer buffer = {NULL, 0};
    struct pool *pool = new_pool(2);
    assert_true(buffer_init(&buffer, SIZE, 1, pool, &why));
    uint32_t negative = 0;
    double sum = 0;
    for (size_t at = 0; at < SIZE; at += sizeof(uint16_t)) {
        uint16_t bits;
        memcpy(&bits, buffer.bytes + at, sizeof bits);
        float value = bf16_value(bits);
        assert_true(fabsf(value) >= 1 / 128.f && fabsf(value) < 1 / 8.f);
        negative += value < 0;
        sum += (double)value;
    }
    double count = SIZE / 2;
    assert_true(negative > 0.49 * count && negative < 0.51 * count);
    assert_true(sum > -0.001 * count && sum < 0.001 * count);
    buffer_release(&buffer);
    pool_destroy(pool);
}

static void a_sum_is_that_of_every_word_whoever_adds(void **state)
{
    (void)state;
    static const size_t spans[][2] = {{0, 64}, {0, 5 << 20}, {64, 1 << 20}, {640, 64 * 12345}};
    struct error why;
    struct buffer buffer = {NULL, 0};
    struct pool *fill = new_pool(1);
    assert_true(buffer_init(&buffer, SIZE, 1, fill, &why));
    pool_destroy(fill);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct pool *pool = new_pool(threads);
        for (uint32_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
            uint64_t sum = 0;
            for (size_t at = 0; at < spans[i][1]; at += sizeof(uint64_t)) {
                uint64_t word;
                memcpy(&word, buffer.bytes + spans[i][0] + at, sizeof word);
                sum += word;
            }
            assert_true(buffer_sum(&buffer, spans[i][0], spans[i][1], pool) == sum);
        }
        pool_destroy(pool);
    }
    buffer_release(&buffer);
}

enum { ROWS = 997, MOST_ROW = 16384 };

static void gathered_rows_are_those_asked_for(void **state)
{
    (void)state;
    static const uint32_t row_sizes[] = {1, 128, 256, 1000, MOST_ROW}, counts[] = {0, 1, 5, 300};
    struct error why;
    struct buffer from = {NULL, 0};
    struct pool *fill = new_pool(2);
    assert_true(buffer_init(&from, (size_t)ROWS * (MOST_ROW + 8), 3, fill, &why));
    pool_destroy(fill);
    char *plain = malloc(300 * MOST_ROW), *to = malloc(300 * MOST_ROW + 1);
    char *between = malloc(300 * MOST_ROW);
    assert_true(plain != NULL && to != NULL && between != NULL);
    uint32_t rows[300];
    for (uint32_t i = 0; i < 300; i++) {
        rows[i] = (i * 421 + 17) % ROWS; /* scattered, some twice or more */
    }
    for (uint32_t run = 0; run < 5 * 4 * 2 * 3; run++) {
        uint32_t row_bytes = row_sizes[run % 5], count = counts[run / 5 % 4];
        struct gather gather = {
            .from = from.bytes,
            .rows = rows,
            .count = count,
            .row_bytes = row_bytes,
            .stride = row_bytes + (run % 3 == 0 ? 8 : 0),
            .between = run / 20 % 2 == 0 ? NULL : between,
            .to = to,
        };
        for (uint32_t i = 0; i < count; i++) {
            memcpy(plain + (size_t)i * row_bytes, from.bytes + rows[i] * gather.stride, row_bytes);
        }
        size_t size = (size_t)count * row_bytes;
        memset(to, 0, size);
        to[size] = 'x';
        struct pool *pool = new_pool(1 + run / 40);
        gather_run(pool, &gather);
        pool_destroy(pool);
        assert_memory_equal(to, plain, size);
        assert_int_equal(to[size], 'x');
    }
    free(between);
    free(to);
    free(plain);
    buffer_release(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_is_the_same_whoever_fills_it),
        cmocka_unit_test(a_buffer_holds_numbers_of_which_none_is_tiny_or_large),
        cmocka_unit_test(a_sum_is_that_of_every_word_whoever_adds),
        cmocka_unit_test(gathered_rows_are_those_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
