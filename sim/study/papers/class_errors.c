#include "study/papers/class_errors.h"

#include "base/array.h"
#include "model/parallel.h"
#include "scenario/resolve_band.h"
#include "serving/serving_load.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A band from half of a figure to twice it tells nobody anything. */
#define WIDEST 2.0

/* The row's factor, or 0 if it has none. */
static double factor_of(const struct comparison_row *row)
{
    const struct paper_row *said = row->row;
    bool wide = said->most > said->least * (1 + row->tolerance);
    if (said->rank || row->verdict == VERDICT_NOT_COMPARABLE || !(row->error > -1) ||
        (wide && row->verdict == VERDICT_MET)) {
        return 0;
    }
    return exp(fabs(log1p(row->error)));
}

static const struct setup *setup_of(const struct comparison *comparison,
                                    const struct comparison_row *row, int role)
{
    return &comparison->runs[row->runs[role]].point.setup;
}

/* Does the row show how wrong the rate of a whole step is? */
static bool times_step(const struct comparison *comparison, const struct comparison_row *row)
{
    const struct paper_row *said = row->row;
    if (said->served) {
        return true;
    }
    if (formula_speed(&said->take) == 0 || said->over.count > 0 ||
        row->runs[PAPER_MINUS] != COMPARISON_NO_RUN) {
        return false;
    }
    return row->runs[PAPER_AGAINST] == COMPARISON_NO_RUN ||
           system_class_of(setup_of(comparison, row, PAPER_AGAINST)) == CLASS_BANDWIDTH_BOUND;
}

/* A row of the band. */
struct step_row {
    const struct comparison_row *row;
    const struct setup *setup;
    double factor;
};

static bool same_paper(const struct step_row *a, const struct step_row *b)
{
    return strcmp(a->row->paper->title, b->row->paper->title) == 0;
}

/* Are two rows of different papers and of different machines? */
static bool unrelated(const struct step_row *a, const struct step_row *b)
{
    return !same_paper(a, b) && strcmp(a->setup->profile.name, b->setup->profile.name) != 0;
}

static void test_band(const struct step_row *rows, uint32_t count, struct class_errors *out)
{
    for (uint32_t i = 0; i < count; i++) {
        double others = 0;
        for (uint32_t j = 0; j < count; j++) {
            others = unrelated(&rows[i], &rows[j]) ? fmax(others, rows[j].factor) : others;
        }
        if (others > 0 && !rows[i].row->paper->used) {
            out->tested++;
            out->inside += rows[i].factor <= others;
        }
    }
}

/* The factor is rounded up to two decimals, as the file of bands has it. */
static void class_errors_make_band(const struct step_row *rows, uint32_t count,
                                   struct class_errors *out)
{
    for (uint32_t i = 0; i < count; i++) {
        char machine[ERROR_BAND_MACHINE];
        error_band_machine(rows[i].setup, machine, sizeof machine);
        bool served = rows[i].row->row->served;
        error_band_add(&out->band, machine, served ? NULL : error_band_system(rows[i].setup),
                       rows[i].factor);
        out->below += rows[i].row->error < 0;
        bool counted = false;
        for (uint32_t j = 0; j < i; j++) {
            counted = counted || same_paper(&rows[i], &rows[j]);
        }
        out->papers += !counted;
    }
    out->band.factor = ceil(100 * out->band.factor - 1e-6) / 100;
    test_band(rows, count, out);
}

/* Is the row one of the band at `place`? The TTFT of a saturated server is the length of its queue. */
static bool is_of_band(const struct comparison *comparison, const struct comparison_row *row,
                       int place)
{
    if (place < SYSTEM_CLASS_COUNT) {
        return row->class_name == error_band_names[place];
    }
    if (!row->row->served || row->runs[PAPER_RUN] == COMPARISON_NO_RUN) {
        return false;
    }
    const struct comparison_run *run = &comparison->runs[row->runs[PAPER_RUN]];
    const struct setup *setup = &run->point.setup;
    struct band_server band = error_band_server(place);
    return band.load == serving_band_load(&run->result) && row->row->figure == band.figure &&
           !(band.load == BAND_SATURATED && band.figure == BAND_TTFT) &&
           model_is_routed(&setup->model) == band.experts &&
           (band.machines == BAND_MACHINES_ALL || band.machines == resolve_band_machines(setup));
}

static void take_median(double *logs, struct class_errors *out)
{
    if (out->rows > 0) {
        gsl_sort(logs, 1, out->rows);
        out->median = exp(gsl_stats_median_from_sorted_data(logs, 1, out->rows));
    }
}

bool class_errors_band_held(const struct class_errors *errors)
{
    return errors->tested > 0 && 2 * errors->inside >= errors->tested;
}

bool class_errors_band_stands(const struct class_errors *errors)
{
    return class_errors_band_held(errors) && errors->band.factor <= WIDEST;
}

bool class_errors_of(const struct comparison *comparison, const char *class_name,
                     struct class_errors *out, struct error *why)
{
    double *logs = array_zeroed(comparison->row_count, sizeof *logs, why);
    *out = (struct class_errors){.rows = 0};
    for (size_t i = 0; logs != NULL && i < comparison->row_count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        double factor = row->class_name == class_name ? factor_of(row) : 0;
        if (factor > 0) {
            logs[out->rows++] = log(factor);
        }
    }
    take_median(logs, out);
    free(logs);
    return logs != NULL;
}

bool class_errors_tell(int place, const struct class_errors *errors)
{
    bool part =
        place >= SYSTEM_CLASS_COUNT && error_band_server(place).machines != BAND_MACHINES_ALL;
    return errors->band.rows > 0 && (!part || errors->papers > 1);
}

/* `logs` and `steps` have room for all rows. */
static void class_errors_collect(const struct comparison *comparison, int place, double *logs,
                                 struct step_row *steps, struct class_errors *out)
{
    uint32_t step_count = 0;
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        double factor = is_of_band(comparison, row, place) ? factor_of(row) : 0;
        if (factor > 0) {
            logs[out->rows++] = log(factor);
        }
        if (factor > 0 && times_step(comparison, row)) {
            steps[step_count++] =
                (struct step_row){row, setup_of(comparison, row, PAPER_RUN), factor};
        }
    }
    take_median(logs, out);
    class_errors_make_band(steps, step_count, out);
}

bool class_errors_of_band(const struct comparison *comparison, int place, struct class_errors *out,
                          struct error *why)
{
    double *logs = array_zeroed(comparison->row_count, sizeof *logs, why);
    struct step_row *steps =
        logs != NULL ? array_zeroed(comparison->row_count, sizeof *steps, why) : NULL;
    *out = (struct class_errors){.rows = 0};
    if (steps != NULL) {
        class_errors_collect(comparison, place, logs, steps, out);
    }
    free(logs);
    free(steps);
    return steps != NULL;
}
