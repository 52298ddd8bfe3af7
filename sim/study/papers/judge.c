/* Reads a row off its runs: value, error, verdict, and the explanation of a miss. */
#include "study/papers/comparison.h"

#include "decode/system.h"
#include "model/parallel.h"
#include "serving/serving_load.h"

#include <math.h>

const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_MET] = "met",
    [VERDICT_MISSED] = "missed",
    [VERDICT_NOT_COMPARABLE] = "not comparable",
};

/* The tolerances of the classes. Geometry is exact except for rounding. A hit ratio may be off as
 * far as that of a trace that is carried to another context. A server's KV pool is what its engine
 * finds by a measurement of its own. */
const char comparison_geometry_class[] = "geometry";
const char comparison_trace_class[] = "trace";
const char comparison_pool_class[] = "pool";
const char comparison_saturated_class[] = "saturated server";
const char comparison_rank_class[] = "ranking";
#define GEOMETRY_TOLERANCE 1e-9
#define TRACE_TOLERANCE 0.05
#define POOL_TOLERANCE 0.05
#define DENSE_TOLERANCE 0.10
#define EXPERTS_TOLERANCE 0.15
static const double tolerances[SYSTEM_CLASS_COUNT] = {
    [CLASS_BANDWIDTH_BOUND] = 0.10, [CLASS_GPU_MANAGED] = 0.10,
    [CLASS_CPU_MANAGED] = 0.30,     [CLASS_DISK] = 0.30,
    [CLASS_DRAFTS] = 0.10,
};

#define NO_RUN COMPARISON_NO_RUN

/* The results that a case is read off. Memory does not depend on a figure's range: `at` lacks it
 * and `own` has it. */
struct judge_view {
    const struct result *at[PAPER_ROLES], *own[PAPER_ROLES]; /* NULL: the case has no such run */
};

/* One thing that is changed in all runs of a row: a figure of the machine, or a key that the
 * paper's file calls assumed. */
struct change {
    enum curve_id curve; /* CURVE_COUNT: none */
    uint32_t assumed;    /* an index, if no figure is changed; NO_RUN: nothing is */
    int end;
};

static const struct change unchanged = {CURVE_COUNT, NO_RUN, 0};

static const struct result *result_of(const struct comparison *comparison, uint32_t run)
{
    return run == NO_RUN ? NULL : &comparison->runs[run].result;
}

/* The result of a run with a figure of the machine at an end of its range. Sets `moved` to the
 * figure if the run reads it. */
static const struct result *moved_result(const struct comparison *comparison, uint32_t index,
                                         struct change change, const struct curve **moved)
{
    const struct comparison_run *run = &comparison->runs[index];
    for (uint32_t i = 0; i < run->ranges.count; i++) {
        if (run->ranges.all[i].curve == change.curve) {
            *moved = &run->point.setup.profile.curves[change.curve];
            return &run->ranges.all[i].ends[change.end];
        }
    }
    return &run->result;
}

static struct judge_view view_of(const struct comparison *comparison,
                                 const struct comparison_row *row, uint32_t which,
                                 struct change change, const struct curve **moved)
{
    struct judge_view view;
    for (int role = PAPER_RUN; role < PAPER_ROLES; role++) {
        uint32_t run = row->runs[which * PAPER_ROLES + (uint32_t)role];
        view.own[role] = view.at[role] = result_of(comparison, run);
        if (change.assumed != NO_RUN) {
            view.at[role] = result_of(comparison, row->assumed[change.assumed][change.end][role]);
        } else if (run != NO_RUN) {
            view.at[role] = moved_result(comparison, run, change, moved);
        }
    }
    return view;
}

static double judge_take(const struct formula *formula, const struct judge_view *view, int role)
{
    double value = formula_value(formula, view->at[role]);
    return isnan(value) ? formula_value(formula, view->own[role]) : value;
}

/* The role of the best run to divide by, or PAPER_RUN if there is none. Of several, those that do
 * not fit are left out. */
static int best_against(const struct paper_row *row, const struct judge_view *view)
{
    int best = view->at[PAPER_AGAINST] != NULL ? PAPER_AGAINST : PAPER_RUN;
    double speed = formula_speed(&row->take), least = NAN;
    for (int role = PAPER_AGAINST; role < PAPER_ROLES && view->at[role] != NULL; role++) {
        double value = speed * judge_take(&row->take, view, role);
        if (!isnan(value) && !(least <= value)) {
            least = value;
            best = role;
        }
    }
    return best;
}

