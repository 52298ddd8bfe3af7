/* The search on functions whose answer brute force knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "study/plan/search.h"

#include <math.h>

enum { MOST = 300, ROUNDS = 2000 };

/* A function on a grid, and how it is to be searched. */
struct grid {
    double shortfall[MOST];
    uint32_t count, a_round;
    uint32_t seed;
    bool load, unordered;
    bool near; /* begin at `guess` */
    uint32_t guess, reach, close;
};

/* As the search says of itself: sections of its even grid, and neighbours that it looks at. */
enum { GRID = 32, NEIGHBOURS = 4 };

static struct search run(const struct grid *grid)
{
    struct search search;
    struct error why;
    uint32_t values[MOST], count;
    assert_true(search_init(&search, grid->count, &why));
    search.load = grid->load;
    search.unordered = grid->unordered;
    if (grid->near) {
        search_near(&search, grid->guess, grid->reach, grid->close);
    }
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
        if (search.uneven && zero < grid.count) {
            fail_msg("seed %u: shortfalls that shrink are uneven to it", seed);
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
        if (search.uneven) {
            fail_msg("seed %u: a valley is uneven to it", seed);
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

static double least_miss(const struct grid *grid)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < grid->count; i++) {
        least = fmin(least, grid->shortfall[i]);
    }
    return least;
}

/* Of 100 values one cannot be and, of every other grid, one passes. */
static void draw_shortfalls(gsl_rng *random, struct grid *grid)
{
    bool passes = below(random, 2) == 0;
    for (uint32_t i = 0; i < grid->count; i++) {
        uint32_t drawn = below(random, 100);
        grid->shortfall[i] = drawn == 0 ? INFINITY : drawn == 1 && passes ? 0 : 0.01 * drawn;
    }
}

/* Before `end` no gap between tried values is wider than a section of the even grid. */
static void check_spread(const struct grid *grid, const struct search *search, uint32_t end)
{
    uint32_t last = 0, widest = (grid->count - 1 + GRID - 1) / GRID;
    for (uint32_t i = 0; i < end; i++) {
        last = isnan(search->shortfall[i]) ? last : i;
        if (i - last >= widest && widest > 0) {
            fail_msg("seed %u: nothing was tried from %u to %u", grid->seed, last, i);
        }
    }
}

static bool is_tried_and_fails(const struct search *search, uint32_t value)
{
    return search->shortfall[value] > 0;
}

/* Values at random: what is found passes; it was looked for evenly, and its better neighbours were
 * tried and do not pass. Few of many are tried. */
static void what_is_not_steady_is_tried_evenly(void **state)
{
    uint32_t uneven = 0, tried = 0, many = 0;
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        draw_shortfalls(random, &grid);
        struct search search = run(&grid);
        uint32_t found = search_found(&search), end = found != SEARCH_NONE ? found : grid.count;
        if (search.uneven) {
            check_spread(&grid, &search, end);
        }
        for (uint32_t i = 1; search.uneven && found != SEARCH_NONE && i <= NEIGHBOURS; i++) {
            assert_true(i > found || is_tried_and_fails(&search, found - i));
        }
        assert_true(found == SEARCH_NONE || search.shortfall[found] == 0);
        tried += grid.count > 200 ? search.tried : 0;
        many += grid.count > 200 ? grid.count : 0;
        uneven += search.uneven;
        search_release(&search);
        gsl_rng_free(random);
    }
    print_message("# %u of %u values were tried on grids of more than 200\n", tried, many);
    assert_true(uneven > ROUNDS / 2);
    assert_true(4 * tried < many);
}

/* Neighbours of a list of words have nothing in common: brute force alone knows. */
static void what_has_no_order_is_tried_whole(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        grid.unordered = true;
        draw_shortfalls(random, &grid);
        struct search search = run(&grid);
        check_found(&grid, &search);
        assert_true(search_found(&search) != SEARCH_NONE ||
                    search.shortfall[search_nearest(&search)] == least_miss(&grid) ||
                    isinf(least_miss(&grid)));
        search_release(&search);
        gsl_rng_free(random);
    }
}

/* Loads that pass up to some, but for a few that do not, and few above it that do: of what was
 * tried all up to the one found pass, the next does not, and where none misses by chance it is the
 * last. */
