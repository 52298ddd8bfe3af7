/* `spillway whatif`: runs a scenario along one axis or two, a row a point. Below stands how much better the
 * best is than the scenario's own, and what is in the way where none is best. */
#include <math.h>
#include <string.h>

#include "cli/frame/message.h"
#include "cli/frame/output.h"
#include "cli/frame/question.h"
#include "cli/runs/runs.h"
#include "core/text.h"
#include "study/whatif/whatif_study.h"

enum { TEXT = 64, LINE = 512 };

/* The measure of a study, in words, by enum whatif_figure: its unit, and why no point has it. */
static const struct whatif_words {
    const char *unit, *none;
} whatif_words[] = {
    [WHATIF_RATE] = {"tokens/s", "no point has a time"},
    [WHATIF_BORNE] = {"tokens/s", "no point answers all requests"},
    [WHATIF_TIME] = {"s a request (mean, arrival to last token)", "no point answers all requests"},
    [WHATIF_GOODPUT] = {"requests/s that meet the objectives", "no request has a time"},
    [WHATIF_FOUND] = {"% of the prompts' tokens found",
                      "it is unknown which prompts begin alike: the workload has no hashes"},
};

/* The name of a point: its value on each axis, "15.0 %, batch 4". */
static const char *whatif_name(const struct whatif *whatif, uint32_t point, char text[LINE])
{
    text[0] = '\0';
    for (uint32_t axis = 0; axis < whatif->axis_count; axis++) {
        char label[TEXT];
        axis_label(&whatif->axes[axis], whatif_value(whatif, axis, point), label, sizeof label);
        text_append(text, LINE, "%s%s%s%s", axis > 0 ? ", " : "",
                    whatif->axis_count > 1 ? axis_title(&whatif->axes[axis]) : "",
                    whatif->axis_count > 1 ? " " : "", label);
    }
    return text;
}

static const char *whatif_number(double worth, char text[SHOWN_TEXT])
{
    if (worth < 0.1) {
        snprintf(text, SHOWN_TEXT, "%.2g", worth);
        return text;
    }
    return shown_value(UNIT_COUNT, 0, worth, NAN, NAN, text);
}

/* The marks of a point: "here, knee". "here" is the scenario's own value; a "tie" is with the best point. */
static const char *whatif_mark(const struct whatif *whatif, const struct whatif_findings *findings,
                               uint32_t point, char text[TEXT])
{
    const char *objection = whatif_objection(whatif, point);
    bool grows = result_cell(&whatif->results[point], COLUMN(queue_grows))->integer > 0;
    const struct {
        bool here;
        const char *mark;
    } marks[] = {
        {findings->own == point, "here"},
        {findings->knee == point, "knee"},
        {findings->best == point && !findings->all_tie, "best"},
        {findings->all_tie || (findings->best != point && whatif_ties(whatif, findings, point)),
         "tie"},
        {objection != NULL, objection},
        {objection == NULL && grows, "queue grows"}, /* goodput shows it by itself */
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (marks[i].here) {
            text_append(text, TEXT, "%s%s", text[0] != '\0' ? ", " : "", marks[i].mark);
        }
    }
    return text;
}

/* ---- the table ---- */

enum { VALUE, FIRST_FIGURE = VALUE + WHATIF_MOST_AXES };

static const struct frame_column step_columns[] = {
    {.of = "batch", .optional = true, .what = "sequences; shown where they vary along the axis"},
    {.of = "kv", .drop = 1, .optional = true},
    {.of = "resident_share", .optional = true},
    {.of = "cache_bytes"},
    {.of = "hit_ratio", .optional = true},
    {.of = "mass_recall", .optional = true},
    {.of = "step_us"},
    {.of = "decode_tokens_per_s"},
    {.of = "stall"},
    {.of = "by_link"},
};

/* The columns: of decode steps, or of a server. Each axis is a title. Returns their number. */
static uint32_t whatif_columns(bool serves, struct frame_column out[TABLE_MOST_COLUMNS])
{
    uint32_t count = sizeof step_columns / sizeof *step_columns;
    const struct frame_column *figures = serves ? runs_columns(true, &count) : step_columns;
    out[VALUE] = out[VALUE + 1] = (struct frame_column){.unit = UNIT_COUNT};
    memcpy(&out[FIRST_FIGURE], figures, count * sizeof *out);
    count -= serves; /* its marks are others, below */
    out[FIRST_FIGURE + count] = (struct frame_column){
        .title = "",
        .name = "marks",
        .what = "here: the scenario's value; best, and what ties with it; knee: furthest from the "
                "line between the first point and the last, beyond it an increase gains less"};
    return FIRST_FIGURE + count + 1;
}

