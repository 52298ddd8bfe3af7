/* The search on functions whose answer brute force knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "study/plan/grid.h"

#include <math.h>

enum { MOST = 300, ROUNDS = 2000 };

/* A function on a grid of values, and how it is to be searched. */
struct function {
    double violation[MOST];
    uint32_t count, a_round;
    uint32_t seed;
    bool load, unordered;
    bool near; /* begin at `guess` */
    uint32_t guess, reach, close;
};

/* As the search says of itself: sections of its even grid, and neighbours that it looks at. */
enum { GRID = 32, NEIGHBOURS = 4 };

static struct grid run(const struct function *function)
{
    struct grid grid;
    struct error why;
    uint32_t values[MOST], count;
    assert_true(grid_init(&grid, function->count, &why));
    grid.load = function->load;
    grid.unordered = function->unordered;
    if (function->near) {
        grid_near(&grid, function->guess, function->reach, function->close);
    }
    while ((count = grid_next(&grid, function->a_round, values)) > 0) {
        assert_true(count <= function->a_round);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(values[i] < function->count && isnan(grid.violation[values[i]]));
            assert_true(i == 0 || values[i] > values[i - 1]);
            grid_put(&grid, values[i], function->violation[values[i]]);
        }
    }
    return grid;
}

static uint32_t first_that_passes(const struct function *function)
{
    for (uint32_t i = 0; i < function->count; i++) {
        if (function->violation[i] == 0) {
            return i;
        }
    }
    return GRID_NONE;
}

/* The value before what was found was tried and does not pass: that is the proof that it is the
 * least. */
static void check_found(const struct function *function, const struct grid *grid)
{
    uint32_t found = grid_found(grid);
    if (found != first_that_passes(function)) {
        fail_msg("seed %u: found %u, not %u", function->seed, found, first_that_passes(function));
    }
    if (found != GRID_NONE && found > 0 && !(grid->violation[found - 1] > 0)) {
        fail_msg("seed %u: %u was found, and %u not tried", function->seed, found, found - 1);
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

static struct function draw_function(gsl_rng *random, uint32_t seed)
{
    return (struct function){
        .count = 1 + below(random, MOST), .a_round = 2 + below(random, 9), .seed = seed};
}

/* Falling in steps larger than what is taken as equal, to 0 at a place that may be behind the end;
 * what does not fit, before it. */
static void violations_that_shrink_are_cut_in_sections(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct function function = draw_function(random, seed);
        uint32_t zero = below(random, function.count + function.count / 4 + 1);
        uint32_t fits = below(random, function.count / 2 + 1);
        for (uint32_t i = 0; i < function.count; i++) {
            function.violation[i] = i >= zero ? 0 : i < fits ? INFINITY : 0.01 * (zero - i);
        }
        struct grid grid = run(&function);
        check_found(&function, &grid);
        if (grid.uneven && zero < function.count) {
            fail_msg("seed %u: violations that shrink are uneven to it", seed);
        }
        grid_release(&grid);
        gsl_rng_free(random);
    }
}

/* Down to somewhere above 0, and up again: nothing passes, and the lowest is nearest. */
static void a_valley_that_stays_above_is_closed_in_on(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct function function = draw_function(random, seed);
        uint32_t low = below(random, function.count);
        for (uint32_t i = 0; i < function.count; i++) {
            function.violation[i] = 0.5 + 0.01 * fabs((double)i - low);
        }
        struct grid grid = run(&function);
        assert_int_equal(grid_found(&grid), GRID_NONE);
        if (grid_nearest(&grid) != low) {
            fail_msg("seed %u: %u is nearest, not %u", seed, grid_nearest(&grid), low);
        }
        if (grid.uneven) {
            fail_msg("seed %u: a valley is uneven to it", seed);
        }
        grid_release(&grid);
        gsl_rng_free(random);
    }
}