static void a_load_holds_up_to_what_is_found(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        uint32_t holds = below(random, grid.count), noise = seed % 2 == 0 ? 0 : 10;
        grid.load = true;
        for (uint32_t i = 0; i < grid.count; i++) {
            bool chance = below(random, 100) < noise && i + 1 < grid.count;
            grid.shortfall[i] = (i >= holds) != chance ? 0 : 0.01 * (1 + grid.count - i);
        }
        struct search search = run(&grid);
        uint32_t found = search_found(&search);
        assert_true(found < grid.count && (noise > 0 || found == holds));
        for (uint32_t i = found; i < grid.count; i++) {
            assert_false(is_tried_and_fails(&search, i));
            assert_true(i - found > NEIGHBOURS || search.shortfall[i] == 0);
        }
        assert_true(found == 0 || is_tried_and_fails(&search, found - 1));
        search_release(&search);
        gsl_rng_free(random);
    }
}

/* From any guess the load that holds is found, up to what may be left open; if none does, the lowest
 * was tried. */
static void a_guess_finds_what_holds(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        uint32_t holds = below(random, grid.count + grid.count / 4 + 1);
        grid.load = grid.near = true;
        grid.guess = below(random, grid.count);
        grid.reach = 1 + below(random, 10);
        grid.close = 1 + below(random, 4);
        for (uint32_t i = 0; i < grid.count; i++) {
            grid.shortfall[i] = i >= holds ? 0 : 0.01 * (holds - i);
        }
        struct search search = run(&grid);
        uint32_t found = search_found(&search), fails = found;
        assert_true((found == SEARCH_NONE) == (holds >= grid.count));
        assert_true(found != SEARCH_NONE || is_tried_and_fails(&search, grid.count - 1));
        while (found != SEARCH_NONE && fails > 0 && !is_tried_and_fails(&search, fails)) {
            fails--;
        }
        if (found != SEARCH_NONE && found > 0 &&
            (found - fails > grid.close || !is_tried_and_fails(&search, fails))) {
            fail_msg("seed %u: %u was found, and %u is the next that fails", seed, found, fails);
        }
        search_release(&search);
        gsl_rng_free(random);
    }
}

/* A load that passes above one that does not is no answer, and what is impossible ends at once. */
static void a_guess_goes_down_from_what_fails(void **state)
{
    struct grid grid = {.count = 100,
                        .a_round = 2,
                        .load = true,
                        .near = true,
                        .guess = 50,
                        .reach = 6,
                        .close = 1};
    (void)state;
    for (uint32_t i = 0; i < grid.count; i++) {
        grid.shortfall[i] = i >= 70 || i == 44 ? 0 : 0.5;
    }
    struct search search = run(&grid);
    assert_int_equal(search_found(&search), 70);
    search_release(&search);
    for (uint32_t i = 0; i < grid.count; i++) {
        grid.shortfall[i] = INFINITY;
    }
    search = run(&grid);
    assert_int_equal(search_found(&search), SEARCH_NONE);
    assert_int_equal(search.tried, 2);
    search_release(&search);
}

static void where_nothing_can_be_few_are_tried(void **state)
{
    struct grid grid = {.count = 250, .a_round = 9};
    (void)state;
    for (uint32_t i = 0; i < grid.count; i++) {
        grid.shortfall[i] = i == 31 ? 0.5 : INFINITY; /* 249 / 8: of the first nine */
    }
    struct search search = run(&grid);
    assert_int_equal(search_nearest(&search), 31);
    search_release(&search);
    grid.shortfall[31] = INFINITY;
    search = run(&grid);
    assert_int_equal(search_nearest(&search), SEARCH_NONE);
    assert_int_equal(search.tried, GRID + 1);
    check_spread(&grid, &search, grid.count);
    search_release(&search);
}

static void what_is_the_same_everywhere_is_seen_at_once(void **state)
{
    struct grid grid = {.count = 250, .a_round = 9};
    (void)state;
    for (uint32_t i = 0; i < grid.count; i++) {
        grid.shortfall[i] = 0.5;
    }
    struct search search = run(&grid);
    assert_int_equal(search.tried, 9);
    assert_true(search_is_flat(&search));
    assert_int_equal(search_nearest(&search), 0);
    search.load = true; /* what the lowest load misses is met by none */
    assert_int_equal(search_nearest(&search), grid.count - 1);
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
        assert_int_equal(search.uneven, i);
        search_release(&search);
    }
}

/* ---- peaks ---- */

