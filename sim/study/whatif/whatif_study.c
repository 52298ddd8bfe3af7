/* Axes are read one after the other against the scenario's own point, which is planned for that.
 * The batch comes last, because the number of sequences that fit depends on the other axis. */
#include "study/whatif/whatif_study.h"

#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sequences that fit at either end of the axis swept so far. */
static uint32_t most_batch(const struct scenario *swept, const struct planned *own,
                           const struct run_context *runs)
{
    uint32_t most = own->plan.max_batch;
    for (int end = 0; swept->sweep != NULL && end < 2; end++) {
        struct planned planned;
        uint32_t point = end == 0 ? 0 : swept->points - 1;
        if (planned_point(swept, point, runs, &planned, ERROR_UNSEEN) &&
            planned.plan.max_batch > most) {
            most = planned.plan.max_batch;
        }
        planned_release(&planned);
    }
    return most;
}

/* Is one part of the other, as link.h2d is of link? */
static bool whatif_overlap(const char *a, const char *b)
{
    size_t x = strlen(a), y = strlen(b), shorter = x < y ? x : y;
    const char *longer = x < y ? b : a;
    return strncmp(a, b, shorter) == 0 && (longer[shorter] == '\0' || longer[shorter] == '.');
}

struct texts {
    struct axis_text all[WHATIF_MOST_AXES];
    uint32_t count;
};

static bool split_axes(const char *over, struct texts *texts, struct error *why)
{
    const char *rest = over;
    struct axis_text axis = {.text = NULL};
    texts->count = 0;
    while (text_item(&rest, &axis.text, &axis.length)) {
        if (texts->count == WHATIF_MOST_AXES) {
            error_usage(why, "--over", 0, "'%s' has too many axes for a table", over);
            return error_expect(
                why,
                "one axis, or two separated by a comma; values stand in brackets: KEY=[A, B, C]");
        }
        texts->all[texts->count++] = axis;
    }
    return true;
}

/* Read all axes except a batch, then the batch. `others` sweeps them only to find what fits. */
static bool read_axes(struct whatif *whatif, const struct scenario *scenario,
                      const struct whatif_options *options, const struct texts *texts,
                      const struct planned *own, struct error *why)
{
    struct axis_base base = {.option = "--over",
                             .scenario = scenario,
                             .point = &own->point,
                             .runs = options->study.runs,
                             .plan = &own->plan,
                             .points = options->points};
    struct scenario others = {.root = scenario->root,
                              .values = scenario->values,
                              .points = 1,
                              .sources = scenario->sources};
    whatif->axis_count = texts->count;
    bool good = true;
    for (int batches = 0; good && batches < 2; batches++) {
        base.most_batch = batches ? most_batch(&others, own, options->study.runs) : 0;
        for (uint32_t i = 0; good && i < texts->count; i++) {
            const struct axis_text *axis = &texts->all[i];
            bool is_batch = axis->length == 5 && strncmp(axis->text, "batch", 5) == 0;
            if (is_batch == (batches == 1)) {
                good = axis_read(axis->text, axis->length, &base, &whatif->axes[i], why) &&
                       (batches == 1 || axis_sweep(&whatif->axes[i], &others, why));
            }
        }
    }
    node_destroy(others.sweep);
    if (good && options->points > 0 && !whatif->axes[0].ranges && !whatif->axes[1].ranges) {
        error_usage(why, "--points", 0, "'%s' gives values, not a range", options->over);
        return error_expect(why, "a range such as batch=FROM:TO");
    }
    if (good && texts->count == 2 && whatif_overlap(whatif->axes[0].key, whatif->axes[1].key)) {
        error_usage(why, "--over", 0, "axes '%s' and '%s' overlap", whatif->axes[0].key,
                    whatif->axes[1].key);
        return error_expect(why, "two keys, neither of which is part of the other");
    }
    return good;
}

