/* Whose queue grows without bound, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serving/backlog.h"

enum { MOST = 200 };

/* `count` requests, one every `gap` from `from` on, of which the server begins one every `pace`. */
struct wave {
    uint32_t count;
    int64_t from, gap;
};

static const struct {
    const char *name;
    struct wave waves[2];
    int64_t pace;
    bool grows;
} cases[] = {
    {"none waits", {{100, 0, 10}}, 5, false},
    /* of 51 and 101 that came 26 and 51 began, and no more for coming longer */
    {"twice what is served", {{101, 0, 10}}, 20, true},
    /* by 500 and 1000: 51 and 101 came; 49 began by 480, 96 by 1000, the last at 997.5 */
    {"a twentieth more than is served, or less", {{101, 0, 100}}, 105, false},
    {"a tenth more than is served", {{101, 0, 100}}, 111, true},
    /* 50 at once, through by 490; the last one comes at 2000 */
    {"a burst at the beginning", {{50, 0, 0}, {1, 2000, 0}}, 10, false},
    {"a burst at the end", {{1, 0, 0}, {50, 2000, 0}}, 10, false},
    /* 50 at once take until 980: 25 wait at 500, 1 of 51 at 1000 */
    {"a burst that is worked off at the end", {{50, 0, 0}, {1, 1000, 0}}, 20, false},
    /* until 1470: 33 and 17 wait */
    {"a burst that is not", {{50, 0, 0}, {1, 1000, 0}}, 30, true},
};

static uint32_t serve(size_t number, struct served *all, int64_t *last_ns)
{
    uint32_t count = 0;
    int64_t free_ns = 0;
    for (int p = 0; p < 2; p++) {
        const struct wave *wave = &cases[number].waves[p];
        for (uint32_t i = 0; i < wave->count; i++) {
            int64_t arrived = wave->from + i * wave->gap;
            int64_t begins = arrived > free_ns ? arrived : free_ns;
            all[count++] = (struct served){.arrived_ns = arrived, .scheduled_ns = begins};
            free_ns = begins + cases[number].pace;
            *last_ns = arrived;
        }
    }
    return count;
}

static void a_queue_grows_where_more_comes_than_is_served(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct served all[MOST];
        int64_t last_ns = 0;
        uint32_t count = serve(i, all, &last_ns);
        if (backlog_grows(all, count, last_ns) != cases[i].grows) {
            fail_msg("%s: %d", cases[i].name, !cases[i].grows);
        }
    }
}

/* Eleven, one every 100, that wait 10 each: at 500 one of 6, at 1000 one of 11. */
static void one_that_has_just_come_is_no_queue(void **state)
{
    (void)state;
    struct served all[11];
    for (int i = 0; i < 11; i++) {
        all[i] = (struct served){.arrived_ns = 100 * i, .scheduled_ns = 100 * i + 10};
    }
    assert_false(backlog_grows(all, 11, 1000));
}

/* What no server can hold waits for none. */
static void who_is_left_out_does_not_wait(void **state)
{
    (void)state;
    struct served all[MOST];
    for (int i = 0; i < MOST; i++) {
        all[i] = (struct served){
            .arrived_ns = i, .scheduled_ns = i % 2 ? i : -1, .too_long = i % 2 == 0};
    }
    assert_false(backlog_grows(all, MOST, MOST - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_grows_where_more_comes_than_is_served),
        cmocka_unit_test(one_that_has_just_come_is_no_queue),
        cmocka_unit_test(who_is_left_out_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