/* As run(), for a merit as well. */
static struct search run_peak(const struct grid *grid, const double *merit)
{
    struct search search;
    struct error why;
    uint32_t values[MOST], count;
    assert_true(search_init(&search, grid->count, &why) && search_for_peak(&search, &why));
    search.unordered = grid->unordered;
    while ((count = search_next(&search, grid->a_round, values)) > 0) {
        assert_true(count <= grid->a_round);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(values[i] < grid->count && isnan(search.shortfall[values[i]]));
            search_put_merit(&search, values[i], grid->shortfall[values[i]], merit[values[i]]);
        }
    }
    return search;
}

/* Of the values that pass, which brute force knows, the one with the most merit. */
static uint32_t most_merit(const struct grid *grid, const double *merit)
{
    uint32_t best = SEARCH_NONE;
    for (uint32_t i = 0; i < grid->count; i++) {
        if (grid->shortfall[i] == 0 && (best == SEARCH_NONE || merit[i] > merit[best])) {
            best = i;
        }
    }
    return best;
}

/* A merit that rises and falls, and a limit from somewhere on, as a batch has: the peak is inside,
 * or at the limit. */
static void a_peak_under_a_limit_is_found(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct grid grid = draw_grid(random, seed);
        uint32_t peak = below(random, grid.count), limit = 1 + below(random, grid.count);
        double merit[MOST];
        for (uint32_t i = 0; i < grid.count; i++) {
            merit[i] = 1 / (1 + fabs((double)i - peak));
            grid.shortfall[i] = i < limit ? 0 : 0.01 * (1 + i - limit);
        }
        struct search search = run_peak(&grid, merit);
        uint32_t best = most_merit(&grid, merit);
        if (merit[search_found(&search)] < (1 - SEARCH_AS_GOOD) * merit[best]) {
            fail_msg("seed %u: %u is found, not %u", seed, search_found(&search),
                     most_merit(&grid, merit));
        }
        search_release(&search);
        gsl_rng_free(random);
    }
}

/* 256 batches of almost the same rate: the first round says it all. */
static void a_flat_top_is_not_searched(void **state)
{
    struct grid grid = {.count = 256, .a_round = 9};
    double merit[MOST];
    (void)state;
    for (uint32_t i = 0; i < grid.count; i++) {
        merit[i] = 1000 + (i % 7);
    }
    struct search search = run_peak(&grid, merit);
    assert_int_equal(search.tried, 9);
    search_release(&search);
}

static void without_an_order_every_value_is_tried_for_a_peak(void **state)
{
    struct grid grid = {.count = 7, .a_round = 3, .unordered = true};
    const double merit[] = {3, 1, 4, 1, 5, 9, 2};
    (void)state;
    grid.shortfall[5] = 0.1; /* the highest does not pass */
    struct search search = run_peak(&grid, merit);
    assert_int_equal(search_found(&search), 4);
    assert_int_equal(search.tried, 7);
    search_release(&search);
}

static void where_nothing_passes_a_peak_is_none(void **state)
{
    struct grid grid = {.count = 100, .a_round = 9};
    double merit[MOST] = {0};
    (void)state;
    for (uint32_t i = 0; i < grid.count; i++) {
        grid.shortfall[i] = 1 + 0.01 * fabs((double)i - 40);
    }
    struct search search = run_peak(&grid, merit);
    assert_int_equal(search_found(&search), SEARCH_NONE);
    assert_int_equal(search_nearest(&search), 40);
    search_release(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortfalls_that_shrink_are_cut_in_sections),
        cmocka_unit_test(a_valley_that_stays_above_is_closed_in_on),
        cmocka_unit_test(what_passes_at_the_bottom_of_a_valley_is_found),
        cmocka_unit_test(what_is_not_steady_is_tried_evenly),
        cmocka_unit_test(what_has_no_order_is_tried_whole),
        cmocka_unit_test(a_load_holds_up_to_what_is_found),
        cmocka_unit_test(a_guess_finds_what_holds),
        cmocka_unit_test(a_guess_goes_down_from_what_fails),
        cmocka_unit_test(where_nothing_can_be_few_are_tried),
        cmocka_unit_test(what_is_the_same_everywhere_is_seen_at_once),
        cmocka_unit_test(three_rounds_are_enough_for_an_axis),
        cmocka_unit_test(what_is_about_equal_is_steady),
        cmocka_unit_test(a_peak_under_a_limit_is_found),
        cmocka_unit_test(a_flat_top_is_not_searched),
        cmocka_unit_test(without_an_order_every_value_is_tried_for_a_peak),
        cmocka_unit_test(where_nothing_passes_a_peak_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
