/* Depths in an LRU stack, worked by hand. test_sizes.c compares with LRU caches of all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/stack.h"

#include <string.h>

/* Steps as words of letters, best first, and the depth of each before its step; 0: never touched. */
static const struct {
    const char *claim, *steps, *depths;
} cases[] = {
    {"the block touched last is first", "A B A A C B A", "0 0 2 1 0 3 3"},
    /* worst first: A is touched last */
    {"a batch looks before it touches", "AB AB", "00 12"},
    /* C B A, then A 1, D -, C 3: A D C B, and again B 4 */
    {"a batch, ranks change", "ABC CDA B", "000 301 4"},
};

static void depths_are_as_worked_by_hand(void **state)
{
    (void)state;
    struct error why;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *steps = cases[c].steps;
        struct stack *stack = stack_create(5, &why);
        assert_non_null(stack);
        for (size_t at = 0; steps[at] != '\0';) {
            uint32_t units[5], count = (uint32_t)strcspn(steps + at, " ");
            for (uint32_t i = 0; i < count; i++) {
                units[i] = (uint32_t)(steps[at + i] - 'A');
                uint32_t depth = stack_depth(stack, units[i]);
                if (depth != (uint32_t)(cases[c].depths[at + i] - '0')) {
                    fail_msg("%s: %c lies %u deep, not %c", cases[c].claim, steps[at + i], depth,
                             cases[c].depths[at + i]);
                }
            }
            stack_access(stack, &(struct demand){.units = units, .wanted = count});
            at += count + (steps[at + count] == ' ');
        }
        stack_destroy(stack);
    }
}

static void too_many_blocks_are_refused(void **state)
{
    (void)state;
    struct error why;
    assert_null(stack_create(UINT32_MAX, &why));
    assert_string_equal(why.found, "4294967295 blocks are too many for a cache");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depths_are_as_worked_by_hand),
        cmocka_unit_test(too_many_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
