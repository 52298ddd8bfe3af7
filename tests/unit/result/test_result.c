/* A run's result: what is read of its items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result/result.h"

static void the_largest_item_is_the_first_of_the_longest(void **state)
{
    (void)state;
    struct result result;
    result_init(&result);
    assert_null(result_largest(&result, COLUMN_PARTS));
    result.part_count = 4;
    result.parts[0] = (struct result_item){.name = "link", .ns = 2};
    result.parts[1] = (struct result_item){.name = "compute", .ns = 7};
    result.parts[2] = (struct result_item){.name = "sync", .ns = 0};
    result.parts[3] = (struct result_item){.name = "merge", .ns = 7};
    assert_string_equal(result_largest(&result, COLUMN_PARTS)->name, "compute");
    assert_null(result_largest(&result, COLUMN_STALLS));
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_item_is_the_first_of_the_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
