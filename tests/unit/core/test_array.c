/* Arrays that grow, and refuse to grow past what memory can address. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

/* Refusing memory is what is tested here: the sanitizers shall not take it for a bug. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void appending_keeps_items_and_moves_rarely(void **state)
{
    (void)state;
    struct error why;
    uint32_t *items = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        assert_true(array_reserve(&items, &capacity, i + 1, sizeof *items, &why));
        moves += capacity != before;
        items[i] = i;
    }
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(items[i], i);
    }
    assert_in_range(moves, 1, 17); /* doubling */
    free(items);
}

static void impossible_sizes_are_errors_and_change_nothing(void **state)
{
    (void)state;
    static const size_t needed[] = {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 16};
    struct error why;
    uint64_t *items = NULL;
    size_t capacity = 0;
    assert_true(array_reserve(&items, &capacity, 3, sizeof *items, &why));
    items[2] = 42;
    uint64_t *old = items;
    size_t old_capacity = capacity;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        assert_false(array_reserve(&items, &capacity, needed[i], sizeof *items, &why));
        assert_ptr_equal(items, old);
        assert_int_equal(capacity, old_capacity);
        assert_int_equal(items[2], 42);
        assert_non_null(strstr(why.found, "out of memory"));
    }
    free(items);
}

static void zeroed_memory_is_zero_and_never_null(void **state)
{
    (void)state;
    struct error why;
    uint64_t *items = array_zeroed(1000, sizeof *items, &why);
    for (size_t i = 0; i < 1000; i++) {
        assert_true(items[i] == 0);
    }
    free(items);
    void *none = array_zeroed(0, 8, &why);
    assert_non_null(none);
    free(none);
    assert_null(array_zeroed(SIZE_MAX / 2, 3, &why));
    assert_non_null(strstr(why.found, "out of memory"));
}

/* Of a long one the kernel gives pages that are clear, whatever was freed before. */
static void a_sparse_array_is_zero_short_or_long(void **state)
{
    static const size_t counts[] = {0, 1, 1000, 1 << 20};
    struct error why;
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int again = 0; again < 2; again++) {
            uint64_t *items = array_sparse(counts[i], sizeof *items, &why);
            assert_non_null(items);
            for (size_t k = 0; k < counts[i]; k += 509) {
                assert_true(items[k] == 0);
                items[k] = UINT64_MAX;
            }
            array_sparse_free(items);
        }
    }
    array_sparse_free(NULL);
    assert_null(array_sparse(SIZE_MAX / 2, 3, &why));
    assert_non_null(strstr(why.found, "out of memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appending_keeps_items_and_moves_rarely),
        cmocka_unit_test(impossible_sizes_are_errors_and_change_nothing),
        cmocka_unit_test(zeroed_memory_is_zero_and_never_null),
        cmocka_unit_test(a_sparse_array_is_zero_short_or_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
