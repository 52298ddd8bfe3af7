/* A round follows from the tried values alone. The only other state is `uneven`: it stays set once
 * tries have contradicted the assumption. */
#include "study/plan/search.h"

#include "base/array.h"
#include "study/plan/search_near.h"

#include <math.h>
#include <stdlib.h>

enum {
    GRID = 32,      /* sections of the even grid; the grid of 9 tries is part of it */
    SAME = 9,       /* tries that suffice to see that all fall short equally */
    NEIGHBOURS = 4, /* neighbours checked: about 10 % of a rate, whose usual range spans 512x */
};

bool search_init(struct search *search, uint32_t count, struct error *why)
{
    *search = (struct search){.guess = SEARCH_NONE};
    search->shortfall = array_zeroed(count, sizeof *search->shortfall, why);
    search->count = search->shortfall != NULL ? count : 0; /* else there is nothing to read */
    for (uint32_t i = 0; i < search->count; i++) {
        search->shortfall[i] = NAN;
    }
    return search->shortfall != NULL;
}

bool search_for_peak(struct search *search, struct error *why)
{
    search->merit = array_zeroed(search->count, sizeof *search->merit, why);
    return search->merit != NULL;
}

void search_near(struct search *search, uint32_t guess, uint32_t reach, uint32_t close)
{
    search->load = true;
    search->guess = guess;
    search->reach = reach;
    search->close = close;
}

void search_release(struct search *search)
{
    free(search->shortfall);
    free(search->merit);
    *search = (struct search){.count = 0};
}

void search_put(struct search *search, uint32_t value, double shortfall)
{
    search->tried += isnan(search->shortfall[value]) ? 1 : 0;
    search->shortfall[value] = shortfall;
}

void search_put_merit(struct search *search, uint32_t value, double shortfall, double merit)
{
    search->merit[value] = merit;
    search_put(search, value, shortfall);
}

bool search_tried(const struct search *search, uint32_t value)
{
    return !isnan(search->shortfall[value]);
}

static uint32_t first_that_passes(const struct search *search)
{
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->shortfall[i] == 0) {
            return i;
        }
    }
    return SEARCH_NONE;
}

uint32_t search_holds(const struct search *search)
{
    uint32_t last = SEARCH_NONE;
    for (uint32_t i = search->count; i-- > 0 && !(search->shortfall[i] > 0);) {
        last = search_tried(search, i) ? i : last;
    }
    return last;
}

/* The value with the most merit among those that pass, the first of equals. */
static uint32_t best_that_passes(const struct search *search)
{
    uint32_t best = SEARCH_NONE;
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->shortfall[i] == 0 &&
            (best == SEARCH_NONE || search->merit[i] > search->merit[best])) {
            best = i;
        }
    }
    return best;
}

uint32_t search_found(const struct search *search)
{
    if (search->merit != NULL) {
        return best_that_passes(search);
    }
    uint32_t holds = search->load ? search_holds(search) : SEARCH_NONE;
    return holds != SEARCH_NONE ? holds : first_that_passes(search);
}

uint32_t search_nearest(const struct search *search)
{
    uint32_t nearest = SEARCH_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < search->count; i++) {
        double shortfall = search->shortfall[i];
        if (search_tried(search, i) &&
            (shortfall < least || (search->load && shortfall == least && !isinf(least)))) {
            least = shortfall;
            nearest = i;
        }
    }
    return nearest;
}

/* ---- the shape that the tries show ---- */

static bool search_is_less(double a, double b)
{
    return isinf(b) ? !isinf(a) : a < b - SEARCH_EQUAL;
}

/* Do shortfalls shrink up to `low` and grow after it? */
static bool is_valley(const struct search *search, uint32_t low, uint32_t end)
{
    double last = NAN;
    for (uint32_t i = 0; i < end; i++) {
        double shortfall = search->shortfall[i];
        if (isnan(shortfall)) {
            continue;
        }
        if (!isnan(last) &&
            (i <= low ? search_is_less(last, shortfall) : search_is_less(shortfall, last))) {
            return false;
        }
        last = shortfall;
    }
    return true;
}

static uint32_t tried_before(const struct search *search, uint32_t value)
{
    while (value > 0 && !search_tried(search, --value)) {
    }
    return value;
}

static uint32_t tried_behind(const struct search *search, uint32_t value)
{
    while (value + 1 < search->count && !search_tried(search, ++value)) {
    }
    return value;
}

/* ---- rounds ---- */

/* Append up to `most` values spread evenly between `from` and `to`, both excluded. */
static uint32_t search_cut(uint32_t from, uint32_t to, uint32_t most, uint32_t *values,
                           uint32_t used)
{
    uint32_t between = to > from ? to - from - 1 : 0;
    uint32_t count = between < most ? between : most;
    for (uint32_t i = 1; i <= count; i++) {
        values[used++] = from + (uint32_t)((uint64_t)(between + 1) * i / (count + 1));
    }
    return used;
}

/* Both ends, and values spread evenly between them. */
static uint32_t search_begin(const struct search *search, uint32_t most, uint32_t *values)
{
    values[0] = 0;
    if (search->count == 1) {
        return 1;
    }
    uint32_t used = search_cut(0, search->count - 1, most - 2, values, 1);
    values[used] = search->count - 1;
    return used + 1;
}

