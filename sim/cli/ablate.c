/* `spillway ablate`: what each mechanism in which a system differs from a base saves, as rows; for people
 * also what each changes, and how far the single savings are from their sum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/frame/message.h"
#include "cli/frame/output.h"
#include "cli/frame/question.h"
#include "cli/runs/runs.h"
#include "store/stored_run.h"
#include "study/ablate/ablation.h"

enum {
    NAMES = 512,
    LINE = 4096,
};

static int ablate_decimals(const struct ablation *ablation)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i < ablation->done; i++) {
        const struct cell *step = result_cell(&ablation->results[i], COLUMN(step_us));
        longest = step->set && step->integer > longest ? step->integer : longest;
    }
    return longest < 10000000 ? 3 : longest < 10000000000 ? 2 : 1;
}

/* Milliseconds with as many decimals as the longest step shown, so that sums can be checked by eye. */
static const char *ablate_ms(const struct ablation *ablation, int64_t ns, char text[SHOWN_TEXT])
{
    return shown_value(UNIT_US, ablate_decimals(ablation), (double)ns / 1e3, NAN, NAN, text);
}

/* "litecache", or "retroinfer, overridden": a preset may be compared with itself under overrides. */
static const char *ablate_system(const struct ablation *ablation, char text[NAMES])
{
    bool same = strcmp(ablation->system.name, ablation->base.name) == 0;
    snprintf(text, NAMES, "%s%s", ablation->system.name, same ? ", overridden" : "");
    return text;
}

/* What the table calls a row: "  + merge=no". */
static const char *ablate_name(const struct ablation *ablation, const struct ablation_row *row,
                               char text[NAMES])
{
    const char *mechanism = ablation->difference.mechanisms[row->mechanism].label;
    switch (row->kind) {
    case ABLATION_BASE:
        snprintf(text, NAMES, "%s", ablation->base.name);
        break;
    case ABLATION_ALONE:
        snprintf(text, NAMES, "  + %s", mechanism);
        break;
    case ABLATION_LEFT_OUT:
        snprintf(text, NAMES, "  - %s", mechanism);
        break;
    case ABLATION_WHOLE:
        ablate_system(ablation, text);
        break;
    }
    return text;
}

/* "on top of sync", "also without launch"; "" if the row has no others. */
static const char *ablate_others(const struct ablation *ablation, const struct ablation_row *row,
                                 char text[NAMES])
{
    char names[NAMES / 2];
    if (row->others == 0) {
        return "";
    }
    snprintf(text, NAMES, row->kind == ABLATION_ALONE ? "on top of %s" : "also without %s",
             difference_names(&ablation->difference, row->others, false, names, sizeof names));
    return text;
}

/* Does the mechanism change no step, alone and with the others? Its rows are then left out. */
static bool ablate_is_idle(const struct ablation *ablation, uint32_t mechanism)
{
    bool idle = true;
    for (uint32_t i = 0; i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        bool is_its = row->kind == ABLATION_ALONE || row->kind == ABLATION_LEFT_OUT;
        int64_t ns;
        double times;
        if (is_its && row->mechanism == mechanism && row->refused == NULL) {
            idle = idle && ablation_saves(ablation, row, &ns, &times) && ns == 0;
        }
    }
    return idle;
}

#define LIST "tables/ablations.def"
#define ID(name) DATA_##name
#define ARRAY columns
#include "tables/columns.h"

static void put_mechanism(const struct ablation *ablation, const struct ablation_row *row,
                          struct frame *frame)
{
    const struct difference *difference = &ablation->difference;
    char names[NAMES];
    if (row->kind == ABLATION_BASE || row->kind == ABLATION_WHOLE) {
        return;
    }
    frame_text(frame, DATA_mechanism, difference->mechanisms[row->mechanism].name);
    frame_text(frame, DATA_changes, difference->mechanisms[row->mechanism].changes);
    if (row->others != 0) {
        frame_text(frame, DATA_others,
                   difference_names(difference, row->others, false, names, sizeof names));
    }
}

