/* One row per run of the Pareto front, the fastest first. */
#include "cli/plan/plan_report.h"

#include "core/text.h"
#include "cli/frame/left_out.h"
#include "cli/runs/runs_notes.h"
#include "cli/runs/runs_text.h"

#include <assert.h>
#include <string.h>

enum { TEXT = 64, LINE = 2048 };
/* Columns of decode steps and of servers. */
enum { SYSTEM, HARDWARE, AXIS };

static const struct frame_column columns[] = {
    [SYSTEM] = {.title = "system"},
    [HARDWARE] = {.title = "hardware"},
    [AXIS] = {.title = "budget",
              .unit = UNIT_COUNT,
              .optional = true,
              .name = "budget",
              .what = "share of the context that the cache holds"},
    {.of = "batch"}, /* the other axis */
    {.of = "kv", .optional = true, .drop = 1},
    {.of = "cache_bytes", .optional = true, .extra = true},
    {.of = "hbm_bytes"},
    {.of = "hit_ratio", .optional = true, .drop = 2},
    {.of = "mass_recall", .optional = true},
    {.of = "tpot_ms"},
    {.of = "decode_tokens_per_s"},
    {.of = "cost_per_million_tokens", .optional = true},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const struct frame_column served[] = {
    [SYSTEM] = {.title = "system"},
    [HARDWARE] = {.title = "hardware"},
    [AXIS] = {.unit = UNIT_COUNT}, /* each axis is a title */
    [AXIS + 1] = {.unit = UNIT_COUNT},
    {.of = "ttft_ms"},
    {.of = "ttft_p99_ms", .title = "p99"},
    {.of = "tpot_ms"},
    {.of = "decode_tokens_per_s", .what = "output tokens a second"},
    {.of = "tokens_per_s_per_gpu"},
    {.of = "cost_per_million_tokens", .optional = true},
};
enum { SERVED = sizeof served / sizeof served[0] };
static_assert(WHATIF_MOST_AXES == 2, "each axis has a column");

const struct frame_column *tradeoff_columns(bool serves, uint32_t *count)
{
    *count = serves ? (uint32_t)SERVED : (uint32_t)COLUMNS;
    return serves ? served : columns;
}

/* ---- the table ---- */

/* Of decode steps, the first of two axes is a title. */
static struct frame *create_step_frame(const struct tradeoff *tradeoff,
                                       const struct table_view *view, struct error *why)
{
    struct frame_column own[COLUMNS];
    memcpy(own, columns, sizeof columns);
    for (uint32_t i = 0; i < tradeoff->pareto_count; i++) {
        const struct whatif *study = &tradeoff->studies[tradeoff->pareto[i].study];
        own[AXIS].title = study->axis_count > 1 ? axis_title(&study->axes[0]) : own[AXIS].title;
    }
    return frame_create_view(own, COLUMNS, view, why);
}

/* Each axis of servers is a title. */
static struct frame *create_frame(const struct tradeoff *tradeoff, const struct table_view *view,
                                  struct error *why)
{
    const struct whatif *study = &tradeoff->studies[tradeoff->pareto[0].study];
    struct frame_column own[SERVED];
    if (!tradeoff->serves) {
        return create_step_frame(tradeoff, view, why);
    }
    memcpy(own, served, sizeof served);
    for (uint32_t i = 0; i < study->axis_count; i++) {
        own[AXIS + i].title = axis_title(&study->axes[i]);
    }
    return frame_create_view(own, SERVED, view, why);
}

/* Decode steps show their budget if the study varied it; the batch, the other axis, is a figure. */
static void tradeoff_report_put_run(const struct tradeoff *tradeoff, const struct tradeoff_run *run,
                                    struct frame *frame)
{
    const struct whatif *study = &tradeoff->studies[run->study];
    const struct cell *cells = run->result->cells;
    uint32_t axes = tradeoff->serves ? study->axis_count : study->axis_count - 1;
    frame_row(frame);
    frame_text(frame, SYSTEM, cells[COLUMN(system)->index].text);
    frame_text(frame, HARDWARE, cells[COLUMN(hardware)->index].text);
    for (uint32_t i = 0; i < axes; i++) {
        char label[TEXT];
        frame_text(frame, AXIS + i,
                   axis_label(&study->axes[i], whatif_value(study, i, run->point), label, TEXT));
    }
    frame_result(frame, run->result);
}

static void tradeoff_report_print_title(const struct tradeoff *tradeoff,
                                        const struct targets *targets, FILE *out)
{
    char line[LINE] = "", all[TARGETS_TEXT];
    text_append(line, LINE, "%u of %u run%s", tradeoff->pareto_count, tradeoff->run_count,
                text_plural(tradeoff->run_count));
    if (targets->count > 0) {
        text_append(line, LINE, " that meet%s %s", tradeoff->run_count == 1 ? "s" : "",
                    targets_text(targets, all));
    }
    text_append(line, LINE, " %s on the Pareto front: no other has more tokens/s%s",
                tradeoff->pareto_count == 1 ? "is" : "are",
                tradeoff->serves ? " a GPU, a shorter p99 of TTFT or a shorter TPOT without being "
                                   "worse in another of these; servers whose queue grows are left "
                                   "out"
                                 : ", a shorter step, less HBM or more mass without being worse in "
                                   "another of these");
    table_line("", line, out);
    fputc('\n', out);
}

static bool tradeoff_report_print_runs(const struct tradeoff *tradeoff,
                                       const struct table_view *view, FILE *out, struct error *why)
{
    struct frame *frame = create_frame(tradeoff, view, why);
    for (uint32_t i = 0; frame != NULL && i < tradeoff->pareto_count; i++) {
        tradeoff_report_put_run(tradeoff, &tradeoff->pareto[i], frame);
    }
    bool good = frame != NULL && frame_print(frame, view, out, why);
    frame_destroy(frame);
    return good;
}

static void tradeoff_report_print_absent(const struct tradeoff *tradeoff, FILE *out)
{
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        if (tradeoff->why[i].found[0] != '\0') {
            fprintf(out, "%s on %s: %s\n", tradeoff->candidates[i].system,
                    tradeoff->candidates[i].machine, tradeoff->why[i].found);
        }
    }
    left_out_print(tradeoff->candidates, tradeoff->count, out);
}

