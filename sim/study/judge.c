/* Reading a row off its runs: value, error, verdict, and what explains a miss. */
#include "study/judge.h"

#include <math.h>
#include <string.h>

const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_MET] = "met",
    [VERDICT_MISSED] = "missed",
    [VERDICT_NOT_COMPARABLE] = "not comparable",
};

/* What a class promises. Geometry is exact but for the rounding of doubles; a hit ratio may be off
 * as far as that of a trace that is carried to another context. */
const char comparison_geometry_class[] = "geometry";
const char comparison_trace_class[] = "trace";
const char comparison_rank_class[] = "ranking";
#define GEOMETRY_TOLERANCE 1e-9
#define TRACE_TOLERANCE 0.05
static const double tolerances[SYSTEM_CLASS_COUNT] = {
    [CLASS_BANDWIDTH_BOUND] = 0.10,
    [CLASS_GPU_MANAGED] = 0.10,
    [CLASS_CPU_MANAGED] = 0.30,
};

#define NO_RUN COMPARISON_NO_RUN

/* The same with a figure at an end of its range; CURVE_COUNT: as it is. */
static const struct result *result_at(const struct comparison *comparison,
                                      const struct comparison_row *row, int role,
                                      enum curve_id curve, int end)
{
    if (row->runs[role] == NO_RUN) {
        return NULL;
    }
    const struct comparison_run *run = &comparison->runs[row->runs[role]];
    for (uint32_t i = 0; i < run->range_count; i++) {
        if (run->ranges[i].curve == curve) {
            return &run->ranges[i].ends[end];
        }
    }
    return &run->result;
}

/* Memory is no function of a figure's range: such columns are the run's own. */
static double take(const struct formula *formula, const struct result *at,
                   const struct result *central)
{
    double value = formula_value(formula, at);
    return isnan(value) ? formula_value(formula, central) : value;
}

static double value_at(const struct comparison *comparison, const struct comparison_row *row,
                       enum curve_id curve, int end)
{
    const struct result *run = result_at(comparison, row, PAPER_RUN, curve, end);
    const struct result *against = result_at(comparison, row, PAPER_AGAINST, curve, end);
    const struct result *minus = result_at(comparison, row, PAPER_MINUS, curve, end);
    const struct formula *over = &row->row->over;
    double value = take(&row->row->take, run, comparison_result(comparison, row, PAPER_RUN));
    if (minus != NULL) {
        value -= take(&row->row->take, minus, comparison_result(comparison, row, PAPER_MINUS));
    }
    if (against != NULL) {
        value /= take(over->count > 0 ? over : &row->row->take, against,
                      comparison_result(comparison, row, PAPER_AGAINST));
    } else {
        value /= take(over, run, comparison_result(comparison, row, PAPER_RUN));
    }
    return row->row->unit == UNIT_BYTES_PER_S ? value * 1e9 : value;
}

static double error_of(const struct paper_row *row, double predicted)
{
    if (row->most == 0) { /* nothing in figures */
        return NAN;
    }
    return predicted < row->least  ? predicted / row->least - 1
           : predicted > row->most ? predicted / row->most - 1
                                   : 0;
}

/* About the share of the figure at which the error is none: linear between it and its end. */
static struct comparison_end reaching(const struct comparison_row *row, struct comparison_end end)
{
    double way = row->error / (row->error - end.error);
    return (struct comparison_end){end.curve, 1 + way * (end.share - 1), 0};
}

static bool reaches(const struct comparison_row *row, double error)
{
    return row->error * error <= 0 && row->error != error;
}

/* Is `end` a better explanation than the one so far? */
static bool explains_better(const struct comparison *comparison, const struct comparison_row *row,
                            struct comparison_end end)
{
    const struct comparison_end *so_far = &row->suspect;
    const struct curve *curves = comparison->runs[row->runs[PAPER_RUN]].setup.profile.curves;
    if (fabs(end.error) != fabs(so_far->error) || so_far->curve == CURVE_COUNT) {
        return fabs(end.error) < fabs(so_far->error);
    }
    if (curves[end.curve].basis != curves[so_far->curve].basis) {
        return curves[end.curve].basis > curves[so_far->curve].basis;
    }
    return fabs(log(end.share)) < fabs(log(so_far->share));
}

static void note_end(const struct comparison *comparison, struct comparison_row *row,
                     struct comparison_end end)
{
    if (end.error < row->least.error) {
        row->least = end;
    }
    if (end.error > row->most.error) {
        row->most = end;
    }
    if (reaches(row, end.error)) {
        end = reaching(row, end);
    }
    if (explains_better(comparison, row, end)) {
        row->suspect = end;
    }
}

/* One figure at a time, in every run of the row that reads it. */
static void read_ranges(const struct comparison *comparison, struct comparison_row *row)
{
    const struct comparison_end central = {CURVE_COUNT, 1, row->error};
    row->least = row->most = row->suspect = central;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct curve *curve = NULL;
        for (int role = PAPER_RUN; role <= PAPER_MINUS; role++) {
            if (row->runs[role] != NO_RUN && result_at(comparison, row, role, id, 0) !=
                                                 comparison_result(comparison, row, role)) {
                curve = &comparison->runs[row->runs[role]].setup.profile.curves[id];
            }
        }
        for (int end = 0; curve != NULL && end < 2; end++) {
            double error = error_of(row->row, value_at(comparison, row, id, end));
            double share = end == 0 ? curve->least : curve->most;
            note_end(comparison, row, (struct comparison_end){id, share, error});
        }
    }
}

