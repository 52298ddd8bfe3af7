/* What follows from the points of a study: the best, the knee, where a limit is met. */
#include "study/whatif.h"

#include "study/knee.h"

#include <math.h>
#include <string.h>

#define LINK "hardware.link"

uint32_t whatif_value(const struct whatif *whatif, uint32_t axis, uint32_t point)
{
    uint32_t across = whatif->axis_count > 1 ? whatif->axes[1].count : 1;
    return axis == 0 ? point / across : point % across;
}

enum whatif_figure whatif_figure_of(const struct whatif *whatif)
{
    enum whatif_figure figure = WHATIF_FOUND;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *cells = whatif->results[i].cells;
        if (cells[COLUMN_GOODPUT].set) {
            return WHATIF_GOODPUT;
        }
        bool lacks = !cells[COLUMN_HIT_TOKENS_GPU].set && !result_failed(&whatif->results[i]);
        if (cells[COLUMN_DECODE_RATE].set || lacks) {
            figure = WHATIF_RATE;
        }
    }
    return figure;
}

static double found_percent(const struct cell *cells)
{
    int64_t found = cells[COLUMN_HIT_TOKENS_GPU].integer + cells[COLUMN_HIT_TOKENS_HOST].integer;
    return cells[COLUMN_HIT_TOKENS_GPU].set && cells[COLUMN_PROMPT_TOKENS].integer > 0
               ? 100 * (double)found / (double)cells[COLUMN_PROMPT_TOKENS].integer
               : NAN;
}

double whatif_worth(const struct whatif *whatif, uint32_t point)
{
    const struct cell *cells = whatif->results[point].cells;
    const struct cell *goodput = &cells[COLUMN_GOODPUT], *rate = &cells[COLUMN_DECODE_RATE];
    switch (whatif->figure) {
    case WHATIF_GOODPUT:
        return goodput->set ? goodput->real : NAN;
    case WHATIF_FOUND:
        return found_percent(cells);
    default:
        return rate->set && rate->real > 0 ? rate->real : NAN;
    }
}

double whatif_link_stall(const struct result *result)
{
    for (uint32_t i = 0; i < result->stall_count; i++) {
        if (strcmp(result->stalls[i].name, "link") == 0) {
            return (double)result->stalls[i].ns / (double)result->cells[COLUMN_STEP].integer;
        }
    }
    return 0;
}

static void find_best(const struct whatif *whatif, struct whatif_findings *findings)
{
    double most = 0, least = INFINITY;
    for (uint32_t i = 0; i < whatif->count; i++) {
        double worth = whatif_worth(whatif, i);
        if (!isnan(worth)) {
            findings->timed++;
            most = fmax(most, worth);
            least = fmin(least, worth);
        }
    }
    for (uint32_t i = whatif->count; i-- > 0;) {
        findings->best = whatif_worth(whatif, i) >= 0.999 * most ? i : findings->best;
    }
    findings->flat = findings->timed > 1 && least >= 0.999 * most;
}

/* Is this the scenario's own value? A machine says its link's name nowhere: what is as fast is it.
 */
static bool is_own(const struct whatif *whatif, uint32_t axis, uint32_t point)
{
    return whatif->axes[axis].values[whatif_value(whatif, axis, point)].own ||
           (strcmp(whatif->axes[axis].key, LINK) == 0 &&
            strcmp(whatif->results[point].profile_hash, whatif->own_profile) == 0);
}

static void find_own(const struct whatif *whatif, struct whatif_findings *findings)
{
    for (uint32_t i = 0; i < whatif->count; i++) {
        bool own = true, more = false;
        for (uint32_t axis = 0; axis < whatif->axis_count; axis++) {
            own = own && is_own(whatif, axis, i);
            more = more || whatif->axes[axis].values[whatif_value(whatif, axis, i)].more;
        }
        findings->own = own ? i : findings->own;
        findings->more = more && whatif->axis_count == 1 ? i : findings->more;
    }
}

/* Of the points that have a figure, where it rises along the axis. Goodput may fall again: past
 * what a server can do, nobody is served in time. */
static void find_knee(const struct whatif *whatif, struct whatif_findings *findings)
{
    double x[AXIS_MOST_VALUES], y[AXIS_MOST_VALUES];
    uint32_t points[AXIS_MOST_VALUES], count = 0, knee;
    for (uint32_t i = 0; i < whatif->count; i++) {
        double worth = whatif_worth(whatif, i);
        if (!isnan(worth)) {
            points[count] = i;
            x[count] = whatif->axes[0].values[i].number;
            y[count++] = worth;
        }
    }
    bool rises = count > 2 && (y[count - 1] > y[0] || whatif->figure == WHATIF_GOODPUT);
    if (rises && knee_above(x, y, count, &knee)) {
        findings->knee = points[knee];
    }
}

static bool is_timed(const struct whatif *whatif, uint32_t point)
{
    return !isnan(whatif_worth(whatif, point));
}

/* To the last point that has a time, or else from the first one. */
static void find_link_free(const struct whatif *whatif, struct whatif_findings *findings)
{
    uint32_t from = whatif->count, to = 0, last = WHATIF_NONE, first = WHATIF_NONE;
    for (; from > 0 && whatif_link_stall(&whatif->results[from - 1]) < WHATIF_FREE; from--) {
        last = is_timed(whatif, from - 1) ? from - 1 : last;
    }
    for (; to < whatif->count && whatif_link_stall(&whatif->results[to]) < WHATIF_FREE; to++) {
        first = is_timed(whatif, to) ? to : first;
    }
    if (last != WHATIF_NONE) {
        findings->link_free_from = last;
        findings->link_free_to = whatif->count;
    } else if (first != WHATIF_NONE) {
        findings->link_free_to = first + 1;
    }
}

/* The first point from which on the queue grows at every one. */
static void find_unbounded(const struct whatif *whatif, struct whatif_findings *findings)
{
    for (uint32_t i = whatif->count; i-- > 0;) {
        const struct cell *grows = &whatif->results[i].cells[COLUMN_QUEUE_GROWS];
        if (!grows->set || grows->integer == 0) {
            return;
        }
        findings->unbounded_from = i;
    }
}

struct whatif_findings whatif_find(const struct whatif *whatif)
{
    struct whatif_findings findings = {.best = WHATIF_NONE,
                                       .own = WHATIF_NONE,
                                       .more = WHATIF_NONE,
                                       .knee = WHATIF_NONE,
                                       .unbounded_from = WHATIF_NONE};
    find_best(whatif, &findings);
    find_own(whatif, &findings);
    const struct axis *axis = &whatif->axes[0];
    findings.ordered = whatif->axis_count == 1 && (axis->numeric || strcmp(axis->key, LINK) == 0);
    if (findings.ordered) {
        find_link_free(whatif, &findings);
        find_unbounded(whatif, &findings);
    }
    if (findings.ordered && axis->numeric && !findings.flat) {
        find_knee(whatif, &findings);
    }
    return findings;
}
