/* `spillway compare`: predictions beside published figures, as Markdown; or beside measurements of
 * a server. */
#include "base/units.h"
#include "cli/compare.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/question.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "hardware/profile.h"
#include "store/store.h"
#include "study/papers/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MEASURED, OUTPUT, ERRORS, JOBS };

static const struct command_option options[] = {
    [MEASURED] = {.name = "--measured",
                  .argument = "FILE",
                  .summary = "measurements of a server, to compare with a database's runs: a "
                             "benchmark of vLLM or SGLang, or a JSON line per request with "
                             "queued_ts, first_token_ts and last_token_ts in seconds, and "
                             "output_toks"},
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .summary = "with --measured: also draw both distributions, as 'plot requests' "
                           "does; .svg, .png or .pdf"},
    [ERRORS] = {.name = "--errors",
                .argument = "FILE",
                .summary = "write the resulting error bands to this file, by class of system"},
    [JOBS] = JOBS_OPTION,
    {.name = NULL},
};

enum { TEXT = 128 };

/* ---- a row ---- */

static void print_percent(double share, FILE *out)
{
    double percent = fabs(share) < 0.0005 ? 0 : 100 * share; /* no "-0.0" */
    fprintf(out, "%s%.*f %%", percent > 0 ? "+" : "", fabs(percent) < 9.95 ? 1 : 0, percent);
}

/* Print the systems of a ranking, in the published or in the predicted order. */
static void print_order(const struct comparison *comparison, const struct comparison_row *row,
                        bool predicted, FILE *out)
{
    uint32_t order[PAPER_MOST_RUNS], count;
    comparison_order(comparison, row, order, &count);
    for (uint32_t i = 0; i < count; i++) {
        int run = (int)(predicted ? order[i] : i);
        fprintf(out, "%s%s", i > 0 ? ", " : "",
                comparison_result(comparison, row, run)->cells[COLUMN_SYSTEM].text);
    }
}

static void print_predicted(const struct comparison *comparison, const struct comparison_row *row,
                            FILE *out)
{
    char text[TEXT];
    const struct result *result = comparison_decides(comparison, row, PAPER_RUN);
    if (row->row->rank) {
        print_order(comparison, row, true, out);
    } else if (!isnan(row->predicted) && row->row->most > 0) {
        fputs(units_format(row->predicted, row->row->unit, text, sizeof text), out);
    } else if (result != NULL && !result->cells[COLUMN_STEP].set) {
        fputs(result->cells[COLUMN_STATUS].text, out);
    }
}

/* Is the row one hit ratio, with one published value? */
static bool is_hit_ratio(const struct comparison_row *row)
{
    const struct paper_row *said = row->row;
    return said->take.count == 1 && said->take.terms[0].column == COLUMN_HIT_RATIO &&
           said->over.count == 0 && row->runs[PAPER_MINUS] == COMPARISON_NO_RUN &&
           row->runs[PAPER_AGAINST] == COMPARISON_NO_RUN && said->least == said->most &&
           said->most < 1;
}

static void print_error(const struct comparison_row *row, FILE *out)
{
    const char *bold = row->verdict == VERDICT_MISSED ? "**" : "";
    if (isnan(row->error)) {
        return;
    }
    fputs(bold, out);
    print_percent(row->error, out);
    fputs(bold, out);
    if (is_hit_ratio(row)) { /* what crosses the link; not judged */
        fprintf(out, ", misses %.2fx", (1 - row->predicted) / (1 - row->row->most));
    }
}

static void print_ranges(const struct comparison_row *row, FILE *out)
{
    if (row->least.name == NULL && row->most.name == NULL) {
        return;
    }
    print_percent(row->least.error, out);
    fputs(" … ", out);
    print_percent(row->most.error, out);
}