/* What the mechanism buys besides time, as data and for people. */
static void put_trade(const struct ablation *ablation, const struct ablation_row *row,
                      struct frame *frame)
{
    const struct {
        uint32_t data;
        const struct column *of, *and; /* `and` NULL: one alone */
    } trades[] = {{DATA_mass_more, COLUMN(mass_recall), NULL},
                  {DATA_hbm_more_bytes, COLUMN(hbm_bytes), NULL},
                  {DATA_dram_more_bytes, COLUMN(dram_bytes), NULL},
                  {DATA_cpu_more_us, COLUMN(cpu_us), NULL},
                  {DATA_link_more_bytes, COLUMN(h2d_bytes_per_step), COLUMN(d2h_bytes_per_step)}};
    int64_t ns;
    double times;
    if (row->kind == ABLATION_BASE || !ablation_saves(ablation, row, &ns, &times)) {
        return;
    }
    if (ablation_together(ablation, row, &ns)) {
        frame_number(frame, DATA_together_us, (double)ns / 1e3);
    }
    for (size_t i = 0; i < sizeof trades / sizeof trades[0]; i++) {
        double more = ablation_more(ablation, row, trades[i].of);
        more += trades[i].and != NULL ? ablation_more(ablation, row, trades[i].and) : 0;
        frame_number(frame, trades[i].data, more);
    }
}

/* Why the row has no figures: in data its status and message, for people in their place. */
static void put_reason(const char *status, const char *message, struct frame *frame)
{
    char reason[LINE];
    snprintf(reason, sizeof reason, "%s: %s", status, message);
    frame_text(frame, DATA_status, status);
    frame_text(frame, DATA_message, message);
    frame_reason(frame, DATA_step_us, reason);
}

static void ablate_frame_put_row(const struct ablation *ablation, uint32_t place,
                                 struct frame *frame)
{
    const struct ablation_row *row = &ablation->rows[place];
    char name[NAMES];
    frame_row(frame);
    frame_text(frame, DATA_row, ablate_name(ablation, row, name));
    frame_text(frame, DATA_ablation, ablation->name);
    frame_number(frame, DATA_place, place);
    frame_text(frame, DATA_kind, ablation_kinds[row->kind]);
    frame_text(frame, DATA_system, ablation->system.name);
    frame_text(frame, DATA_base, ablation->base.name);
    put_mechanism(ablation, row, frame);
    if (row->refused != NULL) {
        put_reason("refused", row->refused, frame);
    } else {
        const struct result *result = ablation_result(ablation, row->shown);
        char names[NAMES];
        frame_text(frame, DATA_run, result_cell(result, COLUMN(run))->text);
        frame_result(frame, result);
        frame_text(frame, DATA_company, ablate_others(ablation, row, names));
        if (result_cell(result, COLUMN(step_us))->set) {
            frame_text(frame, DATA_status, result_cell(result, COLUMN(status))->text);
        } else {
            put_reason(result_cell(result, COLUMN(status))->text, result->message, frame);
        }
    }
    struct ablation_sum sum;
    int64_t ns;
    double times, least = NAN, most = NAN;
    if (row->kind != ABLATION_BASE && ablation_saves(ablation, row, &ns, &times)) {
        ablation_range(ablation, row, &least, &most);
        frame_range(frame, DATA_saves_us, (double)ns / 1e3, least / 1e3, most / 1e3);
        frame_number(frame, DATA_gain, times);
    }
    if (row->kind == ABLATION_WHOLE && ablation_add_up(ablation, &sum)) {
        frame_number(frame, DATA_alone_us, (double)sum.alone_ns / 1e3);
        frame_number(frame, DATA_interaction_us, (double)sum.interaction_ns / 1e3);
        frame_number(frame, DATA_interaction_gain, sum.interaction_times);
    }
    put_trade(ablation, row, frame);
}