/* A few values pass in the middle: too few to be hit by chance, but all points to them. */
static void what_passes_at_the_bottom_of_a_valley_is_found(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct function function = draw_function(random, seed);
        uint32_t low = below(random, function.count);
        uint32_t wide = below(random, 4);
        for (uint32_t i = 0; i < function.count; i++) {
            double far = fabs((double)i - low) - wide;
            function.violation[i] = far > 0 ? 0.01 * far : 0;
        }
        struct grid grid = run(&function);
        check_found(&function, &grid);
        grid_release(&grid);
        gsl_rng_free(random);
    }
}

static double least_miss(const struct function *function)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < function->count; i++) {
        least = fmin(least, function->violation[i]);
    }
    return least;
}

/* Of 100 values one cannot be and, of every other function, one passes. */
static void draw_violations(gsl_rng *random, struct function *function)
{
    bool passes = below(random, 2) == 0;
    for (uint32_t i = 0; i < function->count; i++) {
        uint32_t drawn = below(random, 100);
        function->violation[i] = drawn == 0 ? INFINITY : drawn == 1 && passes ? 0 : 0.01 * drawn;
    }
}

/* Before `end` no gap between tried values is wider than a section of the even function. */
static void check_spread(const struct function *function, const struct grid *grid, uint32_t end)
{
    uint32_t last = 0, widest = (function->count - 1 + GRID - 1) / GRID;
    for (uint32_t i = 0; i < end; i++) {
        last = isnan(grid->violation[i]) ? last : i;
        if (i - last >= widest && widest > 0) {
            fail_msg("seed %u: nothing was tried from %u to %u", function->seed, last, i);
        }
    }
}

static bool is_tried_and_fails(const struct grid *grid, uint32_t value)
{
    return grid->violation[value] > 0;
}

/* Values at random: what is found passes; it was looked for evenly, and its better neighbours were
 * tried and do not pass. Few of many are tried. */
static void what_is_not_steady_is_tried_evenly(void **state)
{
    uint32_t uneven = 0, tried = 0, many = 0;
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct function function = draw_function(random, seed);
        draw_violations(random, &function);
        struct grid grid = run(&function);
        uint32_t found = grid_found(&grid), end = found != GRID_NONE ? found : function.count;
        if (grid.uneven) {
            check_spread(&function, &grid, end);
        }
        for (uint32_t i = 1; grid.uneven && found != GRID_NONE && i <= NEIGHBOURS; i++) {
            assert_true(i > found || is_tried_and_fails(&grid, found - i));
        }
        assert_true(found == GRID_NONE || grid.violation[found] == 0);
        tried += function.count > 200 ? grid.tried : 0;
        many += function.count > 200 ? function.count : 0;
        uneven += grid.uneven;
        grid_release(&grid);
        gsl_rng_free(random);
    }
    print_message("# %u of %u values were tried on functions of more than 200\n", tried, many);
    assert_true(uneven > ROUNDS / 2);
    assert_true(4 * tried < many);
}

/* Neighbours of a list of words have nothing in common: brute force alone knows. */
static void what_has_no_order_is_tried_whole(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct function function = draw_function(random, seed);
        function.unordered = true;
        draw_violations(random, &function);
        struct grid grid = run(&function);
        check_found(&function, &grid);
        assert_true(grid_found(&grid) != GRID_NONE ||
                    grid.violation[grid_nearest(&grid)] == least_miss(&function) ||
                    isinf(least_miss(&function)));
        grid_release(&grid);
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
        struct function function = draw_function(random, seed);
        uint32_t holds = below(random, function.count), noise = seed % 2 == 0 ? 0 : 10;
        function.load = true;
        for (uint32_t i = 0; i < function.count; i++) {
            bool chance = below(random, 100) < noise && i + 1 < function.count;
            function.violation[i] = (i >= holds) != chance ? 0 : 0.01 * (1 + function.count - i);
        }
        struct grid grid = run(&function);
        uint32_t found = grid_found(&grid);
        assert_true(found < function.count && (noise > 0 || found == holds));
        for (uint32_t i = found; i < function.count; i++) {
            assert_false(is_tried_and_fails(&grid, i));
            assert_true(i - found > NEIGHBOURS || grid.violation[i] == 0);
        }
        assert_true(found == 0 || is_tried_and_fails(&grid, found - 1));
        grid_release(&grid);
        gsl_rng_free(random);
    }
}

