#include "predict/result/tie.h"

#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

static uint64_t hash_subject(const struct cell *cells)
{
    const struct column *const columns[] = {COLUMN(system), COLUMN(model), COLUMN(hardware)};
    const struct cell *gpus = &cells[COLUMN(tensor_parallel)->index];
    uint64_t hash = gpus->set ? (uint64_t)gpus->integer : 1;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const struct cell *cell = &cells[columns[i]->index];
        if (!cell->set) {
            return 0;
        }
        hash = XXH64(cell->text, strlen(cell->text) + 1, hash);
    }
    return hash;
}

void tie_figure(const struct result *result, const struct column *column, struct tie_figure *out)
{
    double value = result_number(result, column), low, high;
    *out = (struct tie_figure){.value = value,
                               .least = value,
                               .most = value,
                               .timed = column_is_pace(column),
                               .subject = hash_subject(result->cells)};
    if (column->range > 0 && result->family_count > 0) {
        out->family_count = result->family_count;
        for (uint32_t i = 0; i < result->family_count; i++) {
            out->families[i] = result_number_with(result, column, i);
        }
        result_range(result, column, &low, &high);
        out->least = fmin(value, low); /* of NaN the other one */
        out->most = fmax(value, high);
    }
    out->has_band = band_ends(result, column, &out->least, &out->most);
}

double tie_figure_with(const struct tie_figure *figure, uint32_t family)
{
    return figure->family_count > 0 ? figure->families[family] : figure->value;
}

/* Does a family have another order than the figures? One that does not fit with it has NaN, and no order. */
static bool order_changes(const struct tie_figure *a, const struct tie_figure *b, uint32_t families)
{
    bool larger = a->value > b->value, changes = false;
    for (uint32_t i = 0; i < families; i++) {
        double x = tie_figure_with(a, i), y = tie_figure_with(b, i);
        changes = changes || !(larger ? x > y : x < y);
    }
    return changes;
}

/* Could two independent errors make the figures equal? They add up by the root of squares, in logarithms. */
static bool errors_bridge(const struct tie_figure *a, const struct tie_figure *b)
{
    double x = band_middle(a->value, a->least, a->most);
    double y = band_middle(b->value, b->least, b->most);
    const struct tie_figure *more = x > y ? a : b, *less = more == a ? b : a;
    double down = log(fmax(x, y) / more->least), up = log(less->most / fmin(x, y));
    return !(less->value > 0 && more->least > 0) || log(fmax(x, y) / fmin(x, y)) <= hypot(down, up);
}

enum tie figures_tie(const struct tie_figure *a, const struct tie_figure *b)
{
    if (isnan(a->value) || isnan(b->value)) {
        return isnan(a->value) && isnan(b->value) ? TIE_NEAR : TIE_NONE;
    }
    double share = a->timed ? TIE_PERCENT / 100.0 : 0;
    if (fabs(a->value - b->value) <= share * fmin(fabs(a->value), fabs(b->value))) {
        return TIE_NEAR;
    }
    bool shared = a->subject != 0 && a->subject == b->subject && a->has_band == b->has_band;
    if ((a->has_band || b->has_band) && !shared) {
        bool both = a->has_band && b->has_band;
        bool overlap = a->least <= b->most && b->least <= a->most;
        return !overlap || (both && !errors_bridge(a, b)) ? TIE_NONE : both ? TIE_BANDS : TIE_BAND;
    }
    uint32_t families = a->family_count > 0 ? a->family_count : b->family_count;
    return families > 0 && order_changes(a, b, families) ? TIE_FAMILIES : TIE_NONE;
}

enum tie result_tie(const struct result *a, const struct result *b, const struct column *column)
{
    struct tie_figure x, y;
    tie_figure(a, column, &x);
    tie_figure(b, column, &y);
    return figures_tie(&x, &y);
}

#define WORD_OF(number) #number
#define WORD(macro) WORD_OF(macro)

const char *tie_reason(enum tie tie)
{
    static const char *const reasons[] = {
        [TIE_NONE] = "",
        [TIE_NEAR] = "at most " WORD(TIE_PERCENT) " % apart",
        [TIE_BANDS] = "their error bands overlap",
        [TIE_BAND] = "the error band of one reaches the other",
        [TIE_FAMILIES] = "their order changes between recordings",
        [TIE_ROUGH] = "their rates may be the same",
    };
    return reasons[tie];
}

const double *band_of(const struct result *result, const struct column *column)
{
    const struct column *const bands[COLUMN_BANDS] = {COLUMN(error_band), COLUMN(ttft_band),
                                                      COLUMN(tpot_band)};
    bool served = result_cell(result, COLUMN(requests))->set;
    int band =
        (int)(served || column->band == BANDED_NOT ? column->band : BANDED_RATE) - (int)BANDED_RATE;
    bool known = column->holds == HOLDS_VALUE && result_cell(result, column)->set && band >= 0 &&
                 result_cell(result, bands[band])->set;
    return known ? result->band[band] : NULL;
}

bool band_ends(const struct result *result, const struct column *column, double *least,
               double *most)
{
    const double *band = band_of(result, column);
    double value = result_number(result, column);
    if (band == NULL) {
        return false;
    }
    bool inverse = band == result->band[0] && column->unit != UNIT_PER_S;
    *least = inverse ? value / (1 + band[1]) : value * (1 + band[0]);
    *most = inverse ? value / (1 + band[0]) : value * (1 + band[1]);
    return true;
}

double band_middle(double predicted, double least, double most)
{
    return predicted < least || predicted > most ? sqrt(least * most) : predicted;
}

void error_words(const struct result *result, char text[ERROR_WORDS])
{
    const struct {
        const struct column *band;
        const char *figure;
    } bands[] = {
        {COLUMN(ttft_band), "TTFT"}, {COLUMN(tpot_band), "TPOT"}, {COLUMN(error_band), "tok/s"}};
    bool requests = result_cell(result, COLUMN(requests))->set;
    bool serves = requests || result_cell(result, COLUMN(tpot_band))->set;
    const char *before = serves ? "8 of 10 such servers had " : "8 of 10 such systems had ";
    text[0] = '\0';
    for (size_t i = 0; i < sizeof bands / sizeof bands[0]; i++) {
        if (result_cell(result, bands[i].band)->set) {
            const double *ends = result->band[bands[i].band->band - BANDED_RATE];
            text_append(text, ERROR_WORDS, "%s%s %+.0f … %+.0f %%", before, bands[i].figure,
                        100 * ends[0], 100 * ends[1]);
            before = ", ";
        }
    }
    if (text[0] == '\0') {
        text_append(text, ERROR_WORDS, "the error is unknown");
        return;
    }
    int64_t sources = result_cell(result, COLUMN(error_sources))->integer;
    text_append(text, ERROR_WORDS, " off this (%" PRId64 " figures of %" PRId64 " source%s%s)",
                result_cell(result, COLUMN(error_figures))->integer, sources,
                text_plural((uint64_t)sources), requests ? "; none is a p99" : "");
}