/* The rows of a table for people; `view` NULL: of JSON and the database, also of what changes no step. */
static struct frame *ablate_frame(const struct ablation *ablation, const struct table_view *view,
                                  struct error *why)
{
    struct frame_column own[DATA_COUNT];
    memcpy(own, columns, sizeof own);
    own[DATA_step_us].decimals = own[DATA_saves_us].decimals = ablate_decimals(ablation);
    struct frame *frame = frame_create_view(own, DATA_COUNT, view, why);
    for (uint32_t i = 0; frame != NULL && i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        bool mechanism = row->kind == ABLATION_ALONE || row->kind == ABLATION_LEFT_OUT;
        if (view == NULL || !mechanism || !ablate_is_idle(ablation, row->mechanism)) {
            ablate_frame_put_row(ablation, i, frame);
        }
    }
    return frame;
}

static bool ablate_report_print_changes(const struct ablation *ablation, FILE *out,
                                        struct error *why)
{
    static const struct frame_column columns[] = {{.title = "mechanism"},
                                                  {.title = "what changes", .wrap = true}};
    struct frame *frame = frame_create(columns, 2, why);
    for (uint32_t i = 0; i < ablation->difference.count; i++) {
        const struct difference_mechanism *of = &ablation->difference.mechanisms[i];
        frame_add(frame, (const char *[]){of->name, of->changes}, 2);
    }
    fputc('\n', out);
    bool good = frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    return good;
}

/* ---- what follows ---- */

/* What the mechanisms save one by one, and how much more or less they save together. */
static void print_interaction(const struct ablation *ablation, FILE *out)
{
    struct ablation_sum sum;
    char line[LINE], alone[SHOWN_TEXT], together[SHOWN_TEXT];
    if (!ablation_add_up(ablation, &sum)) {
        table_line("interaction: ", "unknown, as a row has no step to compare", out);
        return;
    }
    ablate_ms(ablation, llabs(sum.interaction_ns), together);
    if (strcmp(together, ablate_ms(ablation, 0, alone)) == 0) { /* too little to show */
        table_line("interaction: ",
                   ablation->difference.count == 1
                       ? "none, as only one mechanism differs"
                       : "none: each saves alone what it saves among the others",
                   out);
        return;
    }
    snprintf(line, sizeof line,
             "together they save %s ms %s (%.2fx) than one by one (%s ms, %.2fx)", together,
             sum.interaction_ns < 0 ? "less" : "more", sum.interaction_times,
             ablate_ms(ablation, sum.alone_ns, alone), sum.alone_times);
    table_line("interaction: ", line, out);
}

static bool ablate_report(const struct ablation *ablation, const struct table_view *view, FILE *out,
                          struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct frame *frame = NULL;
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < ablation->done; i++) {
        runs_notes_add(notes, &ablation->results[i]);
    }
    if (good) {
        uint32_t count = ablation->difference.count;
        char name[NAMES];
        runs_notes_print_above(notes, &ablation->scenario, out);
        fprintf(out, "%s against %s: %u mechanism%s differ%s\n\n", ablate_system(ablation, name),
                ablation->base.name, count, count == 1 ? "" : "s", count == 1 ? "s" : "");
        frame = ablate_frame(ablation, view, why);
        good = frame != NULL && frame_print(frame, view, out, why) &&
               ablate_report_print_changes(ablation, out, why);
    }
    if (good) {
        uint32_t idle = 0; /* mechanisms without rows of their own */
        char names[NAMES];
        for (uint32_t i = 0; i < ablation->difference.count; i++) {
            idle |= ablate_is_idle(ablation, i) ? 1u << i : 0;
        }
        fputc('\n', out);
        print_interaction(ablation, out);
        if (idle != 0) {
            difference_names(&ablation->difference, idle, true, names, sizeof names);
            table_line("no effect on any step: ", names, out);
        }
        const struct cell *lossless = result_cell(ablation_result(ablation, 0), COLUMN(lossless));
        if (lossless->set && strcmp(lossless->text, "lossy") == 0) {
            fprintf(out,
                    "note: %s is lossy itself: nothing here is compared with exact attention\n",
                    ablation->base.name);
        }
        runs_notes_print_below(notes, view->why, out);
    }
    frame_destroy(frame);
    runs_notes_destroy(notes);
    return good;
}