bool tradeoff_report(const struct tradeoff *tradeoff, const struct targets *targets,
                     const struct table_view *view, FILE *out, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < tradeoff->pareto_count; i++) {
        runs_notes_add(notes, tradeoff->pareto[i].result);
    }
    if (good && tradeoff->pareto_count > 0) {
        runs_notes_print_above(notes, &tradeoff->candidates[0].scenario, out);
        tradeoff_report_print_title(tradeoff, targets, out);
        good = tradeoff_report_print_runs(tradeoff, view, out, why);
    }
    if (good) {
        tradeoff_report_print_absent(tradeoff, out);
        runs_notes_print_below(notes, true, view->why, out);
    }
    runs_notes_destroy(notes);
    return good;
}

/* ---- for programs ---- */

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* Candidates without a run. */
static struct frame *frame_absent(const struct tradeoff *tradeoff, struct error *why)
{
    static const struct frame_column absent[] = {{.key = "system"},
                                                 {.key = "hardware"},
                                                 {.key = "left_out"},
                                                 {.key = "error"},
                                                 {.key = "run"}};
    struct frame *frame = frame_create(absent, sizeof absent / sizeof absent[0], why);
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        const struct candidate *candidate = &tradeoff->candidates[i];
        const char *const texts[] = {candidate->system, candidate->machine,
                                     text_or_null(candidate->left_out),
                                     text_or_null(tradeoff->why[i].found)};
        if (texts[2] != NULL || texts[3] != NULL) {
            frame_add(frame, texts, 4);
        }
    }
    return frame;
}

bool tradeoff_print_json(const struct tradeoff *tradeoff, FILE *out, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < tradeoff->pareto_count; i++) {
        good = run_print_json(tradeoff->pareto[i].result, NULL, out, why);
    }
    struct frame *absent = good ? frame_absent(tradeoff, why) : NULL;
    good = good && frame_print_json(absent, out, why);
    frame_destroy(absent);
    return good;
}
