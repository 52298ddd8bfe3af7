/* Sentences about the parts of the step and the effect of each figure of the machine. */
#include "cli/runs/explain_table.h"

#include "cli/frame/message.h"
#include "cli/runs/runs_text.h"
#include "cli/runs/sweep_keys.h"
#include "core/text.h"
#include "decode/error_band.h"
#include "predict/answer.h"
#include "predict/result/cell.h"
#include "predict/scenario/point.h"
#include "predict/server/serving_load.h"
#include "tables/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETTING = 256 };

/* "0.3 %", "12 %" */
static void explain_percent(double share, FILE *out)
{
    double percent = 100 * fabs(share);
    fprintf(out, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
}

/* ---- the step -------------------------------------------------------------------------- */

static void print_step(const struct result *result, FILE *out)
{
    double ns = (double)result_cell(result, COLUMN(step_us))->integer;
    const struct result_item *part = result_largest(result, COLUMN(parts_us));
    const struct result_item *stall = result_largest(result, COLUMN(stalls_us));
    double waits = result_number(result, COLUMN(stall));
    fprintf(out, "A step takes %.*f ms. ", ns < 1e8 ? 2 : 1, ns / 1e6);
    fprintf(out, "The largest part of its critical path is %s, ", part->name);
    explain_percent((double)part->ns / ns, out);
    fputs("; the GPU waits for ", out);
    explain_percent(waits, out);
    fputs(" of it", out);
    if (stall != NULL && waits >= EXPLAIN_TOLD) {
        fprintf(out, ", %s for %s", (double)stall->ns >= 0.9 * waits * ns ? "nearly all" : "most",
                stall->name);
    }
    fputs(".", out);
}

/* ---- a run ------------------------------------------------------------------------------ */

static void write_run(const struct explanation *explanation, FILE *out)
{
    const struct result *result = &explanation->result;
    fprintf(out, "%s, batch %" PRId64 ": ", result_cell(result, COLUMN(system))->text,
            result_cell(result, COLUMN(batch))->integer);
    if (result_cell(result, COLUMN(step_us))->set) {
        print_step(result, out);
        explain_helps(explanation, &explanation->times[0], "", out);
        explain_measure_first(explanation, "the step", EXPLAIN_SHOWN, out);
    } else {
        fprintf(out, "%s.", result->message);
    }
}

static bool explain_write_point(const struct scenario *scenario, uint32_t index,
                                struct result *result, const struct run_context *runs, char **shown,
                                FILE *out, struct error *why)
{
    struct point point;
    char name[2 * SETTING], setting[SETTING]; /* "vllm, rate 2" of a sweep, "" of a single run */
    if (!scenario_point(scenario, index, &point, why)) {
        return false;
    }
    sweep_point_setting(scenario->sweep, index, setting, sizeof setting);
    snprintf(name, sizeof name, "%s%s%s", scenario->points > 1 ? point.setup.system.name : "",
             setting[0] != '\0' ? ", " : "", setting);
    bool ok = point_serves(&point)
                  ? explain_server_write(&point, name, result, runs, shown, out, why)
                  : explain_paragraph(&point, "", result, runs, write_run, out, why);
    point_release(&point);
    return ok;
}

/* It is printed when it is whole, in place of the line that shows progress. */
static bool explain_point(const struct scenario *scenario, uint32_t index, struct result *result,
                          const struct run_context *runs, char **shown, struct error *why)
{
    char left[PROGRESS_LEFT];
    struct text_file file;
    progress_show(index, scenario->points, "explaining run %u of %u%s", index + 1, scenario->points,
                  progress_left((double)index / scenario->points, left));
    bool ok = text_open(&file, why) &&
              explain_write_point(scenario, index, result, runs, shown, file.out, why);
    progress_clear();
    char *text = text_close(&file, ok, why);
    ok = text != NULL;
    if (ok && text[0] != '\0') {
        printf("\n%s", text);
    }
    free(text);
    return ok;
}

bool explain_print(const struct scenario *scenario, struct result *results,
                   const struct run_context *runs, struct error *why)
{
    bool ok = true;
    char *shown = NULL;
    for (uint32_t i = 0; ok && i < scenario->points; i++) {
        struct result *result = results != NULL ? &results[i] : NULL;
        if (result == NULL || result_cell(result, COLUMN(status))->set) {
            ok = stop_flag_check(runs->stop, why) &&
                 explain_point(scenario, i, result, runs, &shown, why);
        }
    }
    free(shown);
    return ok;
}

void explain_helps(const struct explanation *explanation, const struct explain_time *time,
                   const char *of, FILE *out)
{
    uint32_t shown = 0;
    bool step = time->column == COLUMN(step_us);
    double ms = (double)result_cell(&explanation->result, time->column)->integer / 1e6;
    for (uint32_t i = 0; i < time->count && shown < EXPLAIN_SHOWN; i++) {
        const struct explain_figure *figure = &time->figures[i];
        if (-figure->better < EXPLAIN_TOLD) {
            break;
        }
        if (shown++ == 0) {
            fprintf(out, " What would help%s%s most: 10 %% %s %s: ", of[0] != '\0' ? " " : "", of,
                    figure->is_more ? "more" : "less", curve_kinds[figure->curve].name);
            explain_percent(figure->better, out);
            /* Requests have not the regularity of steps: their means deserve fewer digits. */
            double less = ms * (1 + figure->better);
            fprintf(out, " off %s, %.*f ms", step ? "the step" : "it",
                    step         ? 2
                    : less < 100 ? 1
                                 : 0,
                    less);
        } else {
            fputs(shown == 2 ? "; then " : ", ", out);
            fprintf(out, "%s ", curve_kinds[figure->curve].name);
            explain_percent(figure->better, out);
        }
    }
    if (shown > 0) {
        fputs(".", out);
    } else {
        fprintf(out, " No single figure of the machine changes %s noticeably.",
                of[0] != '\0' ? of : "it");
    }
}

/* ---- what to measure -------------------------------------------------------------------- */

static int explain_words_by_effect(const void *a, const void *b)
{
    const struct explain_guess *x = a, *y = b;
    if (x->effect != y->effect) {
        return x->effect < y->effect ? 1 : -1;
    }
    return (int)x->curve - (int)y->curve;
}

static void add_guess(struct explain_guess *guesses, uint32_t *count,
                      const struct explain_figure *figure)
{
    double effect = fmax(-figure->better, figure->worse);
    uint32_t place = 0;
    while (place < *count && guesses[place].curve != figure->curve) {
        place++;
    }
    if (place == *count) {
        guesses[(*count)++] = (struct explain_guess){figure->curve, figure->basis, effect};
    }
    guesses[place].effect = fmax(guesses[place].effect, effect);
}

uint32_t explain_guesses(const struct explanation *explanation,
                         struct explain_guess guesses[CURVE_COUNT])
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < explanation->count; t++) {
        const struct explain_time *time = &explanation->times[t];
        for (uint32_t i = 0; i < time->count; i++) {
            if (time->figures[i].basis != BASIS_MEASURED) {
                add_guess(guesses, &count, &time->figures[i]);
            }
        }
    }
    qsort(guesses, count, sizeof *guesses, explain_words_by_effect);
    while (count > 0 && guesses[count - 1].effect < EXPLAIN_TOLD) {
        count--;
    }
    return count;
}