/* From any guess the load that holds is found, up to what may be left open; if none does, the
 * lowest was tried. */
static void a_guess_finds_what_holds(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        gsl_rng *random = draw_from(seed);
        struct function function = draw_function(random, seed);
        uint32_t holds = below(random, function.count + function.count / 4 + 1);
        function.load = function.near = true;
        function.guess = below(random, function.count);
        function.reach = 1 + below(random, 10);
        function.close = 1 + below(random, 4);
        for (uint32_t i = 0; i < function.count; i++) {
            function.violation[i] = i >= holds ? 0 : 0.01 * (holds - i);
        }
        struct grid grid = run(&function);
        uint32_t found = grid_found(&grid), fails = found;
        assert_true((found == GRID_NONE) == (holds >= function.count));
        assert_true(found != GRID_NONE || is_tried_and_fails(&grid, function.count - 1));
        while (found != GRID_NONE && fails > 0 && !is_tried_and_fails(&grid, fails)) {
            fails--;
        }
        if (found != GRID_NONE && found > 0 &&
            (found - fails > function.close || !is_tried_and_fails(&grid, fails))) {
            fail_msg("seed %u: %u was found, and %u is the next that fails", seed, found, fails);
        }
        grid_release(&grid);
        gsl_rng_free(random);
    }
}

/* A load that passes above one that does not is no answer, and what is impossible ends at once. */
static void a_guess_goes_down_from_what_fails(void **state)
{
    struct function function = {.count = 100,
                                .a_round = 2,
                                .load = true,
                                .near = true,
                                .guess = 50,
                                .reach = 6,
                                .close = 1};
    (void)state;
    for (uint32_t i = 0; i < function.count; i++) {
        function.violation[i] = i >= 70 || i == 44 ? 0 : 0.5;
    }
    struct grid grid = run(&function);
    assert_int_equal(grid_found(&grid), 70);
    assert_false(grid_tried(&grid, 44)); /* a better one would miss, too */
    grid_release(&grid);
    for (uint32_t i = 0; i < function.count; i++) {
        function.violation[i] = INFINITY;
    }
    grid = run(&function);
    assert_int_equal(grid_found(&grid), GRID_NONE);
    assert_int_equal(grid.tried, 2);
    grid_release(&grid);
}

static void where_nothing_can_be_few_are_tried(void **state)
{
    struct function function = {.count = 250, .a_round = 9};
    (void)state;
    for (uint32_t i = 0; i < function.count; i++) {
        function.violation[i] = i == 31 ? 0.5 : INFINITY; /* 249 / 8: of the first nine */
    }
    struct grid grid = run(&function);
    assert_int_equal(grid_nearest(&grid), 31);
    grid_release(&grid);
    function.violation[31] = INFINITY;
    grid = run(&function);
    assert_int_equal(grid_nearest(&grid), GRID_NONE);
    assert_int_equal(grid.tried, GRID + 1);
    check_spread(&function, &grid, function.count);
    grid_release(&grid);
}

static void what_is_the_same_everywhere_is_seen_at_once(void **state)
{
    struct function function = {.count = 250, .a_round = 9};
    (void)state;
    for (uint32_t i = 0; i < function.count; i++) {
        function.violation[i] = 0.5;
    }
    struct grid grid = run(&function);
    assert_int_equal(grid.tried, 9);
    assert_true(grid_is_flat(&grid));
    assert_int_equal(grid_nearest(&grid), 0);
    grid.load = true; /* what the lowest load misses is met by none */
    assert_int_equal(grid_nearest(&grid), function.count - 1);
    grid_release(&grid);
}

/* 256 values, 9 a round: sections of 32, of 4 or 3, and the rest. */
static void three_rounds_are_enough_for_an_axis(void **state)
{
    (void)state;
    for (uint32_t zero = 0; zero < 256; zero++) {
        struct function function = {.count = 256, .a_round = 9, .seed = zero};
        for (uint32_t i = 0; i < 256; i++) {
            function.violation[i] = i >= zero ? 0 : 0.01 * (zero - i);
        }
        struct grid grid = run(&function);
        check_found(&function, &grid);
        assert_true(grid.tried <= 9 + 9 + 3);
        grid_release(&grid);
    }
}