bool whatif_run(const struct scenario *scenario, const struct whatif_options *options,
                struct whatif *out, struct error *why)
{
    struct planned own = {.plan = {.batch = 0}};
    *out = (struct whatif){.count = 0};
    struct run_hashes hashes;
    struct texts texts;
    bool good =
        sweep_is_one_point(scenario, why) && split_axes(options->over, &texts, why) &&
        planned_own(scenario, "--over", texts.all, texts.count, options->study.runs, &own, why) &&
        run_hashes(&own.point, &hashes, why) &&
        read_axes(out, scenario, options, &texts, &own, why) &&
        scenario_copy(scenario, &out->scenario, why);
    for (uint32_t i = 0; good && i < out->axis_count; i++) {
        struct axis *axis = &out->axes[i];
        good = axis_sweep(axis, &out->scenario, why);
        for (uint32_t j = 0; texts.all[i].open && j < axis->count; j++) {
            axis->values[j].own = false;
        }
    }
    planned_release(&own);
    if (good) {
        memcpy(out->own_profile, hashes.profile, sizeof hashes.profile);
        out->results = array_zeroed(out->scenario.points, sizeof *out->results, why);
        good = out->results != NULL &&
               sweep_keep(&out->scenario, &options->study, out->results, &out->count, why);
    }
    bool ran = out->count == 0;
    for (uint32_t i = 0; good && i < out->count; i++) {
        ran = ran || !result_failed(&out->results[i]);
    }
    if (good && !ran) { /* the error of the first is the reason */
        const struct result *first = &out->results[0];
        error_usage(why, "--over", 0, "no point of '%s' can run: %s", out->axes[0].key,
                    first->message);
        error_expect(why, "%s", first->expected);
        good = error_nearest(why, first->nearest);
    }
    whatif_judge(out);
    return good;
}

void whatif_release(struct whatif *whatif)
{
    for (uint32_t i = 0; i < whatif->count; i++) {
        result_release(&whatif->results[i]);
    }
    for (uint32_t i = 0; i < whatif->axis_count; i++) {
        axis_release(&whatif->axes[i]);
    }
    free(whatif->results);
    scenario_release(&whatif->scenario);
    *whatif = (struct whatif){.count = 0};
}

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

bool whatif_is_axis(const struct whatif *whatif, const char *key)
{
    bool is = false;
    for (uint32_t axis = 0; axis < whatif->axis_count; axis++) {
        is = is || strcmp(whatif->axes[axis].key, key) == 0;
    }
    return is;
}

