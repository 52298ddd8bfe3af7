/* Sentences about the parts of the step and the effect of each figure of the machine. */
#include "cli/runs/explain.h"

#include "cli/frame/progress.h"
#include "answer/table.h"
#include "cli/runs/explain_server.h"
#include "cli/runs/explain_words.h"
#include "cli/runs/sweep_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETTING = 256 };

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
    explain_percent((double)part->ns / ns, out);
    fputs("; the GPU waits for ", out);
    explain_percent(waits, out);
    fputs(" of it", out);
    if (stall != NULL && waits >= EXPLAIN_TOLD) {
        fprintf(out, ", %s for %s",
                stall->ns * 10 >= sum(result->stalls, result->stall_count) * 9 ? "nearly all"
                                                                               : "most",
                stall->name);
    }
    fputs(".", out);
}

/* ---- a run ------------------------------------------------------------------------------ */

static bool write_explanation(const struct explanation *explanation, FILE *all, struct error *why)
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
        explain_helps(explanation, &explanation->times[0], "", out);
        explain_measure_first(explanation, "the step", EXPLAIN_SHOWN, out);
    } else {
        fprintf(out, "%s.", result->message);
    }
    bool ok = fclose(out) == 0 || error_set(why, NULL, 0, "out of memory");
    if (ok) {
        table_line("", text, all);
    }
    free(text);
    return ok;
}

/* "vllm, rate 2" of a sweep, "" of a single run. */
static void name_run(const struct scenario *scenario, uint32_t index, const struct point *point,
                     char *name, size_t size)
{
    char setting[SETTING];
    sweep_point_setting(scenario->sweep, index, setting, sizeof setting);
    snprintf(name, size, "%s%s%s", scenario->points > 1 ? point->setup.system.name : "",
             setting[0] != '\0' ? ", " : "", setting);
}

static bool write_point(const struct scenario *scenario, uint32_t index,
                        const struct run_context *runs, char **shown, FILE *out, struct error *why)
{
    struct point point;
    struct explanation explanation;
    char name[2 * SETTING];
    if (!scenario_point(scenario, index, &point, why)) {
        return false;
    }
    name_run(scenario, index, &point, name, sizeof name);
    bool serves = point_serves(&point);
    bool ok = serves ? explain_server_write(&point, name, runs, shown, out, why)
                     : explain_run(&point, runs, &explanation, why);
    if (ok && !serves) {
        ok = write_explanation(&explanation, out, why);
        explanation_release(&explanation);
    }
    point_release(&point);
    return ok;
}

/* It is printed when it is whole, in place of the line that shows progress. */
static bool explain_point(const struct scenario *scenario, uint32_t index,
                          const struct run_context *runs, char **shown, struct error *why)
{
    char *text = NULL, left[PROGRESS_LEFT];
    size_t size = 0;
    progress_show("explaining run %u of %u%s", index + 1, scenario->points,
                  progress_left((double)index / scenario->points, left));
    FILE *out = open_memstream(&text, &size);
    bool ok = out != NULL && write_point(scenario, index, runs, shown, out, why);
    progress_clear();
    ok = out != NULL && (fclose(out) == 0 || error_set(why, NULL, 0, "out of memory")) && ok;
    if (ok && size > 0) {
        printf("\n%s", text);
    }
    free(text);
    return ok || (out == NULL && error_set(why, NULL, 0, "out of memory"));
}

bool explain_print(const struct scenario *scenario, const struct run_context *runs,
                   struct error *why)
{
    bool ok = true;
    char *shown = NULL;
    for (uint32_t i = 0; ok && i < scenario->points; i++) {
        ok = stop_flag_check(runs->stop, why) && explain_point(scenario, i, runs, &shown, why);
    }
    free(shown);
    return ok;
}
