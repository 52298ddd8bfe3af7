#include "result/tie.h"

#include "result/band.h"

#include <math.h>
#include <string.h>

/* ---- near ---- */

/* Is it a time, a rate or a cost? Other figures (bytes, shares) are exact. */
static bool is_timed(enum column column)
{
    enum column_type type = column_kinds[column].type;
    return type == COLUMN_TYPE_US || type == COLUMN_TYPE_MS || band_column(column) ||
           column == COLUMN_GOODPUT || column == COLUMN_RATE_OUT;
}

static bool are_near(enum column column, double a, double b)
{
    double share = is_timed(column) ? TIE_PERCENT / 100.0 : 0;
    return fabs(a - b) <= share * fmin(fabs(a), fabs(b));
}

/* ---- bands ---- */

static bool same_text(const struct result *a, const struct result *b, enum column column)
{
    const struct cell *x = &a->cells[column], *y = &b->cells[column];
    return x->set && y->set && strcmp(x->text, y->text) == 0;
}

/* Two runs of one system, model and machine? */
static bool share_errors(const struct result *a, const struct result *b)
{
    const struct cell *gpus = &a->cells[COLUMN_TENSOR_PARALLEL];
    const struct cell *others = &b->cells[COLUMN_TENSOR_PARALLEL];
    return same_text(a, b, COLUMN_SYSTEM) && same_text(a, b, COLUMN_MODEL) &&
           same_text(a, b, COLUMN_HARDWARE) && gpus->set == others->set &&
           (!gpus->set || gpus->integer == others->integer);
}

struct ends {
    double least, most;
};

/* Where the figure may lie: in its band, or else in its range over families. */
static struct ends ends_of(const struct result *result, enum column column)
{
    const double *band = band_of(result, column);
    const struct column_range *range = column_range_of(column);
    double value = result_number(result, column);
    struct ends ends = {value, value};
    if (band != NULL) {
        band_ends(column, band, value, &ends.least, &ends.most);
    } else if (range != NULL && result->family_count > 0) {
        ends.least = fmin(value, result_number(result, range->low)); /* of NaN the other one */
        ends.most = fmax(value, result_number(result, range->high));
    }
    return ends;
}

static bool overlap(const struct ends *a, const struct ends *b)
{
    return a->least <= b->most && b->least <= a->most;
}

/* ---- families ---- */

static double figure_with(const struct result *result, enum column column, uint32_t family)
{
    const struct column_range *range = column_range_of(column);
    return result->family_count == 0 || range == NULL
               ? result_number(result, column)
               : result->families[family].values[range - column_ranges];
}

/* The families of both, which are the same ones in the same order; 0: they cannot be paired. */
static uint32_t pair_families(const struct result *a, const struct result *b)
{
    const struct result *more = a->family_count > 0 ? a : b;
    bool same = a->family_count == b->family_count || a->family_count == 0 || b->family_count == 0;
    for (uint32_t i = 0; same && i < a->family_count && i < b->family_count; i++) {
        same = strcmp(a->families[i].name, b->families[i].name) == 0;
    }
    return same ? more->family_count : 0;
}

/* Is another run ahead with one of the families than over all, or neither? */
static bool order_changes(const struct result *a, const struct result *b, enum column column)
{
    uint32_t pairs = pair_families(a, b);
    bool larger = result_number(a, column) > result_number(b, column), changes = false;
    for (uint32_t i = 0; i < pairs; i++) {
        double x = figure_with(a, column, i), y = figure_with(b, column, i);
        changes = changes || !(larger ? x > y : x < y); /* a family that does not fit has NaN */
    }
    return changes;
}

static bool families_tie(const struct result *a, const struct result *b, enum column column)
{
    struct ends x = ends_of(a, column), y = ends_of(b, column);
    return pair_families(a, b) > 0 ? order_changes(a, b, column) : overlap(&x, &y);
}

/* ---- the answer ---- */

#define WORD_OF(number) #number
#define WORD(macro) WORD_OF(macro)

enum tie result_tie(const struct result *a, const struct result *b, enum column column)
{
    double x = result_number(a, column), y = result_number(b, column);
    if (isnan(x) || isnan(y)) {
        return isnan(x) && isnan(y) ? TIE_NEAR : TIE_NONE;
    }
    if (are_near(column, x, y)) {
        return TIE_NEAR;
    }
    bool bands = band_of(a, column) != NULL || band_of(b, column) != NULL;
    if (bands && !share_errors(a, b)) {
        struct ends of_a = ends_of(a, column), of_b = ends_of(b, column);
        return overlap(&of_a, &of_b) ? TIE_BANDS : TIE_NONE;
    }
    bool ranged = a->family_count > 0 || b->family_count > 0;
    return ranged && families_tie(a, b, column) ? TIE_FAMILIES : TIE_NONE;
}

const char *tie_reason(enum tie tie)
{
    static const char *const reasons[] = {
        [TIE_NONE] = "",
        [TIE_NEAR] = "at most " WORD(TIE_PERCENT) " % apart",
        [TIE_BANDS] = "their error bands overlap",
        [TIE_FAMILIES] = "their order changes between recordings",
    };
    return reasons[tie];
}
