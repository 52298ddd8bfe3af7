/* `spillway simulate`: runs every point of a scenario; a table or JSON lines, and rows of a database. */
#include "cli/frame/output.h"
#include "cli/frame/message.h"
#include "cli/frame/question.h"
#include "cli/runs/runs.h"

#include <stdlib.h>
#include <unistd.h>

enum { SET, FROM, DB, JOBS, NO_CACHE, SHARD, REPLICATIONS, EXPLAIN, COLUMNS, WIDE, WHY, JSON };

static const struct command_option options[] = {
    [SET] = {SCENARIO_SET_OPTION},
    [FROM] = {SCENARIO_FROM_OPTION},
    [DB] = {"--db", "FILE", "store the runs in this SQLite file; runs already in it are reused"},
    [JOBS] = {JOBS_OPTION},
    [NO_CACHE] = {NO_CACHE_OPTION},
    [SHARD] = {"--shard", "K/N",
               "run every Nth point, starting at the Kth, to split a sweep over N "
               "machines; 'merge' joins their databases"},
    [REPLICATIONS] = {"--replications", "N",
                      "run each point N times, with the machine's figures drawn from "
                      "their ranges, to show how far the result spreads (the error "
                      "band shows the model's own error)"},
    [EXPLAIN] = {"--explain", NULL,
                 "explain in words what limits each step, which figure of the machine "
                 "would help most, and which to measure first; for a server, what each GPU's "
                 "memory holds, and the same for the times to and per token"},
    [COLUMNS] = {COLUMNS_OPTION},
    [WIDE] = {WIDE_OPTION},
    [WHY] = {WHY_OPTION},
    [JSON] = {"--json", NULL, "print one JSON object per run, each on its own line"},
    {.name = NULL},
};

struct simulate_view {
    bool json, progress;
    uint32_t done, points;    /* so far */
    const struct node *sweep; /* of the scenario */
    struct runs_table *table; /* NULL with json */
    struct result *kept;      /* [points] to be explained; NULL: none are */
    struct sweep_failures failures;
};

static bool simulate_show(uint32_t index, struct result *result, void *context, struct error *why)
{
    struct simulate_view *view = context;
    sweep_count(&view->failures, result);
    if (view->table != NULL && !runs_table_add(view->table, index, result, why)) {
        return false;
    }
    if (view->kept != NULL) {
        view->kept[index] = *result;
        result_init(result);
    } else if (view->json &&
               !run_print_json(result, sweep_point_json(view->sweep, index), stdout, why)) {
        return false;
    }
    return view->table != NULL || output_flush(stdout, "standard output", why);
}

static void simulate_show_progress(uint32_t done, uint32_t points, double share, void *context)
{
    const struct simulate_view *view = context;
    char left[PROGRESS_LEFT];
    if (view->progress && done < points) {
        progress_show(done, points, "%u of %u runs%s", done, points, progress_left(share, left));
    } else if (view->progress) {
        progress_clear();
    }
}

/* Runs that finished before an error or an interruption are shown anyway; a failed run is a row. */
static bool simulate_run_all(const struct scenario *scenario, struct sweep_options *sweep,
                             struct simulate_view *view, struct error *why)
{
    if (!sweep_has_point(scenario, why) && stop_flag_check(sweep->runs->stop, why)) {
        return false;
    }
    bool ok = sweep_run(scenario, sweep, why);
    if (view->progress && !ok) {
        progress_clear();
    }
    if (view->table != NULL && !runs_table_print(view->table, stdout, ok ? why : ERROR_UNSEEN)) {
        return false;
    }
    if (!ok && why->kind == ERROR_INTERRUPTED && sweep->store != NULL) {
        error_expect(why, "run the same command again; it continues from the stored runs");
    }
    bool whole = sweep->shard.count == 0; /* other points may fit */
    for (uint32_t i = 0; ok && view->json && view->kept != NULL && i < scenario->points; i++) {
        struct result *result = &view->kept[i];
        ok = !result_cell(result, COLUMN(status))->set ||
             explain_print_json(scenario, i, result, sweep->runs, stdout, why);
    }
    return ok && sweep_all_ran(&view->failures, why) &&
           (!whole || view->failures.unfit == 0 || view->failures.unfit < view->failures.points ||
            error_unmet(why, "nothing fits in the machine's memory; the rows say what it needs"));
}

static bool run_scenario(const struct arguments *arguments, const struct scenario *scenario,
                         struct sweep_options *sweep, struct error *why)
{
    struct simulate_view view = {.json = arguments_given(arguments, JSON),
                                 .sweep = scenario->sweep};
    view.progress = !(view.json && isatty(STDOUT_FILENO));
    sweep->on_result = simulate_show;
    sweep->on_progress = simulate_show_progress;
    sweep->context = &view;
    struct table_view columns;
    uint32_t count;
    const struct frame_column *usual = runs_columns(scenario_serves(scenario), &count);
    if (!view_read(arguments, usual, count, &columns, why)) {
        return false;
    }
    if (!view.json && (view.table = runs_table_create(scenario, &columns, why)) == NULL) {
        return false;
    }
    bool explains = arguments_given(arguments, EXPLAIN);
    view.kept = explains ? array_zeroed(scenario->points, sizeof *view.kept, why) : NULL;
    bool ok = (!explains || view.kept != NULL) && simulate_run_all(scenario, sweep, &view, why) &&
              (!explains || view.json || explain_print(scenario, view.kept, sweep->runs, why));
    for (uint32_t i = 0; view.kept != NULL && i < scenario->points; i++) {
        result_release(&view.kept[i]);
    }
    free(view.kept);
    runs_table_destroy(view.table);
    return ok;
}

static bool simulate_run(const struct arguments *arguments, struct error *why)
{
    struct question question = {.store = NULL};
    struct sweep_options sweep = {.runs = &question.runs};
    const char *part = arguments_text(arguments, SHARD);
    bool ok = (part == NULL || sweep_shard_parse(part, &sweep.shard, why)) &&
              arguments_whole(arguments, REPLICATIONS, UNIT_COUNT, REPLICATIONS_LEAST,
                              REPLICATIONS_MOST, &sweep.replications, why) &&
              question_read(arguments, &question, why) &&
              question_begin(arguments, &question, sweep.replications > 0, why);
    sweep.store = question.store;
    sweep.jobs = question.jobs;
    bool shard = sweep.shard.count > 0 && sweep.store != NULL;
    ok = ok &&
         (!shard || store_put_turn(sweep.store, sweep.shard.number, sweep.shard.count, why)) &&
         run_scenario(arguments, &question.scenario, &sweep, why);
    question_end(&question);
    return ok;
}

static void simulate_print_more(FILE *out)
{
    uint32_t count;
    const struct frame_column *columns = runs_columns(false, &count);
    scenario_print_keys(out);
    frame_columns_print("\ncolumns of the table, for --columns:", columns, count, out);
    columns = runs_columns(true, &count);
    frame_columns_print("\ncolumns of a server's table:", columns, count, out);
}

const struct command command_simulate = {
    .name = "simulate",
    .operands = "[FILE...]",
    .summary = "predict how fast every point of a scenario decodes, and where its time goes",
    .example =
        "spillway simulate --set model=llama-3-8b --set hardware=a40 --set context=32768 \\\n"
        "    --set trace=smollm2-135m --set 'sweep.system=[fullattn, retroinfer-10pct, litecache]' \\\n"
        "    --db results.db",
    .options = options,
    .more = simulate_print_more,
    .run = simulate_run,
};
