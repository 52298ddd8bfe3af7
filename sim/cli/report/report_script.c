/* What moves in a page: its script, the runs behind its sliders, and time lines of steps, as JSON.
 *
 * The page's policy names the script by its hash, so nothing else can run. JSON is data to a
 * browser; it has no `<`, so it cannot end its own element. */
#include "core/node.h"
#include "core/text.h"
#include "cli/frame/drawing.h"
#include "cli/report/report.h"
#include "predict/decode/run.h"
#include "predict/scenario/scenario.h"
#include "predict/answer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TIMELINES = 3, STEP_NAME = 256 };

static void write_json(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        fputs(*text == '<' ? "\\u003c" : (char[]){*text, '\0'}, out);
    }
    fputs("</script>\n", out);
}

/* ---- time lines ---- */

/* The scenario as the database has it. The caller releases `out` on failure, too. */
static bool read_scenario(const char *text, struct scenario *out, struct error *why)
{
    struct node *map = node_parse(text, strlen(text), "scenario", why);
    if (map != NULL) {
        node_remove(map, "sweep"); /* null there */
    }
    bool ok = scenario_init(out, why) && map != NULL && scenario_set(out, map, why);
    node_destroy(map);
    return ok;
}

/* The Chrome trace of one step of the point. */
static bool write_trace(const struct point *point, FILE *out, struct error *why)
{
    struct run_context context;
    struct point view;
    if (!run_context_init(&context, 0, NULL, why)) {
        return false;
    }
    bool good = answer_view(point, &context, &view, why);
    run_context_release(&context);
    if (good) {
        good = run_timeline(&view.setup, out, why);
        point_view_release(point, &view);
    }
    return good;
}

/* Only if the point is still the run that the database has. */
static bool trace_run(const char *run, const char *scenario_text, FILE *out, struct error *why)
{
    struct scenario scenario = {.root = NULL};
    struct point point;
    char name[17];
    point_init(&point);
    bool good = read_scenario(scenario_text, &scenario, why) &&
                scenario_point(&scenario, 0, &point, why) && run_identity(&point, name, why);
    if (good && strcmp(name, run) != 0) {
        good = error_set(why, NULL, 0, "another program or other files computed run %s", run);
    }
    good = good && write_trace(&point, out, why);
    point_release(&point);
    scenario_release(&scenario);
    return good;
}

/* The time line of a step of a run. Of one that cannot be computed again, the reason; a server has
 * none. */
static bool write_step(const struct report *report, const char *run, const char *name,
                       struct error *why)
{
    struct text_file trace;
    struct error unmade;
    struct result result;
    result_init(&result);
    bool ok = text_open(&trace, why) && store_get(report->store, run, &result, why);
    bool asked = ok && result_cell(&result, COLUMN(step_us))->set &&
                 !result_cell(&result, COLUMN(requests))->set;
    bool made = asked && trace_run(run, result.scenario, trace.out, &unmade);
    char *text = text_close(&trace, made, &unmade);
    if (text != NULL) {
        html_print(report->out, "<script type=\"application/json\" data-step=\"%s\">", name);
        write_json(text, report->out);
    } else if (asked) {
        html_print(report->out, "<p>No time line of %s: %s.</p>\n", name, unmade.found);
    }
    free(text);
    result_release(&result);
    return ok;
}

/* Of the answer, or of the best runs of the first settings. */
static bool write_time_lines(const struct report *report, struct error *why)
{
    bool ok = true;
    if (report->answer != NULL) {
        return report->answer->run == NULL ||
               write_step(report, report->answer->run, "the answer", why);
    }
    for (size_t row = 0; ok && row < report->best.count && row < MOST_TIMELINES; row++) {
        char name[STEP_NAME];
        const char *setting = report_table_text(&report->best, row, "setting");
        snprintf(name, sizeof name, "%s%s%s", report_table_text(&report->best, row, "best_name"),
                 *setting != '\0' ? ", " : "", setting);
        ok = write_step(report, report_table_text(&report->best, row, "best"), name, why);
    }
    return ok;
}

/* The run at which the sliders begin. */
static const char *first_run(const struct report *report)
{
    const char *best = report_table_text(&report->best, 0, "best");
    const char *run = report->answer != NULL ? report->answer->run : NULL;
    return run != NULL ? run : best;
}

/* ---- the runs ---- */

bool report_write_explore(const struct report *report, struct error *why)
{
    static const char *const of_runs[] = {"every", "runs", PLOT_CELLS, NULL};
    struct report_table table;
    if (!report_table_read(report->store, of_runs, "explore", false, &table, why)) {
        return false;
    }
    bool ok = true;
    if (table.count > 0) {
        ok = plot_copy_file("plots/report", "explore", "html", report->out, why);
        html_print(report->out,
                   "<script type=\"application/json\" id=\"data\" data-run=\"%s\" "
                   "data-targets=\"%s\">",
                   first_run(report), report->answer != NULL ? report->answer->targets : "");
        write_json(report_table_text(&table, 0, "data"), report->out);
        ok = ok && (!report->steps || write_time_lines(report, why));
    }
    report_table_release(&table);
    return ok;
}

bool report_write_script(FILE *out, struct error *why)
{
    static const char *const parts[] = {"page", "runs", "charts", "steps"};
    bool ok = true;
    fputs("<script>", out);
    for (size_t i = 0; ok && i < sizeof parts / sizeof parts[0]; i++) {
        ok = plot_copy_file("plots/report", parts[i], "js", out, why);
    }
    fputs("</script>\n", out);
    return ok;
}
