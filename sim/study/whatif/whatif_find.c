/* Conclusions from the points of a study: the best, the knee, the point at which a limit is met. */
#include "study/whatif/whatif.h"

#include "study/whatif/knee.h"

#include <math.h>
#include <string.h>

#define LINK "hardware.link"

uint32_t whatif_value(const struct whatif *whatif, uint32_t axis, uint32_t point)
{
    uint32_t across = whatif->axis_count > 1 ? whatif->axes[1].count : 1;
    return axis == 0 ? point / across : point % across;
}

bool whatif_serves(const struct whatif *whatif)
{
    bool served = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        served = served || result_cell(&whatif->results[i], COLUMN(requests))->set;
    }
    return served;
}

/* ---- the figure of a study ---- */

/* Clients that wait for their answers set the arrival rate themselves. */
static bool has_clients(const struct whatif *whatif)
{
    bool has = node_stated(whatif->scenario.root, "clients") != NULL;
    for (uint32_t axis = 0; axis < whatif->axis_count; axis++) {
        has = has || strcmp(whatif->axes[axis].key, "clients") == 0;
    }
    return has;
}

double whatif_arrivals(const struct whatif *whatif)
{
    double rate = NAN;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *come = result_cell(&whatif->results[i], COLUMN(requests_in_per_s));
        if (come->set && !isnan(rate) && come->real != rate) {
            return NAN;
        }
        rate = come->set ? come->real : rate;
    }
    return rate;
}

/* Do requests arrive by themselves at all points that have an answer? */
static bool has_arrivals(const struct whatif *whatif)
{
    bool any = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *cells = whatif->results[i].cells;
        if (cells[COLUMN(decode_tokens_per_s)->index].set &&
            !cells[COLUMN(requests_in_per_s)->index].set) {
            return false;
        }
        any = any || cells[COLUMN(requests_in_per_s)->index].set;
    }
    return any && !has_clients(whatif);
}

static enum whatif_figure whatif_find_figure_of(const struct whatif *whatif)
{
    enum whatif_figure figure = WHATIF_FOUND;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *cells = whatif->results[i].cells;
        if (cells[COLUMN(goodput)->index].set) {
            return WHATIF_GOODPUT;
        }
        bool lacks =
            !cells[COLUMN(hit_tokens_gpu)->index].set && !result_failed(&whatif->results[i]);
        if (cells[COLUMN(decode_tokens_per_s)->index].set || lacks) {
            figure = WHATIF_RATE;
        }
    }
    if (figure == WHATIF_RATE && has_arrivals(whatif)) {
        figure = isnan(whatif_arrivals(whatif)) ? WHATIF_BORNE : WHATIF_TIME;
    }
    return figure;
}

/* Prompt tokens of requests that were not answered. */
static int64_t unanswered_tokens(const struct cell *cells)
{
    return cells[COLUMN(prompt_tokens)->index].integer -
           cells[COLUMN(hit_tokens_gpu)->index].integer -
           cells[COLUMN(hit_tokens_host)->index].integer -
           cells[COLUMN(hit_tokens_disk)->index].integer -
           cells[COLUMN(hit_tokens_pool)->index].integer -
           cells[COLUMN(recompute_tokens)->index].integer;
}

void whatif_judge(struct whatif *whatif)
{
    whatif->figure = whatif_find_figure_of(whatif);
    whatif->unanswered = INT64_MAX;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *cells = whatif->results[i].cells;
        int64_t unanswered = unanswered_tokens(cells);
        bool served = cells[COLUMN(recompute_tokens)->index].set;
        whatif->unanswered =
            served && unanswered < whatif->unanswered ? unanswered : whatif->unanswered;
    }
}

const char *whatif_objection(const struct whatif *whatif, uint32_t point)
{
    const struct cell *cells = whatif->results[point].cells;
    bool served =
        cells[COLUMN(requests_out_per_s)->index].set && !cells[COLUMN(goodput)->index].set;
    return served && cells[COLUMN(queue_grows)->index].integer > 0   ? "queue grows"
           : served && unanswered_tokens(cells) > whatif->unanswered ? "leaves some out"
                                                                     : NULL;
}

/* ---- the figure of a point ---- */

static double found_percent(const struct result *result)
{
    double below = 0; /* a tier that a server lacks finds nothing */
    const struct column *const tiers[] = {COLUMN(host_hit), COLUMN(disk_hit), COLUMN(pool_hit)};
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        double share = result_number(result, tiers[i]);
        below += isnan(share) ? 0 : share;
    }
    return 100 * (result_number(result, COLUMN(gpu_hit)) + below);
}

double whatif_worth(const struct whatif *whatif, uint32_t point)
{
    const struct cell *cells = whatif->results[point].cells;
    const struct cell *goodput = &cells[COLUMN(goodput)->index],
                      *rate = &cells[COLUMN(decode_tokens_per_s)->index];
    const struct cell *time = &cells[COLUMN(e2e_ms)->index];
    if (whatif_objection(whatif, point) != NULL) {
        return NAN;
    }
    switch (whatif->figure) {
    case WHATIF_GOODPUT:
        return goodput->set ? goodput->real : NAN;
    case WHATIF_FOUND:
        return found_percent(&whatif->results[point]);
    case WHATIF_TIME:
        return time->set ? (double)time->integer / 1e9 : NAN;
    default:
        return rate->set && rate->real > 0 ? rate->real : NAN;
    }
}

