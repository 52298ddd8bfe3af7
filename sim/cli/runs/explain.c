/* Sentences about the parts of the step and the effect of each figure of the machine. */
#include "cli/runs/explain.h"

#include "core/text.h"
#include "cli/frame/progress.h"
#include "cli/runs/explain_words.h"
#include "cli/runs/sweep_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETTING = 256 };

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

/* "vllm, rate 2" of a sweep, "" of a single run. */
static void name_run(const struct scenario *scenario, uint32_t index, const struct point *point,
                     char *name, size_t size)
{
    char setting[SETTING];
    sweep_point_setting(scenario->sweep, index, setting, sizeof setting);
    snprintf(name, size, "%s%s%s", scenario->points > 1 ? point->setup.system.name : "",
             setting[0] != '\0' ? ", " : "", setting);
}

static bool explain_command_write_point(const struct scenario *scenario, uint32_t index,
                                        const struct run_context *runs, char **shown, FILE *out,
                                        struct error *why)
{
    struct point point;
    char name[2 * SETTING];
    if (!scenario_point(scenario, index, &point, why)) {
        return false;
    }
    name_run(scenario, index, &point, name, sizeof name);
    bool ok = point_serves(&point) ? explain_server_write(&point, name, runs, shown, out, why)
                                   : explain_paragraph(&point, "", runs, write_run, out, why);
    point_release(&point);
    return ok;
}

/* It is printed when it is whole, in place of the line that shows progress. */
static bool explain_point(const struct scenario *scenario, uint32_t index,
                          const struct run_context *runs, char **shown, struct error *why)
{
    char left[PROGRESS_LEFT];
    struct text_file file;
    progress_show(index, scenario->points, "explaining run %u of %u%s", index + 1, scenario->points,
                  progress_left((double)index / scenario->points, left));
    bool ok = text_open(&file, why) &&
              explain_command_write_point(scenario, index, runs, shown, file.out, why);
    progress_clear();
    char *text = text_close(&file, ok, why);
    ok = text != NULL;
    if (ok && text[0] != '\0') {
        printf("\n%s", text);
    }
    free(text);
    return ok;
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
