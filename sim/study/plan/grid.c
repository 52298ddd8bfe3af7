/* A round follows from the tried values alone. The only other state is `uneven`: it stays set once
 * tries have contradicted the assumption. */

#include "study/plan/grid.h"

#include <math.h>
#include <stdlib.h>

#include "core/array.h"

enum {
    GRID = 32,      /* sections of the even grid; the grid of 9 tries is part of it */
    SAME = 9,       /* tries that suffice to see that all fall short equally */
    NEIGHBOURS = 4, /* neighbours checked: about 10 % of a rate, whose usual range spans 512x */
};

bool grid_init(struct grid *grid, uint32_t count, struct error *why)
{
    *grid = (struct grid){.guess = GRID_NONE};
    grid->violation = array_zeroed(count, sizeof *grid->violation, why);
    grid->count = grid->violation != NULL ? count : 0; /* else there is nothing to read */
    for (uint32_t i = 0; i < grid->count; i++) {
        grid->violation[i] = NAN;
    }
    return grid->violation != NULL;
}

bool grid_for_peak(struct grid *grid, struct error *why)
{
    grid->merit = array_zeroed(grid->count, sizeof *grid->merit, why);
    return grid->merit != NULL;
}

void grid_near(struct grid *grid, uint32_t guess, uint32_t reach, uint32_t close)
{
    grid->load = true;
    grid->guess = guess;
    grid->reach = reach;
    grid->close = close;
}

void grid_release(struct grid *grid)
{
    free(grid->violation);
    free(grid->merit);
    *grid = (struct grid){.count = 0};
}

void grid_put(struct grid *grid, uint32_t value, double violation)
{
    grid->tried += isnan(grid->violation[value]) ? 1 : 0;
    grid->violation[value] = violation;
}

void grid_put_merit(struct grid *grid, uint32_t value, double violation, double merit)
{
    grid->merit[value] = merit;
    grid_put(grid, value, violation);
}

bool grid_tried(const struct grid *grid, uint32_t value)
{
    return !isnan(grid->violation[value]);
}

/* The value from which all tried values to the end pass; GRID_NONE if the last tried does not. */
static uint32_t grid_holds(const struct grid *grid)
{
    uint32_t last = GRID_NONE;
    for (uint32_t i = grid->count; i-- > 0 && !(grid->violation[i] > 0);) {
        last = grid_tried(grid, i) ? i : last;
    }
    return last;
}

/* The value with the most merit among those that pass; of equals, and without merits, the first. */
static uint32_t best_that_passes(const struct grid *grid)
{
    uint32_t best = GRID_NONE;
    for (uint32_t i = 0; i < grid->count; i++) {
        bool better =
            best == GRID_NONE || (grid->merit != NULL && grid->merit[i] > grid->merit[best]);
        best = grid->violation[i] == 0 && better ? i : best;
    }
    return best;
}

uint32_t grid_found(const struct grid *grid)
{
    uint32_t holds = grid->load && grid->merit == NULL ? grid_holds(grid) : GRID_NONE;
    return holds != GRID_NONE ? holds : best_that_passes(grid);
}

uint32_t grid_nearest(const struct grid *grid)
{
    uint32_t nearest = GRID_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < grid->count; i++) {
        double violation = grid->violation[i];
        if (grid_tried(grid, i) &&
            (violation < least || (grid->load && violation == least && !isinf(least)))) {
            least = violation;
            nearest = i;
        }
    }
    return nearest;
}

/* ---- the shape that the tries show ---- */

static bool grid_is_less(double a, double b)
{
    return isinf(b) ? !isinf(a) : a < b - GRID_EQUAL;
}

/* Do violations shrink up to `low` and grow after it? */
static bool is_valley(const struct grid *grid, uint32_t low, uint32_t end)
{
    double last = NAN;
    for (uint32_t i = 0; i < end; i++) {
        double violation = grid->violation[i];
        if (isnan(violation)) {
            continue;
        }
        if (!isnan(last) &&
            (i <= low ? grid_is_less(last, violation) : grid_is_less(violation, last))) {
            return false;
        }
        last = violation;
    }
    return true;
}

static uint32_t tried_before(const struct grid *grid, uint32_t value)
{
    while (value > 0 && !grid_tried(grid, --value)) {
    }
    return value;
}