static void whatif_table_put_point(const struct whatif *whatif,
                                   const struct whatif_findings *findings, uint32_t point,
                                   struct frame *frame)
{
    const struct result *result = &whatif->results[point];
    char value[TEXT], marks[TEXT];
    frame_row(frame);
    for (uint32_t i = 0; i < whatif->axis_count; i++) {
        uint32_t at = whatif_value(whatif, i, point);
        frame_text(frame, VALUE + i, axis_label(&whatif->axes[i], at, value, sizeof value));
    }
    /* Figures of a stream that is served too slowly are those of a run's length. */
    bool grows = result_number(result, COLUMN(queue_grows)) > 0;
    bool stream = result_cell(result, COLUMN(requests_out_half))->set ||
                  result_number(result, COLUMN(requests)) == 0;
    if (!grows || !stream) {
        frame_result(frame, result);
    }
    if (result_ok(result)) {
        whatif_mark(whatif, findings, point, marks);
        frame_text(frame, frame_find(frame, "marks"), marks);
    } else {
        frame_failed(frame, FIRST_FIGURE + !whatif_serves(whatif), result);
    }
}

static bool whatif_print_table(const struct whatif *whatif, const struct whatif_findings *findings,
                               const struct table_view *view, FILE *out, struct error *why)
{
    struct frame_column columns[TABLE_MOST_COLUMNS];
    uint32_t count = whatif_columns(whatif_serves(whatif), columns);
    for (uint32_t i = 0; i < whatif->axis_count; i++) {
        columns[VALUE + i].title = axis_title(&whatif->axes[i]);
    }
    /* Show what differs from point to point. An axis of rates states the requested rate, not the drawn one. */
    for (struct frame_column *column = columns + FIRST_FIGURE; column < columns + count; column++) {
        const struct column *of = column->of != NULL ? column_find(column->of) : NULL;
        if (of == COLUMN(batch)) {
            column->extra = true;
            double first = result_number(&whatif->results[0], of);
            for (uint32_t i = 1; i < whatif->count && !whatif_is_axis(whatif, "batch"); i++) {
                double batch = result_number(&whatif->results[i], of);
                column->extra = column->extra && !(batch < first || batch > first);
            }
        } else if (of == COLUMN(cache_bytes)) {
            column->extra = !whatif_is_axis(whatif, "mechanisms.budget");
        } else if (of == COLUMN(requests_in_per_s)) {
            column->drop = isnan(whatif_arrivals(whatif)) ? 0 : column->drop;
        } else if (of == COLUMN(decode_tokens_per_s)) {
            column->drop = whatif->figure == WHATIF_GOODPUT;
        } else if (of == COLUMN(e2e_ms)) {
            column->extra = whatif->figure != WHATIF_TIME;
        }
    }
    struct frame *frame = frame_create_view(columns, count, view, why);
    for (uint32_t i = 0; frame != NULL && i < whatif->count; i++) {
        whatif_table_put_point(whatif, findings, i, frame);
    }
    bool good = frame != NULL && frame_print(frame, view, out, why);
    frame_destroy(frame);
    return good;
}

/* ---- what follows ---- */

static void print_best(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    char line[3 * LINE], name[LINE], rate[SHOWN_TEXT];
    double best = whatif_worth(whatif, findings->best);
    text_copy(line, sizeof line, "best");
    if (findings->all_tie) {
        snprintf(line, sizeof line, "all %u values tie (%s)", whatif->count,
                 tie_reason(findings->worst));
    }
    text_append(line, sizeof line, ": %s %s at %s", whatif_number(best, rate),
                whatif_words[whatif->figure].unit, whatif_name(whatif, findings->best, name));
    double own = findings->own != WHATIF_NONE ? whatif_worth(whatif, findings->own) : NAN;
    if (findings->own == findings->best) {
        text_append(line, sizeof line, ", the scenario's value");
    } else if (!isnan(own)) {
        text_append(line, sizeof line, "; here, at the scenario's %.200s, %s",
                    whatif_name(whatif, findings->own, name), whatif_number(own, rate));
    }
    if (!findings->all_tie && findings->worst != TIE_NONE) {
        text_append(line, sizeof line, "; tie: %s", tie_reason(findings->worst));
    }
    if (whatif_is_axis(whatif, "rate")) { /* near a capacity other draws may break down */
        text_append(line, sizeof line, "; of one draw (plan asks three)");
    }
    table_line("", line, out);
}

