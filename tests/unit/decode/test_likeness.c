/* Likeness: figures of demands that never change and of demands that have nothing to do with each
 * other, where every policy's hits are known. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/replay/likeness.h"
#include "unit/fixture/make_profile.h"

#include <math.h>

enum { CONTEXT = 2048, OUTSIDE = 1980, WANTED = 205 };

static uint32_t figure(const char *name)
{
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        if (strcmp(likeness_figures[f].name, name) == 0) {
            return f;
        }
    }
    fail_msg("no figure '%s'", name);
    return 0;
}

static void measure(struct trace_profile_head *head, uint32_t layers, uint32_t threads,
                    double out[LIKENESS_FIGURES])
{
    struct trace_profile profile = make_profile(head, 1, 1);
    struct trace_geometry geometry = make_geometry(layers, 2, CONTEXT, 96);
    struct trace *trace = make_generated(&profile, &geometry);
    struct error why;
    make_check(likeness_measure(trace, 0.1, threads, out, &why), &why);
    trace_close(trace);
}

static void assert_near(const double *likeness, const char *name, double expected)
{
    double mean = likeness[figure(name)];
    if (!(fabs(mean - expected) < 0.04)) {
        fail_msg("%s: %.3f, not %.3f", name, mean, expected);
    }
}

static void what_never_changes_always_hits(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    double never[PROFILE_PARTS] = {[PROFILE_PARTS - 1] = 1};
    double likeness[LIKENESS_FIGURES];
    memcpy(head.score, never, sizeof never);
    memcpy(head.query, never, sizeof never);
    measure(&head, 1, 1, likeness);
    static const char *const ones[] = {"overlap_1", "overlap_16", "cosine_16", "lru_10",
                                       "lru_50",    "fifo_10",    "reuse_.9",  "reuse_.6"};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        assert_near(likeness, ones[i], 1);
    }
    assert_near(likeness, "mass_.9", likeness[figure("fresh_mass")]);
}

/* Whatever a cache holds, a unit of an independent demand is in it with chance capacity / OUTSIDE.
 * (A little more, as the few directions of some units are longer than those of others.) Queries at
 * right angles to the last are never alike. */
static void independent_demands_hit_by_the_size_of_the_cache(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    double likeness[LIKENESS_FIGURES];
    measure(&head, 4, 2, likeness);
    assert_near(likeness, "overlap_1", (double)WANTED / OUTSIDE);
    assert_near(likeness, "lru_10", 205.0 / OUTSIDE);
    assert_near(likeness, "fifo_10", 205.0 / OUTSIDE);
    assert_near(likeness, "lru_30", 614.0 / OUTSIDE);
    assert_near(likeness, "fifo_30", 614.0 / OUTSIDE);
    assert_near(likeness, "lru_50", 1024.0 / OUTSIDE);
    assert_near(likeness, "fifo_50", 1024.0 / OUTSIDE);
    assert_near(likeness, "reuse_.6", 0);
}

static void figures_are_the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    double one[LIKENESS_FIGURES], three[LIKENESS_FIGURES];
    measure(&head, 4, 1, one);
    measure(&head, 4, 3, three);
    assert_memory_equal(one, three, sizeof one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_never_changes_always_hits),
        cmocka_unit_test(independent_demands_hit_by_the_size_of_the_cache),
        cmocka_unit_test(figures_are_the_same_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