enum { AGAINST, SET, DB, JOBS, NO_CACHE, ONLY_COLUMNS, WIDE, WHY, JSON };

static const struct command_option options[] = {
    [AGAINST] = {"--against", "SYSTEM",
                 "the base system to compare with (default: the baseline named by the "
                 "system's preset, else fullattn)"},
    [SET] = {SCENARIO_SET_OPTION},
    [DB] = {"--db", "FILE",
            "store runs and rows in this SQLite file, for 'plot ablate'; runs already "
            "in it are reused"},
    [JOBS] = {JOBS_OPTION},
    [NO_CACHE] = {NO_CACHE_OPTION},
    [ONLY_COLUMNS] = {COLUMNS_OPTION},
    [WIDE] = {WIDE_OPTION},
    [WHY] = {WHY_OPTION},
    [JSON] = {"--json", NULL,
              "print one JSON object per row, each on its own line, and nothing else"},
    {.name = NULL},
};

static void print_meaning(FILE *out)
{
    fputs("rows:\n"
          "  + MECHANISM      the base with this mechanism of the system; if that is invalid,\n"
          "                   the reason, and the mechanism on top of the fewest it needs\n"
          "  - MECHANISM      the system without this mechanism; if that is invalid, the\n"
          "                   reason, and the system also without the fewest that go with it\n"
          "saves: the step without the mechanism minus the step with it, all else equal\n"
          "interaction: what the system saves minus the sum of what each mechanism saves alone\n"
          "A mechanism that costs time may buy something else: --wide shows by how much the run\n"
          "with it has more attention mass, memory, work of the CPU and bytes over the link.\n"
          "Overrides (--set mechanisms.KEY=VALUE) change the system, not the base.\n",
          out);
    frame_columns_print("\ncolumns of the table, for --columns:", columns, DATA_COUNT, out);
}

static bool ablate_run(const struct arguments *arguments, struct error *why)
{
    struct question question = {.store = NULL};
    struct table_view view;
    bool json = arguments_given(arguments, JSON);
    bool good = view_read(arguments, columns, DATA_COUNT, &view, why) &&
                question_read(arguments, &question, why) &&
                question_begin(arguments, &question, false, why);
    if (good) {
        const struct ablation_options with = {.against = arguments_text(arguments, AGAINST),
                                              .study = question_study(&question)};
        struct ablation ablation;
        good = ablation_run(&question.scenario, &with, &ablation, why);
        progress_clear();
        /* A failed run is shown as a row like the others; the command then fails with its error. */
        struct frame *frame = good ? ablate_frame(&ablation, NULL, why) : NULL;
        const struct store_frame rows = {.table = "ablations", .frame = frame};
        good = frame != NULL &&
               (question.store == NULL || store_put_frames(question.store, &rows, 1, why)) &&
               (json ? frame_print_json(frame, stdout, why)
                     : ablate_report(&ablation, &view, stdout, why)) &&
               output_flush(stdout, "standard output", why) &&
               sweep_check(ablation.results, ablation.done, why);
        frame_destroy(frame);
        ablation_release(&ablation);
    }
    question_end(&question);
    return good;
}

const struct command command_ablate = {
    .name = "ablate",
    .operands = "[FILE...]",
    .summary = "take a system apart: what each of its mechanisms saves, alone and together",
    .example = "spillway ablate --set model=llama-3-8b --set hardware=a40 --set context=128K \\\n"
               "    --set trace=smollm2-135m --set system=litecache --against retroinfer-10pct",
    .options = options,
    .more = print_meaning,
    .run = ablate_run,
};
