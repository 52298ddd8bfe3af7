/* The front, by hand and against its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "study/plan/tradeoff.h"

enum { MOST = 60, ROUNDS = 500 };

static void what_is_better_in_something_is_on_the_front(void **state)
{
    const struct pareto_point points[] = {
        {{3, 1, 0, 0}},  /* the most of the first */
        {{1, 3, 0, 0}},  /* of the second */
        {{2, 2, 0, 0}},  /* between, and not for less */
        {{2, 1, 0, 0}},  /* the one before has as much of all, and more of the second */
        {{1, 1, -5, 0}}, /* worst of all */
        {{0, 0, 0, 1}},  /* alone in the fourth */
        {{2, 2, 0, 0}},  /* equal to one on the front */
    };
    const bool expected[] = {true, true, true, false, false, true, true};
    bool on_front[7];
    (void)state;
    pareto_front(points, 7, on_front);
    assert_memory_equal(on_front, expected, sizeof expected);
    pareto_front(points, 0, on_front);
    pareto_front(points + 4, 1, on_front);
    assert_true(on_front[0]);
}

/* Few values, so that many points are equal in some figure. */
static void draw(gsl_rng *random, struct pareto_point *points, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (int j = 0; j < PARETO_FIGURES; j++) {
            points[i].figures[j] = (double)gsl_rng_uniform_int(random, 5) - 2;
        }
    }
}

/* How many figures of a are less than b's, and how many more. */
static void compare(const struct pareto_point *a, const struct pareto_point *b, int *less,
                    int *more)
{
    *less = *more = 0;
    for (int i = 0; i < PARETO_FIGURES; i++) {
        *less += a->figures[i] < b->figures[i];
        *more += a->figures[i] > b->figures[i];
    }
}

/* On the front nobody beats anybody; what is not on it is beaten by something that is. */
static void the_front_beats_all_others_and_nothing_beats_it(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct error why;
        gsl_rng *random = random_stream(seed, "test.pareto", 0, &why);
        struct pareto_point points[MOST];
        bool on_front[MOST];
        uint32_t count = 1 + (uint32_t)gsl_rng_uniform_int(random, MOST);
        draw(random, points, count);
        pareto_front(points, count, on_front);
        for (uint32_t i = 0; i < count; i++) {
            bool beaten = false;
            for (uint32_t j = 0; j < count; j++) {
                int less, more;
                compare(&points[j], &points[i], &less, &more);
                beaten = beaten || (on_front[j] && less == 0 && more > 0);
            }
            if (on_front[i] == beaten) {
                fail_msg("seed %u: point %u is %s the front", seed, i, beaten ? "on" : "not on");
            }
        }
        gsl_rng_free(random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_better_in_something_is_on_the_front),
        cmocka_unit_test(the_front_beats_all_others_and_nothing_beats_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