static double judge_value_of(const struct paper_row *row, const struct judge_view *view, int best)
{
    double value = judge_take(&row->take, view, PAPER_RUN);
    if (view->at[PAPER_MINUS] != NULL) {
        value -= judge_take(&row->take, view, PAPER_MINUS);
    }
    bool own = best == PAPER_RUN || row->over.count > 0;
    value /= judge_take(own ? &row->over : &row->take, view, best);
    return row->unit == UNIT_BYTES_PER_S ? value * 1e9 : value;
}

/* Read a row off its cases. NaN if none fits. `at`: the case and role, by value, that decide. */
static double value_across(const struct comparison *comparison, const struct comparison_row *row,
                           struct change change, const struct curve **moved,
                           struct comparison_place *at)
{
    double found = NAN;
    *at = (struct comparison_place){0, PAPER_RUN};
    for (uint32_t i = 0; i < row->row->case_count; i++) {
        const struct judge_view view = view_of(comparison, row, i, change, moved);
        int best = best_against(row->row, &view);
        double value = judge_value_of(row->row, &view, best);
        bool nearer = row->row->end == PAPER_LEAST ? value < found : value > found;
        if (nearer || (isnan(found) && !isnan(value))) {
            found = value;
            *at = (struct comparison_place){i, best};
        }
    }
    return found;
}

static double judge_error_of(const struct paper_row *row, double predicted)
{
    if (row->most == 0) { /* published without a figure */
        return NAN;
    }
    if (isnan(predicted)) { /* a run that was published, but does not fit by the prediction */
        return -1;
    }
    return predicted < row->least  ? predicted / row->least - 1
           : predicted > row->most ? predicted / row->most - 1
                                   : 0;
}

/* If an end overshoots, replace it by the share of the figure at which the error is about 0, found
 * by linear interpolation. */
static struct comparison_end reaching(const struct comparison_row *row, struct comparison_end end)
{
    if (row->error * end.error <= 0 && row->error != end.error) {
        double way = row->error / (row->error - end.error);
        end.share = 1 + way * (end.share - 1);
        end.error = 0;
    }
    return end;
}

/* Is `end` a better explanation than the one so far? */
static bool explains_better(const struct comparison_end *so_far, struct comparison_end end)
{
    if (fabs(end.error) != fabs(so_far->error) || so_far->name == NULL) {
        return fabs(end.error) < fabs(so_far->error);
    }
    return end.basis != so_far->basis ? end.basis > so_far->basis
                                      : fabs(log(end.share)) < fabs(log(so_far->share));
}

static void note_end(struct comparison_row *row, struct comparison_end end)
{
    if (end.error < row->least.error) {
        row->least = end;
    }
    if (end.error > row->most.error) {
        row->most = end;
    }
    end = reaching(row, end);
    if (explains_better(&row->suspect, end)) {
        row->suspect = end;
    }
}

/* Change one thing at a time: first the figures of the machine, then the paper's assumed keys. */
static void read_ranges(const struct comparison *comparison, struct comparison_row *row)
{
    const struct paper_row *said = row->row;
    struct comparison_place at;
    row->least = row->most = row->suspect = (struct comparison_end){.error = row->error};
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        for (int end = 0; end < 2; end++) {
            const struct curve *curve = NULL;
            double value =
                value_across(comparison, row, (struct change){id, NO_RUN, end}, &curve, &at);
            if (curve != NULL) {
                note_end(row, (struct comparison_end){curve_kinds[id].name, curve->basis,
                                                      end == 0 ? curve->least : curve->most, NULL,
                                                      judge_error_of(said, value)});
            }
        }
    }
    for (uint32_t i = 0; i < said->assumed_count; i++) {
        for (int end = 0; end < 2; end++) {
            const struct curve *none;
            double value =
                value_across(comparison, row, (struct change){CURVE_COUNT, i, end}, &none, &at);
            note_end(row, (struct comparison_end){said->assumed[i].key, BASIS_ASSUMED, 1,
                                                  said->assumed[i].values[end],
                                                  judge_error_of(said, value)});
        }
    }
}