/* The figure with its sign changed if less is better. */
static double whatif_find_merit(const struct whatif *whatif, uint32_t point)
{
    double worth = whatif_worth(whatif, point);
    return whatif->figure == WHATIF_TIME ? -worth : worth;
}

/* ---- conclusions ---- */

static void find_best(const struct whatif *whatif, struct whatif_findings *findings)
{
    double most = -INFINITY, least = INFINITY;
    for (uint32_t i = 0; i < whatif->count; i++) {
        double own = whatif_find_merit(whatif, i);
        if (!isnan(own)) {
            findings->timed++;
            most = fmax(most, own);
            least = fmin(least, own);
        }
    }
    double as_good = most - 0.001 * fabs(most);
    for (uint32_t i = whatif->count; i-- > 0;) {
        findings->best = whatif_find_merit(whatif, i) >= as_good ? i : findings->best;
    }
    findings->flat = findings->timed > 1 && least >= as_good;
}

/* Is this the scenario's own value? A machine does not name its link, so links of equal speed count
 * as the same. */
static bool is_own(const struct whatif *whatif, uint32_t axis, uint32_t point)
{
    return whatif->axes[axis].values[whatif_value(whatif, axis, point)].own ||
           (strcmp(whatif->axes[axis].key, LINK) == 0 &&
            strcmp(whatif->results[point].profile_hash, whatif->own_profile) == 0);
}

static void whatif_find_own(const struct whatif *whatif, struct whatif_findings *findings)
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

/* The knee over the points that have a figure, if it improves along the axis. Goodput may fall
 * again: beyond a server's capacity no request is answered in time. The load of WHATIF_BORNE is the
 * load that arrives, so its line has no bend. */
static void find_knee(const struct whatif *whatif, struct whatif_findings *findings)
{
    double x[AXIS_MOST_VALUES], y[AXIS_MOST_VALUES];
    uint32_t points[AXIS_MOST_VALUES], count = 0, knee;
    for (uint32_t i = 0; i < whatif->count; i++) {
        double own = whatif_find_merit(whatif, i);
        if (!isnan(own)) {
            points[count] = i;
            x[count] = whatif->axes[0].values[i].number;
            y[count++] = own;
        }
    }
    bool rises = count > 2 && (y[count - 1] > y[0] || whatif->figure == WHATIF_GOODPUT);
    if (rises && whatif->figure != WHATIF_BORNE && knee_above(x, y, count, &knee)) {
        findings->knee = points[knee];
    }
}

struct whatif_findings whatif_find(const struct whatif *whatif)
{
    struct whatif_findings findings = {
        .best = WHATIF_NONE, .own = WHATIF_NONE, .more = WHATIF_NONE, .knee = WHATIF_NONE};
    find_best(whatif, &findings);
    whatif_find_own(whatif, &findings);
    const struct axis *axis = &whatif->axes[0];
    if (whatif->axis_count == 1 && axis->numeric && !findings.flat) {
        find_knee(whatif, &findings);
    }
    return findings;
}

/* ---- ties ---- */

enum tie whatif_tie(const struct whatif *whatif, uint32_t a, uint32_t b)
{
    const struct column *const columns[] = {
        [WHATIF_RATE] = COLUMN(decode_tokens_per_s),
        [WHATIF_BORNE] = COLUMN(decode_tokens_per_s),
        [WHATIF_TIME] = COLUMN(e2e_ms),
        [WHATIF_GOODPUT] = COLUMN(goodput),
        [WHATIF_FOUND] = NULL,
    };
    double x = whatif_worth(whatif, a), y = whatif_worth(whatif, b);
    if (isnan(x) || isnan(y)) {
        return TIE_NONE;
    }
    const struct column *column = columns[whatif->figure];
    return column != NULL ? result_tie(&whatif->results[a], &whatif->results[b], column)
           : x == y       ? TIE_NEAR
                          : TIE_NONE;
}

uint32_t whatif_count_ties(const struct whatif *whatif, const struct whatif_findings *findings,
                           enum tie *worst)
{
    uint32_t ties = 0;
    *worst = TIE_NONE;
    for (uint32_t i = 0; i < whatif->count; i++) {
        if (i != findings->best && whatif_ties(whatif, findings, i)) {
            enum tie tie = whatif_tie(whatif, findings->best, i);
            *worst = tie > *worst ? tie : *worst;
            ties++;
        }
    }
    return ties;
}

bool whatif_all_tie(const struct whatif *whatif, const struct whatif_findings *findings)
{
    enum tie worst;
    return whatif->count > 1 && whatif_count_ties(whatif, findings, &worst) + 1 == whatif->count;
}

bool whatif_ties(const struct whatif *whatif, const struct whatif_findings *findings,
                 uint32_t point)
{
    return findings->best != WHATIF_NONE && !findings->flat &&
           whatif_tie(whatif, findings->best, point) != TIE_NONE;
}
