#include "study/plan/grid_near.h"

/* The two best values tried (`best` false: the two worst), `*second` the inner one. Equal if only
 * one was tried. */
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

/* From the end of what was tried towards the end of the grid, twice as far as the last time. */
static uint32_t stride(const struct grid *grid, bool up, uint32_t *values)
{
    uint32_t at = 0, before = 0, limit = up ? 0 : grid->count - 1;
    ends(grid, up, &at, &before);
    uint32_t width = up ? before - at : at - before, room = up ? at : limit - at;
    uint32_t step = 2 * width > grid->reach ? 2 * width : grid->reach;
    step = step < room ? step : room;
    values[0] = up ? at - step : at + step;
    return room > 0 ? 1 : 0;
}

/* The guess, and a value a reach better: probably one passes and the other does not. The last value
 * is tried alone: if it fails, so do all. */
static uint32_t grid_near_begin(const struct grid *grid, uint32_t *values)
{
    uint32_t guess = grid->guess, reach = grid->reach;
    if (guess == 0 || guess + 1 == grid->count) {
        values[0] = guess;
        return 1;
    }
    values[0] = guess > reach ? guess - reach : 0;
    values[1] = guess;
    return 2;
}

static uint32_t grid_near_cut(const struct grid *grid, uint32_t fails, uint32_t passes,
                              uint32_t most, uint32_t *values)
{
    uint32_t between = passes - fails - 1, count = between < most ? between : most;
    if (passes - fails <= grid->close) {
        return 0;
    }
    for (uint32_t i = 1; i <= count; i++) {
        values[i - 1] = fails + (between + 1) * i / (count + 1);
    }
    return count;
}

uint32_t grid_next_near(const struct grid *grid, uint32_t most, uint32_t *values)
{
    uint32_t found = grid_holds(grid), fails = found;
    if (grid->tried == 0) {
        return grid_near_begin(grid, values);
    }
    if (found == GRID_NONE) {
        bool cannot = grid_nearest(grid) == GRID_NONE;
        return cannot || grid->violation[grid->count - 1] > 0 ? 0 : stride(grid, false, values);
    }
    while (fails > 0 && !grid_tried(grid, --fails)) {
    }
    return found == 0 ? 0
           : grid_tried(grid, fails) && fails != found
               ? grid_near_cut(grid, fails, found, most, values)
               : stride(grid, true, values);
}