void explain_measure_first(const struct explanation *explanation, const char *on, uint32_t most,
                           FILE *out)
{
    struct explain_guess guesses[CURVE_COUNT];
    uint32_t count = explain_guesses(explanation, guesses);
    for (uint32_t i = 0; i < count && i < most; i++) {
        if (i == 0) {
            fprintf(out, " To measure first (effect of a 10 %% error on %s): ", on);
        }
        fprintf(out, "%s%s (%s) ", i > 0 ? ", " : "", curve_kinds[guesses[i].curve].name,
                basis_name(guesses[i].basis));
        explain_percent(guesses[i].effect, out);
    }
    fputs(count > 0 && most > 0 ? "." : "", out);
}

bool explain_paragraph(const struct point *point, const char *name, struct result *result,
                       const struct run_context *runs, explain_writer *write, FILE *out,
                       struct error *why)
{
    struct explanation explanation;
    struct text_file file;
    if (!explain_run(point, runs, result, &explanation, why)) {
        return false;
    }
    bool ok = text_open(&file, why);
    if (ok) {
        fprintf(file.out, "%s%s", name, name[0] != '\0' ? ": " : "");
        write(&explanation, file.out);
    }
    explanation_release(&explanation);
    char *text = text_close(&file, ok, why);
    ok = text != NULL;
    if (ok) {
        table_line("", text, out);
    }
    free(text);
    return ok;
}

