/* The knee of curves that are drawn by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/whatif/whatif_study.h"

enum { MOST = 6, NONE = 99 };

/* Of 100 accesses. */
static const struct {
    const char *name;
    uint32_t count, sizes[MOST];
    uint64_t misses[MOST];
    uint32_t knee; /* its index */
} cases[] = {
    /* the line: 100 - 8 size / 10; below it by 32, 34, 16, 0 */
    {"one corner", 4, {10, 20, 60, 100}, {60, 50, 36, 20}, 1},
    /* from the line 100 - size: 45, 35, 25, 0 */
    {"the first size", 4, {5, 20, 50, 100}, {50, 45, 25, 0}, 0},
    /* 20 and 40 both 30 below 100 - size */
    {"the smaller of two", 3, {20, 40, 100}, {50, 30, 0}, 0},
    /* the line ends at 50 of 100 blocks: 100 - size; 5, 0. On to 100 it were 100 - size / 2. */
    {"as far as the curve goes", 2, {25, 50}, {70, 50}, 0},
    /* a policy that is worse at 30; from 100 - 0.9 size: 9, -22, 15, 0 */
    {"a curve that rises", 4, {10, 30, 50, 100}, {82, 95, 40, 10}, 2},
    {"a straight line", 4, {25, 50, 75, 100}, {75, 50, 25, 0}, NONE},
    {"above the line", 2, {50, 100}, {90, 0}, NONE},
    {"nothing hits", 2, {50, 100}, {100, 100}, NONE},
    {"one size", 1, {50}, {40}, NONE},
    {"no cache", 1, {0}, {100}, NONE},
    {"no size", 0, {0}, {0}, NONE},
};

static void a_knee_is_furthest_below_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t index = NONE;
        bool found = knee_find(cases[i].sizes, cases[i].misses, cases[i].count, 100, &index);
        if (!found) {
            index = NONE;
        }
        if (index != cases[i].knee) {
            fail_msg("%s: the knee is %u, not %u", cases[i].name, index, cases[i].knee);
        }
    }
}

/* Curves of points; the line goes from the first to the last. */
static const struct {
    const char *name;
    uint32_t count;
    double x[MOST], y[MOST];
    uint32_t knee;
} rising[] = {
    {"one corner", 4, {0, 10, 50, 100}, {10, 40, 60, 60}, 1}, /* 10 + x / 2: 25 and 25 above */
    {"in any unit", 4, {0, 1e-9, 5e-9, 1e-8}, {1, 4, 6.1, 6}, 2},
    {"downwards", 4, {100, 50, 10, 0}, {60, 60, 40, 10}, 1},
    {"a line", 3, {0, 1, 2}, {5, 6, 7}, NONE},
    {"below it", 3, {0, 1, 2}, {5, 5, 7}, NONE},
    {"two points", 2, {0, 1}, {0, 1}, NONE},
};

static void a_knee_of_points_is_furthest_above_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rising / sizeof rising[0]; i++) {
        uint32_t index = NONE;
        bool found = knee_above(rising[i].x, rising[i].y, rising[i].count, &index);
        assert_int_equal(found, rising[i].knee != NONE);
        if (index != rising[i].knee) {
            fail_msg("%s: the knee is %u, not %u", rising[i].name, index, rising[i].knee);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_knee_is_furthest_below_the_line),
        cmocka_unit_test(a_knee_of_points_is_furthest_above_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