static void compare_print_row(const struct comparison *comparison, const struct comparison_row *row,
                              FILE *out)
{
    const char *bold = row->verdict == VERDICT_MISSED ? "**" : "";
    fprintf(out, "| %s | %s | ", row->row->what, row->class_name != NULL ? row->class_name : "");
    if (row->row->rank) {
        print_order(comparison, row, false, out);
    } else {
        fputs(row->row->published, out);
    }
    fputs(" | ", out);
    print_predicted(comparison, row, out);
    fputs(" | ", out);
    print_error(row, out);
    fputs(" | ", out);
    print_ranges(row, out);
    fprintf(out, " | %s%s%s |\n", bold, verdict_names[row->verdict], bold);
}

/* ---- the likely cause of a miss ---- */

/* The likely cause of a missed time: a figure of the machine or a key, and the largest part of the
 * step. */
static void print_suspect(const struct comparison_end *suspect, const struct result *result,
                          FILE *out)
{
    const struct result_item *part = result_largest(result, COLUMN_PARTS);
    if (suspect->name == NULL) {
        fputs(" no figure's range brings it nearer.", out);
    } else {
        fprintf(out, " `%s` (%s) ", suspect->name, basis_name(suspect->basis));
        if (suspect->value != NULL) {
            fprintf(out, "%s %s", suspect->error == 0 ? "towards" : "at", suspect->value);
        } else {
            fprintf(out, "at %s%.0f %% of its value", suspect->error == 0 ? "about " : "",
                    100 * suspect->share);
        }
        fputs(suspect->error == 0 ? " would meet the row." : " would leave ", out);
        if (suspect->error != 0) {
            print_percent(suspect->error, out);
            fputc('.', out);
        }
    }
    fprintf(out, " Largest part of the step: %s, %.0f %%.", part->name,
            100 * (double)part->ns / (double)result->cells[COLUMN_STEP].integer);
}

static void print_cause(const struct comparison *comparison, const struct comparison_row *row,
                        FILE *out)
{
    const struct result *result = comparison_decides(comparison, row, PAPER_RUN);
    if (row->row->rank || result == NULL || row->class_name == comparison_pool_class) {
        return;
    }
    if (!result->cells[COLUMN_STEP].set) {
        fprintf(out, " %s.", result->message);
    } else if (row->class_name == comparison_trace_class) {
        fprintf(out, " its hits come from %s.", result->cells[COLUMN_TRACE_SOURCE].text);
    } else {
        print_suspect(&row->suspect, result, out);
    }
}

/* For a row across several cases: the case at its end, the run it was divided by, what was left
 * out. */
static void print_case(const struct comparison *comparison, const struct comparison_row *row,
                       FILE *out)
{
    char name[TEXT];
    uint32_t runs, unfit = comparison_unfit(comparison, row, &runs);
    const struct result *against = comparison_decides(comparison, row, row->at.against);
    if (isnan(row->predicted)) {
        return;
    }
    paper_case_name(row->row, row->at.which, name, sizeof name);
    fprintf(out, " Read at %s", name);
    if (row->at.against != PAPER_RUN) {
        fprintf(out, ", against %s", against->cells[COLUMN_SYSTEM].text);
    }
    fputc('.', out);
    if (unfit > 0) {
        fprintf(out, " %" PRIu32 " of %" PRIu32 " runs do not fit the memory and are left out.",
                unfit, runs);
    }
}

/* Rows of one sweep share their texts: a reason is printed at the first, a note at the last. */
static void print_remark(const struct comparison *comparison, size_t index, FILE *out)
{
    const struct comparison_row *row = &comparison->rows[index];
    const struct paper_row *said = row->row;
    const struct comparison_row *before = index > 0 ? row - 1 : NULL;
    const struct comparison_row *behind = index + 1 < comparison->row_count ? row + 1 : NULL;
    bool reason = said->not_comparable != NULL &&
                  (before == NULL || before->row->not_comparable != said->not_comparable);
    bool note = said->note != NULL && (behind == NULL || behind->row->note != said->note);
    bool missed = row->verdict == VERDICT_MISSED && !said->served; /* servers have no ranges */
    bool across = said->case_count > 1;
    if (!reason && !note && !missed && !across) {
        return;
    }
    fprintf(out, "- *%s*:", said->what);
    if (reason && said->used != NULL) {
        fprintf(out, " used for %s.", said->used);
    } else if (reason) {
        fprintf(out, " %s.", said->not_comparable);
    }
    if (missed) {
        print_cause(comparison, row, out);
    }
    if (note) {
        fprintf(out, " %s.", said->note);
    }
    if (across) {
        print_case(comparison, row, out);
    }
    fputc('\n', out);
}

