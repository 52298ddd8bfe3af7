/* `spillway whatif`: runs a scenario along one axis, or over a grid of two. */
#include "core/units.h"
#include "cli/frame/arguments.h"
#include "cli/frame/column_options.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "cli/frame/message.h"
#include "cli/frame/question.h"
#include "cli/runs/runs_text.h"
#include "cli/runs/sweep_keys.h"
#include "cli/whatif/whatif_report.h"

enum { OVER, POINTS, SET, DB, JOBS, NO_CACHE, COLUMNS, WIDE, WHY, JSON };

static const struct command_option options[] = {
    [OVER] = {.name = "--over",
              .argument = "KEY[,KEY]",
              .list = true,
              .required = true,
              .summary = "the axis to walk along, or two for a grid; see below"},
    [POINTS] = {.name = "--points",
                .argument = "N",
                .summary = "number of values in a range, at least 2 (default: depends on the "
                           "axis)"},
    [SET] = SCENARIO_SET_OPTION,
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "store the runs in this SQLite file, for 'plot whatif'; runs already in "
                       "it are reused"},
    [JOBS] = JOBS_OPTION,
    [NO_CACHE] = NO_CACHE_OPTION,
    [COLUMNS] = COLUMNS_OPTION,
    [WIDE] = WIDE_OPTION,
    [WHY] = WHY_OPTION,
    [JSON] = {.name = "--json",
              .summary = "print one JSON object per point, each on its own line, and nothing else"},
    {.name = NULL},
};

static void whatif_command_print_axes(FILE *out)
{
    fputs(
        "An axis is a key and the values to try:\n"
        "  KEY              the usual range: budget from no cache to all KV; batch from 1 to\n"
        "                   what fits; context from an eighth of the scenario's to twice that;\n"
        "                   link from PCIe 3 to NVLink-C2C. If the scenario does not set them:\n"
        "                   context from 1K to the trained one; host_memory, disk_space and\n"
        "                   pool_space from a 64th to all of what prefixes take;\n"
        "                   kv_pool_tokens from a quarter to all of what fits. Other keys:\n"
        "                   from a quarter to four times the value of the scenario or the machine\n"
        "  KEY=FROM:TO      values in equal ratios; in equal steps if FROM is 0\n"
        "  KEY=[A, B, C]    these values, numbers or not, such as system=[vllm, clo]\n"
        "KEY is a key of the scenario, a mechanism (see 'list mechanisms'), or a figure of the\n"
        "machine such as hardware.link.h2d.\n",
        out);
    struct frame_column columns[TABLE_MOST_COLUMNS];
    uint32_t count = whatif_columns(false, columns);
    frame_columns_print("\ncolumns of the table along one axis, for --columns:", columns, count,
                        out);
    count = whatif_columns(true, columns);
    frame_columns_print("\ncolumns of a server's table:", columns, count, out);
}

static bool whatif_command_read_points(const struct arguments *arguments, uint32_t *out,
                                       struct error *why)
{
    const char *text = arguments_text(arguments, POINTS);
    uint64_t count = 0;
    if (text == NULL) {
        return true;
    }
    if (!units_parse_whole(text, UNIT_COUNT, AXIS_FINE, NULL, 0, "--points", &count, why)) {
        return false;
    }
    *out = (uint32_t)count;
    return count >= 2 ||
           (error_usage(why, NULL, 0, "'--points' is %s", text), error_expect(why, "2 or more"));
}

static bool whatif_command_print_lines(const struct whatif *whatif, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        good = run_print_json(&whatif->results[i], sweep_point_json(whatif->scenario.sweep, i),
                              stdout, why);
    }
    return good && output_flush(stdout, "standard output", why);
}

static bool whatif_command_read_columns(const struct arguments *arguments,
                                        const struct scenario *scenario, struct table_view *out,
                                        struct error *why)
{
    struct frame_column columns[TABLE_MOST_COLUMNS];
    uint32_t count = whatif_columns(scenario_serves(scenario), columns);
    return view_read(arguments, columns, count, out, why);
}

static bool whatif_command_study(const struct arguments *arguments, struct question *question,
                                 const struct table_view *view, uint32_t points, struct error *why)
{
    const struct whatif_options with = {.over = arguments_text(arguments, OVER),
                                        .points = points,
                                        .study = question_study(question)};
    struct whatif whatif;
    bool interrupted = false;
    bool good = whatif_run(&question->scenario, &with, &whatif, &interrupted, why);
    good = progress_end(good, interrupted, "all points were done", why);
    /* A failed run is shown as a row like the others; the command then fails with its error. */
    good = good &&
           (arguments_given(arguments, JSON) ? whatif_command_print_lines(&whatif, why)
                                             : whatif_report(&whatif, view, stdout, why)) &&
           sweep_check(whatif.results, whatif.count, why);
    whatif_release(&whatif);
    return good;
}

static bool whatif_command_run(const struct arguments *arguments, struct error *why)
{
    struct question question = {.store = NULL};
    struct table_view view;
    uint32_t points = 0;
    bool good = whatif_command_read_points(arguments, &points, why) &&
                question_read(arguments, &question, why) &&
                whatif_command_read_columns(arguments, &question.scenario, &view, why) &&
                question_begin(arguments, &question, false, why) &&
                whatif_command_study(arguments, &question, &view, points, why);
    question_end(&question);
    return good;
}

const struct command command_whatif = {
    .name = "whatif",
    .operands = "[FILE...]",
    .most_operands = COMMAND_MANY,
    .summary = "run a scenario along an axis, such as the budget, and report what more of it "
               "gains",
    .example = "spillway whatif --over budget --set model=llama-3-8b --set hardware=a40 \\\n"
               "    --set system=retroinfer --set context=128K",
    .options = options,
    .more = whatif_command_print_axes,
    .run = whatif_command_run,
};