static uint32_t tried_behind(const struct grid *grid, uint32_t value)
{
    while (value + 1 < grid->count && !grid_tried(grid, ++value)) {
    }
    return value;
}

/* ---- rounds ---- */

/* Append up to `most` values spread evenly between `from` and `to`, both excluded. */
static uint32_t grid_cut(uint32_t from, uint32_t to, uint32_t most, uint32_t *values, uint32_t used)
{
    uint32_t between = to > from ? to - from - 1 : 0;
    uint32_t count = between < most ? between : most;
    for (uint32_t i = 1; i <= count; i++) {
        values[used++] = from + (uint32_t)((uint64_t)(between + 1) * i / (count + 1));
    }
    return used;
}

static uint32_t grid_begin(const struct grid *grid, uint32_t most, uint32_t *values)
{
    values[0] = 0;
    if (grid->count == 1) {
        return 1;
    }
    uint32_t used = grid_cut(0, grid->count - 1, most - 2, values, 1);
    values[used] = grid->count - 1;
    return used + 1;
}

/* The untried values in [from, end). */
static uint32_t scan(const struct grid *grid, uint32_t from, uint32_t end, uint32_t most,
                     uint32_t *values)
{
    uint32_t used = 0;
    for (uint32_t i = from; i < end && i < grid->count && used < most; i++) {
        if (!grid_tried(grid, i)) {
            values[used++] = i;
        }
    }
    return used;
}

static uint32_t close_in(const struct grid *grid, uint32_t nearest, uint32_t most, uint32_t *values)
{
    uint32_t half = most / 2;
    uint32_t used = grid_cut(tried_before(grid, nearest), nearest, half, values, 0);
    return grid_cut(nearest, tried_behind(grid, nearest), half, values, used);
}

/* The untried values of an even grid over all values, before `end`. */
static uint32_t spread(const struct grid *grid, uint32_t end, uint32_t most, uint32_t *values)
{
    uint32_t used = 0, last = GRID_NONE;
    for (uint32_t i = 0; i <= GRID && used < most; i++) {
        uint32_t value = (uint32_t)((uint64_t)(grid->count - 1) * i / GRID);
        if (value < end && value != last && !grid_tried(grid, value)) {
            values[used++] = value;
        }
        last = value;
    }
    return used;
}

bool grid_is_flat(const struct grid *grid)
{
    double least = INFINITY, largest = 0;
    for (uint32_t i = 0; i < grid->count; i++) {
        least = grid_tried(grid, i) ? fmin(least, grid->violation[i]) : least;
        largest = grid_tried(grid, i) ? fmax(largest, grid->violation[i]) : largest;
    }
    return grid->tried >= SAME && largest - least <= GRID_EQUAL;
}

static uint32_t go_on_without(const struct grid *grid, uint32_t most, uint32_t *values)
{
    uint32_t nearest = grid_nearest(grid);
    return nearest == GRID_NONE || grid_is_flat(grid) ? 0 : close_in(grid, nearest, most, values);
}

static uint32_t go_on_from(const struct grid *grid, uint32_t found, uint32_t most, uint32_t *values)
{
    uint32_t used = grid_cut(tried_before(grid, found), found, most, values, 0);
    /* Untried neighbours of the value found: of a load lower ones, which must pass too; else better values. */
    uint32_t from = grid->load ? found + 1 : found > NEIGHBOURS ? found - NEIGHBOURS : 0;
    return used > 0 || !(grid->load || grid->uneven)
               ? used
               : scan(grid, from, grid->load ? from + NEIGHBOURS : found, most, values);
}

/* Does the value pass with about the merit of the best? */
static bool is_as_good(const struct grid *grid, uint32_t value, uint32_t best)
{
    double most = grid->merit[best];
    return grid->violation[value] == 0 && most - grid->merit[value] <= GRID_AS_GOOD * fabs(most);
}

/* Are the tried values on both sides of the best as good? At an end, the next two on the one side:
 * a peak might hide between two that are equal. */