/* ---- the page ---- */

static void print_paper(const struct comparison *comparison, const struct paper *paper, FILE *out)
{
    fprintf(out,
            "\n## %s: %s\n\n"
            "| what | class | published | predicted | error | over ranges | verdict |\n"
            "|---|---|---|---|---|---|---|\n",
            paper->title, paper->figure);
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (comparison->rows[i].paper == paper) {
            compare_print_row(comparison, &comparison->rows[i], out);
        }
    }
    fputc('\n', out);
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (comparison->rows[i].paper == paper) {
            print_remark(comparison, i, out);
        }
    }
}

/* Write the bands; of those that do not stand, how far figures lay from predictions. */
static bool write_errors(const char *path, const struct class_errors errors[ERROR_BAND_COUNT],
                         struct error *why)
{
    struct error_band bands[ERROR_BAND_COUNT] = {{.rows = 0}};
    struct output output;
    if (path == NULL) {
        return true;
    }
    if (!output_open(path, &output, why)) {
        return false;
    }
    for (int i = 0; i < ERROR_BAND_COUNT; i++) {
        if (!class_errors_tell(i, &errors[i])) {
            continue;
        }
        bands[i] = errors[i].band;
        bands[i].falls = !class_errors_band_stands(&errors[i]);
        bands[i].median = errors[i].median;
        bands[i].below = errors[i].below;
    }
    error_band_write(bands, output.file);
    return output_commit(&output, why);
}

static bool compare_files(const char *const *files, uint32_t count,
                          const struct arguments *arguments, uint32_t threads, struct error *why)
{
    struct comparison comparison;
    struct class_errors errors[ERROR_BAND_COUNT];
    bool good = comparison_create(files, count, threads, progress_runs, &comparison, why);
    progress_clear();
    if (!good) {
        return false;
    }
    for (size_t i = 0; i < comparison.paper_count; i++) {
        print_paper(&comparison, &comparison.papers[i], stdout);
    }
    good = compare_print_summary(&comparison, errors, stdout, why) &&
           write_errors(arguments_text(arguments, ERRORS), errors, why);
    comparison_release(&comparison);
    return good;
}

/* A database alone holds only predictions: there is nothing to compare them with. */
static bool check_papers(const char *const *files, uint32_t count, struct error *why)
{
    for (uint32_t i = 0; i < count; i++) {
        if (store_is_database(files[i])) {
            error_usage(why, NULL, 0, "'%s' is a database, and --measured is missing", files[i]);
            return error_expect(why, "--measured FILE, saved by a server's benchmark; or paper "
                                     "files, such as scenarios/papers/geometry.yaml");
        }
    }
    return true;
}

static bool compare_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count, jobs;
    const char *const *files = arguments_operands(arguments, &count);
    const char *measured = arguments_text(arguments, MEASURED);
    if (!question_jobs(arguments, &jobs, why)) {
        return false;
    }
    const char *picture = arguments_text(arguments, OUTPUT);
    if (picture != NULL && measured == NULL) {
        return error_usage(why, NULL, 0, "'--output' draws what '--measured' names");
    }
    if (measured != NULL) {
        return count == 1 ? compare_measured(files[0], measured, picture, why)
                          : error_usage(why, NULL, 0, "'--measured' needs exactly one database");
    }
    return check_papers(files, count, why) && compare_files(files, count, arguments, jobs, why);
}

const struct command command_compare = {
    .name = "compare",
    .operands = "FILE...|DB",
    .least_operands = 1,
    .most_operands = COMMAND_MANY,
    .summary = "compare predictions with published figures, or with measurements of a server",
    .example = "spillway compare scenarios/papers/geometry.yaml\n"
               "spillway compare results.db --measured benchmark.json",
    .options = options,
    .run = compare_run,
};