/* A run for programs that judge it, such as the one that holds predictions against published
 * figures: the run's JSON object, with what its error is known for, and the run again with each
 * figure of its machine that has a range, at both ends of that. */

/* The class whose errors the run has, and what else that hangs on. */
static void put_class(const struct point *point, const struct result *result,
                      struct json_writer *json)
{
    char class[ERROR_BAND_NAME];
    const struct setup *setup = &point->setup;
    point_error_class(point, serving_band_load(result), class);
    json_put_text(json, "class", class);
    json_put_text(json, "system", error_band_system(setup));
    json_put_text(json, "profile", setup->profile.name);
    json_put(json, "layers", "%" PRIu32,
             result_cell(result, COLUMN(step_us))->set ? setup->model.layer_count : 0);
}

/* The columns that differ from the run's, without those that a run timed again does not have. */
static void put_changes(const struct result *result, const struct result *end,
                        struct json_writer *json)
{
    char before[CELL_SIZE], after[CELL_SIZE];
    json_begin(json, "changes", '{');
    for (uint32_t i = 0; i < column_count; i++) {
        const struct column *column = column_rows[i];
        const char *old = cell_text(result, column, before), *new = cell_text(end, column, after);
        if (!column_is_text(column) && column->holds != HOLDS_NOTES && old != NULL &&
            new != NULL &&strcmp(old, new) != 0) {
            json_put(json, column->name, "%s", new);
        }
    }
    json_end(json, '}');
}

static void put_ends(const struct point *point, const struct result *result,
                     const struct run_ranges *ranges, struct json_writer *json)
{
    json_begin(json, "ends", '[');
    for (uint32_t i = 0; i < 2 * ranges->count; i++) {
        const struct run_range *range = &ranges->all[i / 2];
        const struct curve *curve = &point->setup.profile.curves[range->curve];
        json_begin(json, NULL, '{');
        json_put_text(json, "figure", curve_kinds[range->curve].name);
        json_put_text(json, "basis", basis_name(curve->basis));
        json_put(json, "share", "%.9g", i % 2 == 0 ? curve->least : curve->most);
        put_changes(result, &range->ends[i % 2], json);
        json_end(json, '}');
    }
    json_end(json, ']');
}

bool explain_print_json(const struct scenario *scenario, uint32_t index,
                        const struct result *result, const struct run_context *runs, FILE *out,
                        struct error *why)
{
    struct json_writer json = {.out = out};
    struct point point;
    struct run_ranges ranges = {.all = NULL};
    if (!scenario_point(scenario, index, &point, why)) {
        return false;
    }
    bool good = point_serves(&point) || answer_ranges(&point, 0, runs, result, &ranges, why);
    good = good && run_begin_json(result, &json, why);
    if (good) {
        json_begin(&json, "explain", '{');
        put_class(&point, result, &json);
        put_ends(&point, result, &ranges, &json);
        json_end(&json, '}');
        json_end(&json, '}');
        fputc('\n', out);
    }
    run_ranges_release(&ranges);
    point_release(&point);
    return good;
}
