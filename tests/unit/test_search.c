/* The search on functions whose answer brute force knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "study/search.h"

#include <math.h>

enum { MOST = 300, ROUNDS = 2000 };

/* A function on a grid, and how it is to be searched. */
struct grid {
    double shortfall[MOST];
    uint32_t count, a_round;
    uint32_t seed;
};

static struct search run(const struct grid *grid)
{
    struct search search;
    struct error why;
    uint32_t values[MOST], count;
    assert_true(search_init(&search, grid->count, &why));
    while ((count = search_next(&search, grid->a_round, values)) > 0) {
        assert_true(count <= grid->a_round);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(values[i] < grid->count && isnan(search.shortfall[values[i]]));
            assert_true(i == 0 || values[i] > values[i - 1]);
            search_put(&search, values[i], grid->shortfall[values[i]]);
        }
    }
    return search;
}

static uint32_t first_that_passes(const struct grid *grid)
{
    for (uint32_t i = 0; i < grid->count; i++) {
        if (grid->shortfall[i] == 0) {
            return i;
        }
    }
    return SEARCH_NONE;
}

static double least_miss(const struct grid *grid)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < grid->count; i++) {
        least = fmin(least, grid->shortfall[i]);
    }
    return least;
}

/* The value before what was found was tried and does not pass: that is the proof that it is the
 * least. */
static void check_found(const struct grid *grid, const struct search *search)
{
    uint32_t found = search_found(search);
    if (found != first_that_passes(grid)) {
        fail_msg("seed %u: found %u, not %u", grid->seed, found, first_that_passes(grid));
    }
    if (found != SEARCH_NONE && found > 0 && !(search->shortfall[found - 1] > 0)) {
        fail_msg("seed %u: %u was found, and %u not tried", grid->seed, found, found - 1);
    }
}

static gsl_rng *draw_from(uint32_t seed)
{
    struct error why;
    gsl_rng *random = random_stream(seed, "test.search", 0, &why);
    assert_non_null(random);
    return random;
}

static uint32_t below(gsl_rng *random, uint32_t most)
{
    return (uint32_t)gsl_rng_uniform_int(random, most);
}

static struct grid draw_grid(gsl_rng *random, uint32_t seed)
{
    return (struct grid){
        .count = 1 + below(random, MOST), .a_round = 2 + below(random, 9), .seed = seed};
}

/* Falling in steps larger than what is taken as equal, to 0 at a place that may be behind the end;
 * what does not fit, before it. */
static void shortfalls_that_shrink_are_cut_in_sections(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        uint32_t zero = below(random, grid.count + grid.count / 4 + 1);
        uint32_t fits = below(random, grid.count / 2 + 1);
        for (uint32_t i = 0; i < grid.count; i++) {
            grid.shortfall[i] = i >= zero ? 0 : i < fits ? INFINITY : 0.01 * (zero - i);
        }
        struct search search = run(&grid);
        check_found(&grid, &search);
        if (search.scans && zero < grid.count) {
            fail_msg("seed %u: it scans where shortfalls shrink", seed);
        }
        search_release(&search);
        gsl_rng_free(random);
    }
}

/* Down to somewhere above 0, and up again: nothing passes, and the lowest is nearest. */
static void a_valley_that_stays_above_is_closed_in_on(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        uint32_t low = below(random, grid.count);
        for (uint32_t i = 0; i < grid.count; i++) {
            grid.shortfall[i] = 0.5 + 0.01 * fabs((double)i - low);
        }
        struct search search = run(&grid);
        assert_int_equal(search_found(&search), SEARCH_NONE);
        if (search_nearest(&search) != low) {
            fail_msg("seed %u: %u is nearest, not %u", seed, search_nearest(&search), low);
        }
        if (search.scans) {
            fail_msg("seed %u: it scans a valley", seed);
        }
        search_release(&search);
        gsl_rng_free(random);
    }
}

/* A few values pass in the middle: too few to be hit by chance, but all points to them. */
static void what_passes_at_the_bottom_of_a_valley_is_found(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        uint32_t low = below(random, grid.count);
        uint32_t wide = below(random, 4);
        for (uint32_t i = 0; i < grid.count; i++) {
            double far = fabs((double)i - low) - wide;
            grid.shortfall[i] = far > 0 ? 0.01 * far : 0;
        }
        struct search search = run(&grid);
        check_found(&grid, &search);
        search_release(&search);
        gsl_rng_free(random);
    }
}

/* Values at random: where tries show that nothing is steady, all before the first that passes is
 * tried; on a grid that one round covers, always. */
static void what_is_not_steady_is_scanned(void **state)
{
    uint32_t scanned = 0;
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        bool passes = below(random, 2) == 0;
        for (uint32_t i = 0; i < grid.count; i++) {
            uint32_t drawn = below(random, 100);
            grid.shortfall[i] = drawn == 0 ? INFINITY : drawn == 1 && passes ? 0 : 0.01 * drawn;
        }
        struct search search = run(&grid);
        if (search.scans || grid.a_round >= grid.count) {
            check_found(&grid, &search);
            assert_true(search_found(&search) != SEARCH_NONE ||
                        search.shortfall[search_nearest(&search)] == least_miss(&grid));
        }
        scanned += search.scans;
        search_release(&search);
        gsl_rng_free(random);
    }
    assert_true(scanned > ROUNDS / 2);
}

static void where_nothing_can_be_all_is_tried(void **state)
{
    struct grid grid = {.count = 40, .a_round = 5};
    (void)state;
    for (uint32_t i = 0; i < grid.count; i++) {
        grid.shortfall[i] = i == 17 ? 0.5 : INFINITY;
    }
    struct search search = run(&grid);
    assert_int_equal(search_nearest(&search), 17);
    search_release(&search);
    grid.shortfall[17] = INFINITY;
    search = run(&grid);
    assert_int_equal(search_nearest(&search), SEARCH_NONE);
    assert_int_equal(search.tried, grid.count);
    search_release(&search);
}

/* 256 values, 9 a round: sections of 32, of 4 or 3, and the rest. */
static void three_rounds_are_enough_for_an_axis(void **state)
{
    (void)state;
    for (uint32_t zero = 0; zero < 256; zero++) {
        struct grid grid = {.count = 256, .a_round = 9, .seed = zero};
        for (uint32_t i = 0; i < 256; i++) {
            grid.shortfall[i] = i >= zero ? 0 : 0.01 * (zero - i);
        }
        struct search search = run(&grid);
        check_found(&grid, &search);
        assert_true(search.tried <= 9 + 9 + 3);
        search_release(&search);
    }
}

/* A shortfall that rises by less than counts as equal is steady; by more, it is not. */
static void what_is_about_equal_is_steady(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double rise = i == 0 ? SEARCH_EQUAL / 2 : 2 * SEARCH_EQUAL;
        struct grid grid = {.shortfall = {0.3, 0.2, 0.2 + rise, 0.1}, .count = 4, .a_round = 4};
        struct search search = run(&grid);
        assert_int_equal(search.scans, i);
        search_release(&search);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortfalls_that_shrink_are_cut_in_sections),
        cmocka_unit_test(a_valley_that_stays_above_is_closed_in_on),
        cmocka_unit_test(what_passes_at_the_bottom_of_a_valley_is_found),
        cmocka_unit_test(what_is_not_steady_is_scanned),
        cmocka_unit_test(where_nothing_can_be_all_is_tried),
        cmocka_unit_test(three_rounds_are_enough_for_an_axis),
        cmocka_unit_test(what_is_about_equal_is_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
