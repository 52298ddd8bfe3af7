/* Rounds follow from what was tried alone: there is no other state but that a search once scans. */
#include "study/search.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

bool search_init(struct search *search, uint32_t count, struct error *why)
{
    *search = (struct search){.count = count};
    search->shortfall = array_zeroed(count, sizeof *search->shortfall, why);
    for (uint32_t i = 0; search->shortfall != NULL && i < count; i++) {
        search->shortfall[i] = NAN;
    }
    return search->shortfall != NULL;
}

void search_release(struct search *search)
{
    free(search->shortfall);
    *search = (struct search){.count = 0};
}

void search_put(struct search *search, uint32_t value, double shortfall)
{
    search->tried += isnan(search->shortfall[value]) ? 1 : 0;
    search->shortfall[value] = shortfall;
}

static bool is_tried(const struct search *search, uint32_t value)
{
    return !isnan(search->shortfall[value]);
}

uint32_t search_found(const struct search *search)
{
    for (uint32_t i = 0; i < search->count; i++) {
        if (search->shortfall[i] == 0) {
            return i;
        }
    }
    return SEARCH_NONE;
}

uint32_t search_nearest(const struct search *search)
{
    uint32_t nearest = SEARCH_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < search->count; i++) {
        if (is_tried(search, i) && search->shortfall[i] < least) {
            least = search->shortfall[i];
            nearest = i;
        }
    }
    return nearest;
}

/* ---- what tries say of the shape ---- */

static bool is_less(double a, double b)
{
    return isinf(b) ? !isinf(a) : a < b - SEARCH_EQUAL;
}

/* Do shortfalls shrink up to `low`, and grow from there on? */
static bool is_valley(const struct search *search, uint32_t low, uint32_t end)
{
    double last = NAN;
    for (uint32_t i = 0; i < end; i++) {
        double shortfall = search->shortfall[i];
        if (isnan(shortfall)) {
            continue;
        }
        if (!isnan(last) && (i <= low ? is_less(last, shortfall) : is_less(shortfall, last))) {
            return false;
        }
        last = shortfall;
    }
    return true;
}

static uint32_t tried_before(const struct search *search, uint32_t value)
{
    while (value > 0 && !is_tried(search, --value)) {
    }
    return value;
}

static uint32_t tried_behind(const struct search *search, uint32_t value)
{
    while (value + 1 < search->count && !is_tried(search, ++value)) {
    }
    return value;
}

/* ---- rounds ---- */

/* Up to `most` values between `from` and `to`, neither of them, evenly; behind `used` others. */
static uint32_t cut(uint32_t from, uint32_t to, uint32_t most, uint32_t *values, uint32_t used)
{
    uint32_t between = to > from ? to - from - 1 : 0;
    uint32_t count = between < most ? between : most;
    for (uint32_t i = 1; i <= count; i++) {
        values[used++] = from + (uint32_t)((uint64_t)(between + 1) * i / (count + 1));
    }
    return used;
}

/* Both ends, and evenly between them. */
static uint32_t begin(const struct search *search, uint32_t most, uint32_t *values)
{
    values[0] = 0;
    if (search->count == 1) {
        return 1;
    }
    uint32_t used = cut(0, search->count - 1, most - 2, values, 1);
    values[used] = search->count - 1;
    return used + 1;
}

static uint32_t scan(const struct search *search, uint32_t end, uint32_t most, uint32_t *values)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < end && used < most; i++) {
        if (!is_tried(search, i)) {
            values[used++] = i;
        }
    }
    return used;
}

/* On both sides of the value that is least short. */
static uint32_t close_in(const struct search *search, uint32_t nearest, uint32_t most,
                         uint32_t *values)
{
    uint32_t half = most / 2;
    uint32_t used = cut(tried_before(search, nearest), nearest, half, values, 0);
    return cut(nearest, tried_behind(search, nearest), half, values, used);
}

uint32_t search_next(struct search *search, uint32_t most, uint32_t *values)
{
    if (search->tried == 0) {
        return begin(search, most, values);
    }
    uint32_t found = search_found(search), nearest = search_nearest(search);
    uint32_t end = found != SEARCH_NONE ? found : search->count;
    search->scans = search->scans || nearest == SEARCH_NONE || !is_valley(search, nearest, end);
    if (search->scans) {
        return scan(search, end, most, values);
    }
    return found != SEARCH_NONE ? cut(tried_before(search, found), found, most, values, 0)
                                : close_in(search, nearest, most, values);
}
