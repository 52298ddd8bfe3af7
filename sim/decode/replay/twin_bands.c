#include "decode/replay/twin_bands.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

/* Shares closer to 0 or 1 count as this: masses are recorded in steps, hits counted. */
#define LEAST_SHARE 0.0005

static double logit(double share)
{
    double within = fmin(fmax(share, LEAST_SHARE), 1 - LEAST_SHARE);
    return log(within / (1 - within));
}

static double twin_bands_share_of(double logit)
{
    return 1 / (1 + exp(-logit));
}

static double residual(const struct twin_row *row, uint32_t figure)
{
    return logit(row->was[figure]) - logit(row->is[figure]);
}

static double octaves(const struct twin_row *row)
{
    return log2((double)row->context / row->fitted);
}

/* ---- variances that add up ---- */

struct variance {
    double sum, of_squares; /* of the terms, and of their squares over their degrees of freedom */
};

static void variance_add(struct variance *variance, double term, double freedom)
{
    variance->sum += term;
    variance->of_squares += term * term / freedom;
}

/* The band about `centre`, in shares. */
static void twin_bands_make(double centre, const struct variance *variance, double band[2])
{
    double half = 0;
    if (variance->sum > 0) {
        double freedom = variance->sum * variance->sum / variance->of_squares;
        half = gsl_cdf_tdist_Pinv((1 + TWIN_CHANCE) / 2, freedom) * sqrt(variance->sum);
    }
    band[0] = twin_bands_share_of(centre - half);
    band[1] = twin_bands_share_of(centre + half);
}

/* ---- groups ---- */

/* Values in groups, of which only sums are kept. */
struct groups {
    uint32_t groups, values;
    double sum, within; /* of the values; of their squared distances from their group's mean */
    double squares;     /* of the means, times their group's size */
    double sizes_squared;
};

struct twin_group {
    uint32_t count;
    double sum, squares;
};

static void group_add(struct twin_group *group, double value)
{
    group->count++;
    group->sum += value;
    group->squares += value * value;
}

static void groups_add(struct groups *groups, const struct twin_group *group)
{
    if (group->count == 0) {
        return;
    }
    double means = group->sum * group->sum / group->count;
    groups->groups++;
    groups->values += group->count;
    groups->sum += group->sum;
    groups->within += fmax(group->squares - means, 0);
    groups->squares += means;
    groups->sizes_squared += (double)group->count * group->count;
}

static uint32_t freedom_within(const struct groups *groups)
{
    return groups->values - groups->groups;
}

/* The variance of group means beyond what the variance within groups gives them. */
static double between(const struct groups *groups, double within)
{
    double all = groups->values, number = groups->groups - 1.0;
    double size = (all - groups->sizes_squared / all) / number; /* of a group, on average */
    double mean_square = (groups->squares - groups->sum * groups->sum / all) / number;
    return fmax((mean_square - within) / size, 0);
}

/* ---- what rows say ---- */

/* The row of the same text at the fitted context; NULL: there is none. */
static const struct twin_row *find_start(const struct twin_rows *rows, const struct twin_row *row)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *start = &rows->row[i];
        if (start->context == start->fitted && start->fitted == row->fitted &&
            strcmp(start->text, row->text) == 0 && strcmp(start->model, row->model) == 0) {
            return start;
        }
    }
    return NULL;
}

static bool is_first_of_model(const struct twin_rows *rows, size_t at)
{
    size_t first = 0;
    while (strcmp(rows->row[first].model, rows->row[at].model) != 0) {
        first++;
    }
    return first == at;
}

struct components {
    struct groups texts, slopes; /* by model */
    double farthest;             /* octaves that slopes were seen over */
};

/* Does the row tell how figures change over `x` octaves? */
static bool is_towards(const struct twin_row *row, double x)
{
    return octaves(row) * x > 0;
}

/* Add the rows of `model` for a change over `x` octaves. */
static void twin_bands_add_model(const struct twin_rows *rows, const char *model, uint32_t figure,
                                 double x, struct components *out)
{
    struct twin_group texts = {0}, slopes = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *row = &rows->row[i], *start = find_start(rows, row);
        if (strcmp(row->model, model) != 0) {
            continue;
        }
        if (start == row) {
            group_add(&texts, residual(row, figure));
        } else if (start != NULL && is_towards(row, x)) {
            group_add(&slopes, (residual(row, figure) - residual(start, figure)) / octaves(row));
            out->farthest = fmax(out->farthest, fabs(octaves(row)));
        }
    }
    groups_add(&out->texts, &texts);
    groups_add(&out->slopes, &slopes);
}

static bool has_model(const struct twin_rows *rows, const char *model)
{
    size_t at = 0;
    while (at < rows->count && strcmp(rows->row[at].model, model) != 0) {
        at++;
    }
    return at < rows->count;
}

