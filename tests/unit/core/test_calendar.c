/* Calendar: what comes out is what went in, in the order promised. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "core/engine/calendar.h"

static void events_come_by_time_then_in_order_of_insertion(void **state)
{
    (void)state;
    static const int64_t pushed[] = {5, 3, 5, 0, 3, 3, 9, 0};
    static const uint32_t popped[] = {3, 7, 1, 4, 5, 0, 2, 6};
    struct calendar calendar = {0};
    struct error why;
    assert_true(calendar_reserve(&calendar, 8, &why));
    for (uint32_t i = 0; i < 8; i++) {
        calendar_push(&calendar, pushed[i], i);
    }
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(calendar_next_ns(&calendar), pushed[popped[i]]);
        assert_int_equal(calendar_item(calendar_pop(&calendar)), popped[i]);
    }
    assert_int_equal(calendar_next_ns(&calendar), INT64_MAX);
    calendar_release(&calendar);
}

enum { MOST = 300 };

/* A list in order of insertion, of which the first of the earliest is taken. */
struct list {
    int64_t at_ns[MOST];
    uint32_t item[MOST];
    size_t count;
};

static uint32_t list_take(struct list *list)
{
    size_t first = 0;
    for (size_t i = 1; i < list->count; i++) {
        if (list->at_ns[i] < list->at_ns[first]) {
            first = i;
        }
    }
    uint32_t item = list->item[first];
    list->count--;
    for (size_t i = first; i < list->count; i++) {
        list->at_ns[i] = list->at_ns[i + 1];
        list->item[i] = list->item[i + 1];
    }
    return item;
}

/* Push and pop at random, beside the list. */
static void check_against_list(uint64_t seed)
{
    struct error why;
    struct calendar calendar = {.count = 0};
    struct list list = {.count = 0};
    gsl_rng *random = random_stream(seed, "test.calendar", 0, &why);
    assert_non_null(random);
    assert_true(calendar_reserve(&calendar, MOST, &why));
    for (uint32_t i = 0; i < 3000; i++) {
        bool grow = gsl_rng_uniform_int(random, 100) < (i % 1000 < 500 ? 60 : 40);
        if (grow && list.count < MOST) {
            int64_t at_ns = (int64_t)gsl_rng_uniform_int(random, 50);
            calendar_push(&calendar, at_ns, i);
            list.at_ns[list.count] = at_ns;
            list.item[list.count++] = i;
        } else if (list.count > 0) {
            uint32_t expected = list_take(&list);
            uint32_t got = calendar_item(calendar_pop(&calendar));
            if (got != expected) {
                fail_msg("seed %d, step %u: %u came, not %u", (int)seed, i, got, expected);
            }
        }
        assert_int_equal(calendar.count, list.count);
    }
    gsl_rng_free(random);
    calendar_release(&calendar);
}

static void random_pushes_and_pops_match_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        check_against_list(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_by_time_then_in_order_of_insertion),
        cmocka_unit_test(random_pushes_and_pops_match_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