static uint32_t scan(const struct search *search, uint32_t end, uint32_t most, uint32_t *values)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < end && used < most; i++) {
        if (!search_tried(search, i)) {
            values[used++] = i;
        }
    }
    return used;
}

/* Values on both sides of the one with the least shortfall. */
static uint32_t close_in(const struct search *search, uint32_t nearest, uint32_t most,
                         uint32_t *values)
{
    uint32_t half = most / 2;
    uint32_t used = search_cut(tried_before(search, nearest), nearest, half, values, 0);
    return search_cut(nearest, tried_behind(search, nearest), half, values, used);
}

/* The untried values of an even grid over all values, before `end`. */
static uint32_t spread(const struct search *search, uint32_t end, uint32_t most, uint32_t *values)
{
    uint32_t used = 0, last = SEARCH_NONE;
    for (uint32_t i = 0; i <= GRID && used < most; i++) {
        uint32_t value = (uint32_t)((uint64_t)(search->count - 1) * i / GRID);
        if (value < end && value != last && !search_tried(search, value)) {
            values[used++] = value;
        }
        last = value;
    }
    return used;
}

/* Untried neighbours of the value found: for a load the lower loads, because they must pass too;
 * otherwise the better values. */
static uint32_t look_beside(const struct search *search, uint32_t found, uint32_t most,
                            uint32_t *values)
{
    uint32_t from = search->load ? found + 1 : found > NEIGHBOURS ? found - NEIGHBOURS : 0;
    uint32_t to = search->load ? found + 1 + NEIGHBOURS : found, used = 0;
    for (uint32_t i = from; i < to && i < search->count && used < most; i++) {
        if (!search_tried(search, i)) {
            values[used++] = i;
        }
    }
    return used;
}

bool search_is_flat(const struct search *search)
{
    double least = INFINITY, largest = 0;
    for (uint32_t i = 0; i < search->count; i++) {
        least = search_tried(search, i) ? fmin(least, search->shortfall[i]) : least;
        largest = search_tried(search, i) ? fmax(largest, search->shortfall[i]) : largest;
    }
    return search->tried >= SAME && largest - least <= SEARCH_EQUAL;
}

static uint32_t go_on_without(const struct search *search, uint32_t most, uint32_t *values)
{
    uint32_t nearest = search_nearest(search);
    return nearest == SEARCH_NONE || search_is_flat(search)
               ? 0
               : close_in(search, nearest, most, values);
}

static uint32_t go_on_from(const struct search *search, uint32_t found, uint32_t most,
                           uint32_t *values)
{
    uint32_t used = search_cut(tried_before(search, found), found, most, values, 0);
    return used > 0 || !(search->load || search->uneven) ? used
                                                         : look_beside(search, found, most, values);
}

/* Does the value pass with about the merit of the best? */
static bool is_as_good(const struct search *search, uint32_t value, uint32_t best)
{
    double most = search->merit[best];
    return search->shortfall[value] == 0 &&
           most - search->merit[value] <= SEARCH_AS_GOOD * fabs(most);
}

/* Are the tried values on both sides of the best as good? At an end, the next two on the one side:
 * a peak might hide between two that are equal. */
static bool is_level(const struct search *search, uint32_t best)
{
    uint32_t before = tried_before(search, best), behind = tried_behind(search, best);
    uint32_t left = before != best ? before : tried_behind(search, behind);
    uint32_t right = behind != best ? behind : tried_before(search, before);
    return search->tried >= SAME && is_as_good(search, left, best) &&
           is_as_good(search, right, best);
}

/* Close in on the best value that passes; if none does, on the least shortfall. */
static uint32_t climb(const struct search *search, uint32_t most, uint32_t *values)
{
    uint32_t best = search_found(search);
    if (search->unordered) {
        return scan(search, search->count, most, values);
    }
    if (best == SEARCH_NONE) {
        return go_on_without(search, most, values);
    }
    return is_level(search, best) ? 0 : close_in(search, best, most, values);
}

uint32_t search_next(struct search *search, uint32_t most, uint32_t *values)
{
    if (search->guess != SEARCH_NONE) {
        return search_next_near(search, most, values);
    }
    if (search->tried == 0) {
        return search_begin(search, most, values);
    }
    if (search->merit != NULL) {
        return climb(search, most, values);
    }
    uint32_t found = search_found(search), nearest = search_nearest(search), used = 0;
    uint32_t end = found != SEARCH_NONE ? found : search->count;
    bool holds = search->load && search_tried(search, search->count - 1) &&
                 search->shortfall[search->count - 1] == 0;
    search->uneven = search->uneven || nearest == SEARCH_NONE || !is_valley(search, nearest, end);
    if (search->unordered) {
        return scan(search, end, most, values);
    }
    if (search->uneven && !holds) {
        used = spread(search, end, most, values);
    }
    return used > 0               ? used
           : found != SEARCH_NONE ? go_on_from(search, found, most, values)
                                  : go_on_without(search, most, values);
}