/* All terms are columns from `first` to `last`. */
static bool within(const struct formula *formula, enum column first, enum column last)
{
    bool all = true;
    for (uint32_t i = 0; i < formula->count; i++) {
        enum column column = formula->terms[i].column;
        all = all && column >= first && column <= last;
    }
    return all;
}

/* What the row is a matter of: bytes, demands, or the clock. */
static void classify(const struct comparison *comparison, struct comparison_row *row)
{
    const struct paper_row *said = row->row;
    if (said->rank) {
        row->class_name = comparison_rank_class;
    } else if (row->runs[PAPER_RUN] == NO_RUN) {
        row->class_name = NULL;
    } else if (within(&said->take, COLUMN_BUDGET_BYTES, COLUMN_LIMITED_BY) &&
               within(&said->over, COLUMN_BUDGET_BYTES, COLUMN_LIMITED_BY)) {
        row->class_name = comparison_geometry_class;
        row->tolerance = GEOMETRY_TOLERANCE;
    } else if (within(&said->take, COLUMN_HIT_RATIO, COLUMN_D2H_BYTES) &&
               within(&said->over, COLUMN_HIT_RATIO, COLUMN_D2H_BYTES)) {
        row->class_name = comparison_trace_class;
        row->tolerance = TRACE_TOLERANCE;
    } else {
        enum system_class class =
            system_class_of(&comparison->runs[row->runs[PAPER_RUN]].setup.mechanisms);
        row->class_name = system_class_names[class];
        row->tolerance = tolerances[class];
    }
}

/* What a rank goes by, larger first; a run without it comes last. */
static double merit(const struct comparison *comparison, const struct comparison_row *row, int run)
{
    const struct formula *take = &row->row->take;
    double value = formula_value(take, comparison_result(comparison, row, run));
    return isnan(value) ? -INFINITY : formula_speed(take) > 0 ? -value : value;
}

void comparison_order(const struct comparison *comparison, const struct comparison_row *row,
                      uint32_t order[PAPER_MOST_RUNS], uint32_t *count)
{
    for (*count = 0; *count < PAPER_MOST_RUNS && row->runs[*count] != NO_RUN; ++*count) {
        uint32_t at = *count;
        double own = merit(comparison, row, (int)at);
        for (; at > 0 && merit(comparison, row, (int)order[at - 1]) < own; at--) {
            order[at] = order[at - 1];
        }
        order[at] = *count;
    }
}

/* Met where each run is better than the one behind it. */
static enum verdict judge_rank(const struct comparison *comparison,
                               const struct comparison_row *row)
{
    for (int i = 0; i + 1 < PAPER_MOST_RUNS && row->runs[i + 1] != NO_RUN; i++) {
        if (merit(comparison, row, i) <= merit(comparison, row, i + 1)) {
            return VERDICT_MISSED;
        }
    }
    return VERDICT_MET;
}

void judge_row(const struct comparison *comparison, struct comparison_row *row)
{
    classify(comparison, row);
    row->predicted = row->error = NAN;
    row->least.curve = row->most.curve = row->suspect.curve = CURVE_COUNT;
    row->verdict = row->row->rank ? judge_rank(comparison, row) : VERDICT_MISSED;
    if (!row->row->rank && row->runs[PAPER_RUN] != NO_RUN) {
        row->predicted = value_at(comparison, row, CURVE_COUNT, 0);
        row->error = error_of(row->row, row->predicted);
        read_ranges(comparison, row);
        row->verdict = fabs(row->error) <= row->tolerance ? VERDICT_MET : VERDICT_MISSED;
    }
    if (row->row->not_comparable != NULL) {
        row->verdict = VERDICT_NOT_COMPARABLE;
    }
}

/* 1 for a time, -1 for a rate, 0 for a row that says nothing of how wrong a rate is. */
static int band_speed(const struct comparison *comparison, const struct comparison_row *row)
{
    const struct paper_row *said = row->row;
    int speed = formula_speed(&said->take);
    bool wide = row->error == 0 && said->most > said->least * (1 + row->tolerance);
    if (row->verdict == VERDICT_NOT_COMPARABLE || isnan(row->error) || wide ||
        said->over.count > 0 || row->runs[PAPER_MINUS] != NO_RUN) {
        return 0;
    }
    uint32_t against = row->runs[PAPER_AGAINST];
    bool steady =
        against == NO_RUN ||
        system_class_of(&comparison->runs[against].setup.mechanisms) == CLASS_BANDWIDTH_BOUND;
    return steady ? speed : 0;
}

void comparison_bands(const struct comparison *comparison,
                      struct error_band bands[SYSTEM_CLASS_COUNT])
{
    memset(bands, 0, SYSTEM_CLASS_COUNT * sizeof *bands);
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        int speed = band_speed(comparison, row);
        if (speed != 0) {
            const struct setup *setup = &comparison->runs[row->runs[PAPER_RUN]].setup;
            double error = speed > 0 ? row->error : 1 / (1 + row->error) - 1;
            error_band_add(&bands[system_class_of(&setup->mechanisms)], error);
        }
    }
}
