/* Sentences about the parts of the step and the effect of each figure of the machine; of a server,
 * its memory. */
#include "cli/runs/explain.h"

#include "cli/frame/table.h"
#include "cli/runs/explain_server.h"
#include "study/sweep/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN = 3, NAME = 64 };

/* Smaller effects, as shares of the step, are not mentioned. */
static const double told = 0.001;

/* "0.3", "12". */
static void print_percent(double share, FILE *out)
{
    double percent = 100 * fabs(share);
    fprintf(out, "%.*f %%", percent < 9.95 ? 1 : 0, percent);
}

/* ---- the step -------------------------------------------------------------------------- */

static int64_t sum(const struct result_item *items, uint32_t count)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        ns += items[i].ns;
    }
    return ns;
}

static void print_step(const struct result *result, FILE *out)
{
    double ns = (double)result->cells[COLUMN_STEP].integer;
    const struct result_item *part = result_largest(result, COLUMN_PARTS);
    const struct result_item *stall = result_largest(result, COLUMN_STALLS);
    double waits = (double)sum(result->stalls, result->stall_count) / ns;
    fprintf(out, "A step takes %.*f ms. ", ns < 1e8 ? 2 : 1, ns / 1e6);
    fprintf(out, "The largest part of its critical path is %s, ", part->name);
    print_percent((double)part->ns / ns, out);
    fputs("; the GPU waits for ", out);
    print_percent(waits, out);
    fputs(" of it", out);
    if (stall != NULL && waits >= told) {
        fprintf(out, ", %s for %s",
                stall->ns * 10 >= sum(result->stalls, result->stall_count) * 9 ? "nearly all"
                                                                               : "most",
                stall->name);
    }
    fputs(".", out);
}

/* ---- what would change it --------------------------------------------------------------- */

static void print_figure(const struct explain_figure *figure, double effect, FILE *out)
{
    fprintf(out, "%s (%s) ", curve_kinds[figure->curve].name, basis_name(figure->basis));
    print_percent(effect, out);
}

static void print_helps(const struct explanation *explanation, FILE *out)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < explanation->count && shown < SHOWN; i++) {
        const struct explain_figure *figure = &explanation->figures[i];
        if (-figure->better < told) {
            break;
        }
        if (shown++ == 0) {
            double ns = (double)explanation->result.cells[COLUMN_STEP].integer;
            fprintf(out, " What would help most: 10 %% %s ", figure->is_more ? "more" : "less");
            fprintf(out, "%s: ", curve_kinds[figure->curve].name);
            print_percent(figure->better, out);
            fprintf(out, " off the step, %.2f ms", ns * (1 + figure->better) / 1e6);
        } else {
            fputs(shown == 2 ? "; then " : ", ", out);
            fprintf(out, "%s ", curve_kinds[figure->curve].name);
            print_percent(figure->better, out);
        }
    }
    fputs(shown > 0 ? "." : " No single figure of the machine changes it noticeably.", out);
}

/* The effect of an error in a figure, whichever way it goes. */
static double error_effect(const struct explain_figure *figure)
{
    return fmax(-figure->better, figure->worse);
}

static int by_error(const void *a, const void *b)
{
    double x = error_effect(a), y = error_effect(b);
    return (x < y) - (x > y);
}

/* The figures that were not measured. */
static void print_measure_first(const struct explanation *explanation, FILE *out)
{
    struct explain_figure guessed[CURVE_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < explanation->count; i++) {
        const struct explain_figure *figure = &explanation->figures[i];
        if (figure->basis != BASIS_MEASURED && error_effect(figure) >= told) {
            guessed[count++] = *figure;
        }
    }
    qsort(guessed, count, sizeof *guessed, by_error);
    fputs(count > 0 ? " To measure first (effect of a 10 % error on the step): " : "", out);
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_figure(&guessed[i], error_effect(&guessed[i]), out);
    }
    fputs(count > 0 ? "." : "", out);
}

/* ---- a run ------------------------------------------------------------------------------ */

static bool print_explanation(const struct explanation *explanation, struct error *why)
{
    const struct result *result = &explanation->result;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return error_set(why, NULL, 0, "out of memory");
    }
    fprintf(out, "%s, batch %" PRId64 ": ", result->cells[COLUMN_SYSTEM].text,
            result->cells[COLUMN_BATCH].integer);
    if (result->cells[COLUMN_STEP].set) {
        print_step(result, out);
        print_helps(explanation, out);
        print_measure_first(explanation, out);
    } else {
        fprintf(out, "%s.", result->message);
    }
    bool ok = fclose(out) == 0 || error_set(why, NULL, 0, "out of memory");
    if (ok) {
        fputs("\n", stdout);
        table_line("", text, stdout);
    }
    free(text);
    return ok;
}

static bool explain_point(const struct scenario *scenario, uint32_t index,
                          const struct run_context *runs, struct error *why)
{
    struct point point;
    struct explanation explanation;
    if (!scenario_point(scenario, index, &point, why)) {
        return false;
    }
    bool ok = point_serves(&point) ? explain_server_print(&point, runs, why)
                                   : explain_run(&point, runs, &explanation, why);
    if (ok && !point_serves(&point)) {
        ok = print_explanation(&explanation, why);
        explanation_release(&explanation);
    }
    point_release(&point);
    return ok;
}

bool explain_print(const struct scenario *scenario, const struct run_context *runs,
                   struct error *why)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < scenario->points; i++) {
        ok = stop_flag_check(runs->stop, why) && explain_point(scenario, i, runs, why);
    }
    return ok;
}
