#include "predict/families.h"

#include "core/array.h"
#include "core/name.h"
#include "model/parameters.h"

#include <math.h>
#include <stdio.h>

/* ---- the middle ---- */

/* The place of a value if all are sorted; equal ones keep their order. */
static uint32_t families_place_of(const double *values, uint32_t count, uint32_t index)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++) {
        place += values[i] < values[index] || (values[i] == values[index] && i < index);
    }
    return place;
}

/* None of the values is NaN. */
static uint32_t families_middle_of(const double *values, uint32_t count)
{
    uint32_t index = 0;
    while (families_place_of(values, count, index) != count / 2) {
        index++;
    }
    return index;
}

static double time_of(const struct result *result)
{
    const struct cell *step = result_cell(result, COLUMN(step_us)),
                      *tpot = result_cell(result, COLUMN(tpot_ms));
    return step->set ? (double)step->integer : tpot->set ? (double)tpot->integer : INFINITY;
}

uint32_t families_middle(const struct result *results, uint32_t count)
{
    double times[RESULT_MOST_FAMILIES];
    for (uint32_t i = 0; i < count; i++) {
        times[i] = time_of(&results[i]);
    }
    return families_middle_of(times, count);
}

static double family_time(const struct result_family *family)
{
    double time = INFINITY;
    for (uint32_t i = 0; column_ranged(i) != NULL; i++) {
        const struct column *column = column_ranged(i);
        bool times = column == COLUMN(step_us) || column == COLUMN(tpot_ms);
        time = times && !isnan(family->values[i]) && isinf(time) ? family->values[i] : time;
    }
    return time;
}

uint32_t families_chosen(const struct result *result)
{
    double times[RESULT_MOST_FAMILIES];
    for (uint32_t i = 0; i < result->family_count; i++) {
        times[i] = family_time(&result->families[i]);
    }
    return result->family_count > 0 ? families_middle_of(times, result->family_count) : 0;
}

/* ---- ranges ---- */

/* The family with the least (or most) of a column; `count` if none has it. */
static uint32_t find_end(const struct result *results, uint32_t count, const struct column *column,
                         bool most)
{
    uint32_t end = count;
    for (uint32_t i = 0; i < count; i++) {
        double value = result_number(&results[i], column);
        double best = end < count ? result_number(&results[end], column) : NAN;
        if (!isnan(value) && (end == count || (most ? value > best : value < best))) {
            end = i;
        }
    }
    return end;
}

/* The family in the middle of a column; `count` if one has none, or if two are in the middle. */
static uint32_t find_middle(const struct result *results, uint32_t count,
                            const struct column *column)
{
    double values[RESULT_MOST_FAMILIES];
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = result_number(&results[i], column);
        all = all && !isnan(values[i]);
    }
    return all && count % 2 == 1 ? families_middle_of(values, count) : count;
}

static void families_write_range(const struct result *results, uint32_t count,
                                 const struct column *column, struct result *out)
{
    uint32_t low = find_end(results, count, column, false);
    uint32_t middle = find_middle(results, count, column);
    if (low < count) {
        uint32_t high = find_end(results, count, column, true);
        out->cells[column->low->index] = *result_cell(&results[low], column);
        out->cells[column->high->index] = *result_cell(&results[high], column);
    }
    if (middle < count) {
        out->cells[column->index] = *result_cell(&results[middle], column);
    }
}

/* ---- what does not fit ---- */

static void note_unfit(const struct result *results, const char *const *names, uint32_t count,
                       struct result *out)
{
    char unfit[RESULT_MOST_FAMILIES * RESULT_NAME * 2] = "";
    for (uint32_t i = 0; i < count; i++) {
        if (!result_ok(&results[i])) {
            name_list_add(unfit, sizeof unfit, names[i]);
        }
    }
    if (unfit[0] != '\0' && result_ok(out)) {
        result_note(out, note_make(NOTE_families_unfit, note_text(unfit)));
    }
}

void families_write(const struct result *results, const char *const *names, uint32_t count,
                    struct result *out)
{
    for (uint32_t f = 0; f < count; f++) {
        struct result_family *family = &out->families[f];
        snprintf(family->name, sizeof family->name, "%s", names[f]);
        for (uint32_t i = 0; column_ranged(i) != NULL; i++) {
            family->values[i] = result_number(&results[f], column_ranged(i));
        }
    }
    out->family_count = count;
    for (uint32_t i = 0; column_ranged(i) != NULL;
         i++) { /* last: `out` may be one of the results */
        families_write_range(results, count, column_ranged(i), out);
    }
    note_unfit(results, names, count, out);
}

/* ---- the mass by step ---- */

static void append_masses(const struct result *result, uint32_t family, struct result *out)
{
    for (uint32_t s = 0; s < result->step_count; s++) {
        double mass = result->steps[s].mass_recall;
        if (!isnan(mass)) {
            out->masses[out->mass_count++] = (struct result_mass){family, s, mass};
        }
    }
}

bool families_write_masses(const struct result *results, uint32_t count, struct result *out,
                           struct error *why)
{
    size_t most = 0;
    for (uint32_t f = 0; f < count; f++) {
        most += results[f].step_count;
    }
    out->masses = array_zeroed(most, sizeof *out->masses, why);
    for (uint32_t f = 0; out->masses != NULL && f < count; f++) {
        append_masses(&results[f], f, out);
    }
    return out->masses != NULL;
}

/* As traces/sizes.py prints it: of five models, the mean logarithm of their billions of parameters,
 * the sum of squares about it, the mean logit, its slope, and half the band at the mean without the
 * uncertainty of the line. */
static const struct {
    double models, mean_size, squares, mean, slope, half;
} line = {.models = 5,
          .mean_size = 0.0650,
          .squares = 3.3446,
          .mean = 2.3028,
          .slope = 0.2705,
          .half = 0.7555};

double model_size_of(const struct model *model)
{
    struct model_part parts[PART_COUNT];
    double parameters = 0;
    model_parts(model, parts);
    for (int i = 0; i < PART_COUNT; i++) {
        parameters += (double)parts[i].total;
    }
    return parameters;
}

static double model_size_share(double logit)
{
    return 1 / (1 + exp(-logit));
}

void model_size_hits(double parameters, double *least, double *most)
{
    double away = log10(parameters / 1e9) - line.mean_size;
    double centre = line.mean + line.slope * away;
    double half = line.half * sqrt(1 + 1 / line.models + away * away / line.squares);
    *least = model_size_share(centre - half);
    *most = model_size_share(centre + half);
}