/* "vllm over batch"; of an axis of systems, "over system". */
static void whatif_report_print_title(const struct whatif *whatif, FILE *out)
{
    const char *system = "";
    for (uint32_t i = 0; i < whatif->count && system[0] == '\0'; i++) {
        const struct cell *cell = result_cell(&whatif->results[i], COLUMN(system));
        system = cell->set ? cell->text : "";
    }
    for (uint32_t axis = 0; axis < whatif->axis_count; axis++) {
        system = strcmp(whatif->axes[axis].key, "system") == 0 ? "" : system;
    }
    fprintf(out, "%s%sover %s", system, system[0] != '\0' ? " " : "", axis_title(&whatif->axes[0]));
    if (whatif->axis_count > 1) {
        fprintf(out, " and %s", axis_title(&whatif->axes[1]));
    }
    fputs("\n\n", out);
}

static bool whatif_report(const struct whatif *whatif, const struct table_view *view, FILE *out,
                          struct error *why)
{
    struct whatif_findings findings = whatif_find(whatif);
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        runs_notes_add(notes, &whatif->results[i]);
    }
    if (good) {
        runs_notes_print_above(notes, &whatif->scenario, out);
        whatif_report_print_title(whatif, out);
        good = whatif_print_table(whatif, &findings, view, out, why);
    }
    if (good) {
        fputc('\n', out);
        if (findings.best != WHATIF_NONE) {
            print_best(whatif, &findings, out);
        } else {
            table_line(
                "",
                findings.timed == 0
                    ? whatif_words[whatif->figure].none
                    : "no best: each load is one draw of its requests; 'plan --maximise rate' "
                      "asks several, and finds the highest that holds in all",
                out);
        }
        runs_notes_print_below(notes, view->why, out);
    }
    runs_notes_destroy(notes);
    return good;
}

enum { OVER, POINTS, SET, DB, JOBS, NO_CACHE, COLUMNS, WIDE, WHY, JSON };

static const struct command_option options[] = {
    [OVER] = {"--over", "KEY[,KEY]", "the axis to walk along, or two for a grid; see below",
              .list = true, .required = true},
    [POINTS] = {"--points", "N",
                "number of values in a range, at least 2 (default: depends on the axis)"},
    [SET] = {SCENARIO_SET_OPTION},
    [DB] = {"--db", "FILE",
            "store the runs in this SQLite file, for 'plot whatif'; runs already in it are reused"},
    [JOBS] = {JOBS_OPTION},
    [NO_CACHE] = {NO_CACHE_OPTION},
    [COLUMNS] = {COLUMNS_OPTION},
    [WIDE] = {WIDE_OPTION},
    [WHY] = {WHY_OPTION},
    [JSON] = {"--json", NULL,
              "print one JSON object per point, each on its own line, and nothing else"},
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
    frame_columns_print("\ncolumns of the table, for --columns:", columns, count, out);
    count = whatif_columns(true, columns);
    frame_columns_print("\ncolumns of a server's table:", columns, count, out);
}

static bool whatif_command_run(const struct arguments *arguments, struct error *why)
{
    struct question question = {.store = NULL};
    struct frame_column columns[TABLE_MOST_COLUMNS];
    struct table_view view;
    uint32_t points = 0;
    bool json = arguments_given(arguments, JSON);
    bool good = arguments_whole(arguments, POINTS, UNIT_COUNT, 2, AXIS_FINE, &points, why) &&
                question_read(arguments, &question, why);
    uint32_t count = good ? whatif_columns(scenario_serves(&question.scenario), columns) : 0;
    good = good && view_read(arguments, columns, count, &view, why) &&
           question_begin(arguments, &question, false, why);
    if (good) {
        const struct whatif_options with = {.over = arguments_text(arguments, OVER),
                                            .points = points,
                                            .study = question_study(&question)};
        struct whatif whatif;
        good = whatif_run(&question.scenario, &with, &whatif, why);
        progress_clear();
        /* A failed run is shown as a row like the others; the command then fails with its error. */
        for (uint32_t i = 0; good && json && i < whatif.count; i++) {
            good = run_print_json(&whatif.results[i], sweep_point_json(whatif.scenario.sweep, i),
                                  stdout, why);
        }
        good = good &&
               (json ? output_flush(stdout, "standard output", why)
                     : whatif_report(&whatif, &view, stdout, why)) &&
               sweep_check(whatif.results, whatif.count, why);
        whatif_release(&whatif);
    }
    question_end(&question);
    return good;
}

const struct command command_whatif = {
    .name = "whatif",
    .operands = "[FILE...]",
    .summary = "run a scenario along an axis, such as the budget, and report what more of it gains",
    .example = "spillway whatif --over budget --set model=llama-3-8b --set hardware=a40 \\\n"
               "    --set system=retroinfer --set context=128K",
    .options = options,
    .more = whatif_command_print_axes,
    .run = whatif_command_run,
};