double whatif_arrivals(const struct whatif *whatif)
{
    double rate = NAN;
    bool same = !whatif_is_axis(whatif, "rate") && !whatif_is_axis(whatif, "time_scale");
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *come = result_cell(&whatif->results[i], COLUMN(requests_in_per_s));
        /* Endless requests arrive at the stated rate, and count for as long as each run needs. */
        bool drawn = same && result_cell(&whatif->results[i], COLUMN(requests_out_half))->set;
        if (come->set && !isnan(rate) && come->real != rate && !drawn) {
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
    /* Clients that wait for their answers set the arrival rate themselves. */
    return any && !scenario_states(&whatif->scenario, "clients") &&
           !whatif_is_axis(whatif, "clients");
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

static int64_t unanswered_tokens(const struct cell *cells)
{
    int64_t tokens = cells[COLUMN(prompt_tokens)->index].integer -
                     cells[COLUMN(recompute_tokens)->index].integer;
    for (size_t i = 0; i < RESULT_TIERS; i++) {
        tokens -= cells[tier_columns[i].tokens->index].integer;
    }
    return tokens;
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
    double all = result_number(result, tier_columns[0].share);
    for (size_t i = 1; i < RESULT_TIERS; i++) { /* a tier that a server lacks finds nothing */
        double share = result_number(result, tier_columns[i].share);
        all += isnan(share) ? 0 : share;
    }
    return 100 * all;
}

/* By figure; NULL: the share of prompt tokens found. */
static const struct column *figure_column(enum whatif_figure figure)
{
    return figure == WHATIF_GOODPUT ? COLUMN(goodput)
           : figure == WHATIF_FOUND ? NULL
           : figure == WHATIF_TIME  ? COLUMN(e2e_ms)
                                    : COLUMN(decode_tokens_per_s);
}

double whatif_worth(const struct whatif *whatif, uint32_t point)
{
    const struct column *column = figure_column(whatif->figure);
    const struct result *result = &whatif->results[point];
    double worth = column != NULL ? result_number(result, column) : found_percent(result);
    bool none = column == COLUMN(decode_tokens_per_s) && !(worth > 0);
    return whatif_objection(whatif, point) != NULL || none ? (double)NAN
           : column == COLUMN(e2e_ms)                      ? worth / 1e3
                                                           : worth;
}

/* The figure with its sign changed if less is better. */
static double whatif_find_merit(const struct whatif *whatif, uint32_t point)
{
    double worth = whatif_worth(whatif, point);
    return whatif->figure == WHATIF_TIME ? -worth : worth;
}

/* The knee over the points that have a figure, if it improves along the axis. Goodput may fall
 * again: beyond a server's capacity no request is answered in time. */
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
    if (rises && knee_above(x, y, count, &knee)) {
        findings->knee = points[knee];
    }
}

static enum tie whatif_tie(const struct whatif *whatif, uint32_t a, uint32_t b)
{
    double x = whatif_worth(whatif, a), y = whatif_worth(whatif, b);
    if (isnan(x) || isnan(y)) {
        return TIE_NONE;
    }
    const struct column *column = figure_column(whatif->figure);
    return column != NULL ? result_tie(&whatif->results[a], &whatif->results[b], column)
           : x == y       ? TIE_NEAR
                          : TIE_NONE;
}

bool whatif_ties(const struct whatif *whatif, const struct whatif_findings *findings,
                 uint32_t point)
{
    return findings->best != WHATIF_NONE && whatif_tie(whatif, findings->best, point) != TIE_NONE;
}

static void find_best(const struct whatif *whatif, struct whatif_findings *findings)
{
    double most = -INFINITY;
    for (uint32_t i = 0; i < whatif->count; i++) {
        double own = whatif_find_merit(whatif, i);
        if (!isnan(own)) {
            findings->timed++;
            most = fmax(most, own);
        }
    }
    double as_good = most - 0.001 * fabs(most);
    for (uint32_t i = whatif->figure != WHATIF_BORNE ? whatif->count : 0; i-- > 0;) {
        findings->best = whatif_find_merit(whatif, i) >= as_good ? i : findings->best;
    }
}

/* A machine does not name its link, so links of equal speed count as the same. */
static void find_own(const struct whatif *whatif, struct whatif_findings *findings)
{
    for (uint32_t i = 0; i < whatif->count; i++) {
        bool own = true;
        for (uint32_t a = 0; a < whatif->axis_count; a++) {
            const struct axis *axis = &whatif->axes[a];
            own = own && (axis->values[whatif_value(whatif, a, i)].own ||
                          (strcmp(axis->key, "hardware.link") == 0 &&
                           strcmp(whatif->results[i].profile_hash, whatif->own_profile) == 0));
        }
        findings->own = own ? i : findings->own;
    }
}

static void find_ties(const struct whatif *whatif, struct whatif_findings *findings)
{
    uint32_t ties = 0;
    for (uint32_t i = 0; i < whatif->count; i++) {
        if (i != findings->best && whatif_ties(whatif, findings, i)) {
            enum tie tie = whatif_tie(whatif, findings->best, i);
            findings->worst = tie > findings->worst ? tie : findings->worst;
            ties++;
        }
    }
    findings->all_tie = whatif->count > 1 && ties + 1 == whatif->count;
}

struct whatif_findings whatif_find(const struct whatif *whatif)
{
    struct whatif_findings findings = {
        .best = WHATIF_NONE, .own = WHATIF_NONE, .knee = WHATIF_NONE};
    find_best(whatif, &findings);
    find_own(whatif, &findings);
    find_ties(whatif, &findings);
    if (whatif->axis_count == 1 && whatif->axes[0].numeric && !findings.all_tie &&
        findings.best != WHATIF_NONE) {
        find_knee(whatif, &findings);
    }
    return findings;
}

/* Furthest below the line of misses is furthest above the line of hits, which starts at 0. */
bool knee_find(const uint32_t *sizes, const uint64_t *misses, uint32_t count, uint64_t accesses,
               uint32_t *index)
{
    double furthest = 0;
    for (uint32_t i = 0; i < count; i++) {
        /* Hits above the line, times the largest size: whole numbers, exact below 2^53. */
        double beyond = (double)(accesses - misses[i]) * sizes[count - 1] -
                        (double)(accesses - misses[count - 1]) * sizes[i];
        if (beyond > furthest) {
            furthest = beyond;
            *index = i;
        }
    }
    return furthest > 0;
}

bool knee_above(const double *x, const double *y, uint32_t count, uint32_t *index)
{
    double furthest = 0;
    for (uint32_t i = 1; i + 1 < count; i++) {
        double line = y[0] + (y[count - 1] - y[0]) * ((x[i] - x[0]) / (x[count - 1] - x[0]));
        if (y[i] - line > furthest) {
            furthest = y[i] - line;
            *index = i;
        }
    }
    return furthest > 0;
}