static struct components find_components(const struct twin_evidence *evidence, uint32_t figure,
                                         double x)
{
    struct components out = {.farthest = 0};
    const struct twin_rows *shipped = evidence->shipped, *own = evidence->own;
    for (size_t i = 0; i < shipped->count; i++) {
        if (is_first_of_model(shipped, i)) {
            twin_bands_add_model(shipped, shipped->row[i].model, figure, x, &out);
        }
    }
    if (!has_model(shipped, own->row[0].model)) {
        twin_bands_add_model(own, own->row[0].model, figure, x, &out);
    }
    return out;
}

/* The mean residual of own recordings at the fitted context, and their number. */
static double own_level(const struct twin_rows *own, uint32_t figure, uint32_t *texts)
{
    double sum = 0;
    *texts = 0;
    for (size_t i = 0; i < own->count; i++) {
        if (own->row[i].context == own->row[i].fitted) {
            sum += residual(&own->row[i], figure);
            (*texts)++;
        }
    }
    return sum / *texts;
}

/* The slope of own recordings, and its precision: 0 without other contexts. A text that was not
 * recorded at the fitted context starts at the level of the others. */
static double own_slope(const struct twin_rows *own, uint32_t figure, double towards, double within,
                        double text, double *precision)
{
    uint32_t texts;
    double level = own_level(own, figure, &texts), sum = 0;
    *precision = 0;
    for (size_t i = 0; i < own->count; i++) {
        const struct twin_row *row = &own->row[i], *start = find_start(own, row);
        if (is_towards(row, towards)) {
            double x = octaves(row), from = start != NULL ? residual(start, figure) : level;
            double variance = within + (start != NULL ? 0 : text * (1 + 1.0 / texts) / (x * x));
            sum += (residual(row, figure) - from) / x / variance;
            *precision += 1 / variance;
        }
    }
    return *precision > 0 ? sum / *precision : 0;
}

/* Add the change over `x` octaves to centre and variance. */
static bool add_change(const struct twin_evidence *evidence, uint32_t figure, double x,
                       const struct components *components, double text, double *centre,
                       struct variance *variance)
{
    const struct groups *slopes = &components->slopes;
    uint32_t freedom = freedom_within(slopes);
    if (fabs(x) > components->farthest || slopes->groups < 2 || freedom == 0) {
        return false;
    }
    double precision, within = slopes->within / freedom;
    double common = slopes->sum / slopes->values;
    double model = between(slopes, within) * (1 + 1.0 / slopes->groups);
    double own = own_slope(evidence->own, figure, x, within, text, &precision);
    double weight = model * precision / (1 + model * precision); /* of the own slope */
    *centre += x * (common + weight * (own - common));
    variance_add(variance, x * x * model * (1 - weight), slopes->groups - 1.0);
    variance_add(variance, x * x * within, freedom);
    return true;
}

bool twin_band_text(const struct twin_evidence *evidence, uint32_t figure, uint32_t context,
                    double twin, double band[2])
{
    double x = log2((double)context / evidence->own->row[0].fitted);
    struct components components = find_components(evidence, figure, x);
    uint32_t texts, freedom = freedom_within(&components.texts);
    if (freedom == 0) {
        return false;
    }
    double text = components.texts.within / freedom;
    double centre = logit(twin) + own_level(evidence->own, figure, &texts);
    struct variance variance = {0};
    variance_add(&variance, text * (1 + 1.0 / texts), freedom);
    if (x != 0 && !add_change(evidence, figure, x, &components, text, &centre, &variance)) {
        return false;
    }
    twin_bands_make(centre, &variance, band);
    return true;
}

/* ---- another model ---- */

/* The mean logit of `model` at the context of its rows that is nearest to `context`. */
static double mean_logit(const struct twin_rows *rows, const char *model, uint32_t figure,
                         uint32_t context)
{
    double nearest = HUGE_VAL;
    struct twin_group at_nearest = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *row = &rows->row[i];
        double away = fabs(log2((double)row->context / context));
        if (strcmp(row->model, model) != 0 || away > nearest) {
            continue;
        }
        if (away < nearest) {
            at_nearest = (struct twin_group){0};
            nearest = away;
        }
        group_add(&at_nearest, logit(row->was[figure]));
    }
    return at_nearest.sum / at_nearest.count;
}

bool twin_band_model(const struct twin_evidence *evidence, uint32_t figure, uint32_t context,
                     double band[2])
{
    const struct twin_rows *shipped = evidence->shipped, *own = evidence->own;
    struct twin_group models = {0};
    group_add(&models, mean_logit(own, own->row[0].model, figure, context));
    for (size_t i = 0; i < shipped->count; i++) {
        const char *model = shipped->row[i].model;
        if (is_first_of_model(shipped, i) && strcmp(model, own->row[0].model) != 0) {
            group_add(&models, mean_logit(shipped, model, figure, context));
        }
    }
    if (models.count < 2) {
        return false;
    }
    double mean = models.sum / models.count, freedom = models.count - 1.0;
    double between_models = fmax(models.squares - models.sum * mean, 0) / freedom;
    struct variance variance = {0};
    variance_add(&variance, between_models * (1 + 1.0 / models.count), freedom);
    twin_bands_make(mean, &variance, band);
    return true;
}