/* Are all terms columns from `first` to `last`? */
static bool judge_within(const struct formula *formula, enum column first, enum column last)
{
    bool all = true;
    for (uint32_t i = 0; i < formula->count; i++) {
        enum column column = formula->terms[i].column;
        all = all && column >= first && column <= last;
    }
    return all;
}

/* A server's figures are judged by kind of model, unless it holds requests back. */
static void classify_served(const struct comparison *comparison, struct comparison_row *row)
{
    const struct comparison_run *run = &comparison->runs[row->runs[PAPER_RUN]];
    bool experts = model_is_routed(&run->point.setup.model);
    row->class_name = serving_saturated(&run->result)
                          ? comparison_saturated_class
                          : error_band_names[error_band_of_server((struct band_server){
                                .experts = experts, .figure = row->row->figure})];
    row->tolerance =
        experts || serving_saturated(&run->result) ? EXPERTS_TOLERANCE : DENSE_TOLERANCE;
}

/* Set the class of the row by what it depends on: bytes, demands, or the clock. */
static void classify(const struct comparison *comparison, struct comparison_row *row)
{
    const struct paper_row *said = row->row;
    if (said->rank) {
        row->class_name = comparison_rank_class;
    } else if (row->runs[PAPER_RUN] == NO_RUN) {
        row->class_name = NULL;
    } else if (said->served) {
        classify_served(comparison, row);
    } else if (judge_within(&said->take, COLUMN_BUDGET_BYTES, COLUMN_LIMITED_BY) &&
               judge_within(&said->over, COLUMN_BUDGET_BYTES, COLUMN_LIMITED_BY)) {
        row->class_name = comparison_geometry_class;
        row->tolerance = GEOMETRY_TOLERANCE;
    } else if (judge_within(&said->take, COLUMN_HIT_RATIO, COLUMN_OUT_BYTES) &&
               judge_within(&said->over, COLUMN_HIT_RATIO, COLUMN_OUT_BYTES)) {
        row->class_name = comparison_trace_class;
        row->tolerance = TRACE_TOLERANCE;
    } else if (judge_within(&said->take, COLUMN_KV_BLOCKS, COLUMN_KV_BLOCKS)) {
        row->class_name = comparison_pool_class;
        row->tolerance = POOL_TOLERANCE;
    } else {
        enum system_class class =
            system_class_of(&comparison->runs[row->runs[PAPER_RUN]].point.setup);
        row->class_name = error_band_names[class];
        row->tolerance = tolerances[class];
    }
}

/* The figure that a rank sorts by, larger first; a run without it comes last. */
static double judge_merit(const struct comparison *comparison, const struct comparison_row *row,
                          int run)
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
        double own = judge_merit(comparison, row, (int)at);
        for (; at > 0 && judge_merit(comparison, row, (int)order[at - 1]) < own; at--) {
            order[at] = order[at - 1];
        }
        order[at] = *count;
    }
}

/* Met if each run is better than the next. */
static enum verdict judge_rank(const struct comparison *comparison,
                               const struct comparison_row *row)
{
    for (int i = 0; i + 1 < PAPER_MOST_RUNS && row->runs[i + 1] != NO_RUN; i++) {
        if (judge_merit(comparison, row, i) <= judge_merit(comparison, row, i + 1)) {
            return VERDICT_MISSED;
        }
    }
    return VERDICT_MET;
}

void judge_row(const struct comparison *comparison, struct comparison_row *row)
{
    classify(comparison, row);
    row->predicted = row->error = NAN;
    row->verdict = row->row->rank ? judge_rank(comparison, row) : VERDICT_MISSED;
    if (!row->row->rank && row->runs[PAPER_RUN] != NO_RUN) {
        const struct curve *none;
        row->predicted = value_across(comparison, row, unchanged, &none, &row->at);
        row->error = judge_error_of(row->row, row->predicted);
        read_ranges(comparison, row);
        row->verdict = fabs(row->error) <= row->tolerance ? VERDICT_MET : VERDICT_MISSED;
    }
    if (row->row->not_comparable != NULL) {
        row->verdict = VERDICT_NOT_COMPARABLE;
    }
}