/* A violation that rises by less than counts as equal is steady; by more, it is not. */
static void what_is_about_equal_is_steady(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double rise = i == 0 ? GRID_EQUAL / 2 : 2 * GRID_EQUAL;
        struct function function = {
            .violation = {0.3, 0.2, 0.2 + rise, 0.1}, .count = 4, .a_round = 4};
        struct grid grid = run(&function);
        assert_int_equal(grid.uneven, i);
        grid_release(&grid);
    }
}

/* ---- peaks ---- */

/* As run(), for a merit as well. */
static struct grid run_peak(const struct function *function, const double *merit)
{
    struct grid grid;
    struct error why;
    uint32_t values[MOST], count;
    assert_true(grid_init(&grid, function->count, &why) && grid_for_peak(&grid, &why));
    grid.unordered = function->unordered;
    while ((count = grid_next(&grid, function->a_round, values)) > 0) {
        assert_true(count <= function->a_round);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(values[i] < function->count && isnan(grid.violation[values[i]]));
            grid_put_merit(&grid, values[i], function->violation[values[i]], merit[values[i]]);
        }
    }
    return grid;
}

/* Of the values that pass, which brute force knows, the one with the most merit. */
static uint32_t most_merit(const struct function *function, const double *merit)
{
    uint32_t best = GRID_NONE;
    for (uint32_t i = 0; i < function->count; i++) {
        if (function->violation[i] == 0 && (best == GRID_NONE || merit[i] > merit[best])) {
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
        struct function function = draw_function(random, seed);
        uint32_t peak = below(random, function.count), limit = 1 + below(random, function.count);
        double merit[MOST];
        for (uint32_t i = 0; i < function.count; i++) {
            merit[i] = 1 / (1 + fabs((double)i - peak));
            function.violation[i] = i < limit ? 0 : 0.01 * (1 + i - limit);
        }
        struct grid grid = run_peak(&function, merit);
        uint32_t best = most_merit(&function, merit);
        if (merit[grid_found(&grid)] < (1 - GRID_AS_GOOD) * merit[best]) {
            fail_msg("seed %u: %u is found, not %u", seed, grid_found(&grid),
                     most_merit(&function, merit));
        }
        grid_release(&grid);
        gsl_rng_free(random);
    }
}

/* 256 batches of almost the same rate: the first round says it all. */
static void a_flat_top_is_not_searched(void **state)
{
    struct function function = {.count = 256, .a_round = 9};
    double merit[MOST];
    (void)state;
    for (uint32_t i = 0; i < function.count; i++) {
        merit[i] = 1000 + (i % 7);
    }
    struct grid grid = run_peak(&function, merit);
    assert_int_equal(grid.tried, 9);
    grid_release(&grid);
}

static void without_an_order_every_value_is_tried_for_a_peak(void **state)
{
    struct function function = {.count = 7, .a_round = 3, .unordered = true};
    const double merit[] = {3, 1, 4, 1, 5, 9, 2};
    (void)state;
    function.violation[5] = 0.1; /* the highest does not pass */
    struct grid grid = run_peak(&function, merit);
    assert_int_equal(grid_found(&grid), 4);
    assert_int_equal(grid.tried, 7);
    grid_release(&grid);
}

static void where_nothing_passes_a_peak_is_none(void **state)
{
    struct function function = {.count = 100, .a_round = 9};
    double merit[MOST] = {0};
    (void)state;
    for (uint32_t i = 0; i < function.count; i++) {
        function.violation[i] = 1 + 0.01 * fabs((double)i - 40);
    }
    struct grid grid = run_peak(&function, merit);
    assert_int_equal(grid_found(&grid), GRID_NONE);
    assert_int_equal(grid_nearest(&grid), 40);
    grid_release(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(violations_that_shrink_are_cut_in_sections),
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
