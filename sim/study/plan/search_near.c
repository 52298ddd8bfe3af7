#include "study/plan/search_near.h"

/* The two best values tried (`best` false: the two worst), `*second` the inner one. Equal if only
 * one was tried. */
static void ends(const struct search *search, bool best, uint32_t *first, uint32_t *second)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < search->count && seen < 2; i++) {
        uint32_t value = best ? i : search->count - 1 - i;
        if (search_tried(search, value)) {
            *first = seen == 0 ? value : *first;
            *second = value;
            seen++;
        }
    }
}

/* From the end of what was tried towards the end of the grid, twice as far as the last time. */
static uint32_t stride(const struct search *search, bool up, uint32_t *values)
{
    uint32_t at = 0, before = 0, limit = up ? 0 : search->count - 1;
    ends(search, up, &at, &before);
    uint32_t width = up ? before - at : at - before, room = up ? at : limit - at;
    uint32_t step = 2 * width > search->reach ? 2 * width : search->reach;
    step = step < room ? step : room;
    values[0] = up ? at - step : at + step;
    return room > 0 ? 1 : 0;
}

/* The guess, and a value a reach better: probably one passes and the other does not. The last value
 * is tried alone: if it fails, so do all. */
static uint32_t search_near_begin(const struct search *search, uint32_t *values)
{
    uint32_t guess = search->guess, reach = search->reach;
    if (guess == 0 || guess + 1 == search->count) {
        values[0] = guess;
        return 1;
    }
    values[0] = guess > reach ? guess - reach : 0;
    values[1] = guess;
    return 2;
}

static uint32_t search_near_cut(const struct search *search, uint32_t fails, uint32_t passes,
                                uint32_t most, uint32_t *values)
{
    uint32_t between = passes - fails - 1, count = between < most ? between : most;
    if (passes - fails <= search->close) {
        return 0;
    }
    for (uint32_t i = 1; i <= count; i++) {
        values[i - 1] = fails + (between + 1) * i / (count + 1);
    }
    return count;
}

uint32_t search_next_near(const struct search *search, uint32_t most, uint32_t *values)
{
    uint32_t found = search_holds(search), fails = found;
    if (search->tried == 0) {
        return search_near_begin(search, values);
    }
    if (found == SEARCH_NONE) {
        bool cannot = search_nearest(search) == SEARCH_NONE;
        return cannot || search->shortfall[search->count - 1] > 0 ? 0
                                                                  : stride(search, false, values);
    }
    while (fails > 0 && !search_tried(search, --fails)) {
    }
    return found == 0 ? 0
           : search_tried(search, fails) && fails != found
               ? search_near_cut(search, fails, found, most, values)
               : stride(search, true, values);
}