static bool is_level(const struct grid *grid, uint32_t best)
{
    uint32_t before = tried_before(grid, best), behind = tried_behind(grid, best);
    uint32_t left = before != best ? before : tried_behind(grid, behind);
    uint32_t right = behind != best ? behind : tried_before(grid, before);
    return grid->tried >= SAME && is_as_good(grid, left, best) && is_as_good(grid, right, best);
}

/* Close in on the best value that passes; if none does, on the least violation. */
static uint32_t climb(const struct grid *grid, uint32_t most, uint32_t *values)
{
    uint32_t best = grid_found(grid);
    if (grid->unordered) {
        return scan(grid, 0, grid->count, most, values);
    }
    if (best == GRID_NONE) {
        return go_on_without(grid, most, values);
    }
    return is_level(grid, best) ? 0 : close_in(grid, best, most, values);
}

/* ---- a load, near a guess ----
 *
 * The answer is bracketed between a value that passes and a better one that does not: outwards from
 * the guess in strides that double, then by cutting the gap. The search ends when the bracket is at
 * most `close` values wide, or at an end of the grid: so the last value, the lowest load, is tried
 * before the search finds nothing. If the first round is impossible, no load changes that. */

/* The two best values tried (`best` false: the worst), `*second` the inner one. Equal if one was tried. */
static void ends(const struct grid *grid, bool best, uint32_t *first, uint32_t *second)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < grid->count && seen < 2; i++) {
        uint32_t value = best ? i : grid->count - 1 - i;
        if (grid_tried(grid, value)) {
            *first = seen == 0 ? value : *first;
            *second = value;
            seen++;
        }
    }
}

/* From the end of what was tried towards the end of the grid, twice as far as the last time. Below the guess,
 * which was tried alone, as far as if a value a reach better had missed before it. */
static uint32_t stride(const struct grid *grid, bool up, uint32_t *values)
{
    uint32_t at = 0, before = 0, limit = up ? 0 : grid->count - 1;
    ends(grid, up, &at, &before);
    uint32_t width = up ? before - at : at - before, room = up ? at : limit - at;
    width = grid->tried == 1 && !up ? grid->reach : width;
    uint32_t step = 2 * width > grid->reach ? 2 * width : grid->reach;
    step = step < room ? step : room;
    values[0] = up ? at - step : at + step;
    return room > 0 ? 1 : 0;
}

static uint32_t grid_next_near(const struct grid *grid, uint32_t most, uint32_t *values)
{
    uint32_t found = grid_holds(grid);
    if (grid->tried == 0) {
        values[0] = grid->guess;
        return 1;
    }
    if (found == GRID_NONE) {
        bool cannot = grid_nearest(grid) == GRID_NONE;
        if (cannot && !grid_tried(grid, 0)) { /* whose reason is shown */
            values[0] = 0;
            return 1;
        }
        return cannot || grid->violation[grid->count - 1] > 0 ? 0 : stride(grid, false, values);
    }
    uint32_t fails = tried_before(grid, found), close = grid->close > 0 ? grid->close : 1;
    if (found == 0 || fails == found || !grid_tried(grid, fails)) {
        return found == 0 ? 0 : stride(grid, true, values);
    }
    uint32_t enough = (found - fails - 1 + close) / close - 1;
    return grid_cut(fails, found, enough < most ? enough : most, values, 0);
}

uint32_t grid_next(struct grid *grid, uint32_t most, uint32_t *values)
{
    if (grid->guess != GRID_NONE) {
        return grid_next_near(grid, most, values);
    }
    if (grid->tried == 0) {
        return grid_begin(grid, most, values);
    }
    if (grid->merit != NULL) {
        return climb(grid, most, values);
    }
    uint32_t found = grid_found(grid), nearest = grid_nearest(grid), used = 0;
    uint32_t end = found != GRID_NONE ? found : grid->count;
    bool holds =
        grid->load && grid_tried(grid, grid->count - 1) && grid->violation[grid->count - 1] == 0;
    grid->uneven = grid->uneven || nearest == GRID_NONE || !is_valley(grid, nearest, end);
    if (grid->unordered) {
        return scan(grid, 0, end, most, values);
    }
    if (grid->uneven && !holds) {
        used = spread(grid, end, most, values);
    }
    return used > 0             ? used
           : found != GRID_NONE ? go_on_from(grid, found, most, values)
                                : go_on_without(grid, most, values);
}
