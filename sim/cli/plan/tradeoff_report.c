/* One row per run of the Pareto front, the fastest first. */
#include "cli/plan/plan_report.h"

#include "core/text.h"
#include "cli/frame/left_out.h"
#include "cli/runs/runs_notes.h"
#include "cli/runs/runs_text.h"

#include <assert.h>
#include <string.h>

enum { TEXT = 64, LINE = 2048 };
enum {
    SYSTEM,
    HARDWARE,
    AXIS,
    STEPS = AXIS + WHATIF_MOST_AXES,
    SERVED = STEPS + 5,
    EACH_GPU = SERVED + 4
};

static const struct frame_column columns[] = {
    [SYSTEM] = {.title = "system"},
    [HARDWARE] = {.title = "hardware"},
    [AXIS] = {.unit = UNIT_COUNT}, /* each axis is a title */
    [AXIS + 1] = {.unit = UNIT_COUNT},
    /* of decode steps alone */
    [STEPS] = {.of = "kv", .optional = true, .drop = 1},
    {.of = "cache_bytes", .optional = true, .extra = true},
    {.of = "hbm_bytes", .optional = true},
    {.of = "hit_ratio", .optional = true, .drop = 2},
    {.of = "mass_recall", .optional = true},
    [SERVED] = {.of = "ttft_ms", .optional = true},
    {.of = "ttft_p99_ms", .title = "p99", .optional = true},
    {.of = "tpot_ms"},
    {.of = "decode_tokens_per_s"},
    [EACH_GPU] = {.of = "tokens_per_s_per_gpu"},
    {.of = "cost_per_million_tokens", .optional = true},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

const struct frame_column *tradeoff_columns(uint32_t *count)
{
    *count = COLUMNS;
    return columns;
}

/* ---- the table ---- */

/* A study with all axes: a system without a cache lacks the first of two. */
static const struct whatif *widest(const struct tradeoff *tradeoff)
{
    const struct whatif *most = &tradeoff->studies[tradeoff->pareto[0].study];
    for (uint32_t i = 1; i < tradeoff->pareto_count; i++) {
        const struct whatif *study = &tradeoff->studies[tradeoff->pareto[i].study];
        most = study->axis_count > most->axis_count ? study : most;
    }
    return most;
}

static struct frame *create_frame(const struct tradeoff *tradeoff, const struct table_view *view,
                                  struct error *why)
{
    const struct whatif *study = widest(tradeoff);
    struct frame_column own[COLUMNS];
    memcpy(own, columns, sizeof columns);
    for (uint32_t i = 0; i < study->axis_count; i++) {
        own[AXIS + i].title = axis_title(&study->axes[i]);
    }
    for (uint32_t i = STEPS; tradeoff->serves && i < SERVED; i++) {
        own[i].extra = true;
    }
    own[EACH_GPU].extra = !tradeoff->serves;
    return frame_create_view(own, COLUMNS, view, why);
}

static void tradeoff_report_put_run(const struct tradeoff *tradeoff, const struct tradeoff_run *run,
                                    struct frame *frame)
{
    const struct whatif *study = &tradeoff->studies[run->study];
    uint32_t skipped = widest(tradeoff)->axis_count - study->axis_count;
    frame_row(frame);
    frame_text(frame, SYSTEM, result_cell(run->result, COLUMN(system))->text);
    frame_text(frame, HARDWARE, result_cell(run->result, COLUMN(hardware))->text);
    for (uint32_t i = 0; i < study->axis_count; i++) {
        char label[TEXT];
        frame_text(frame, AXIS + skipped + i,
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
    left_out_print(tradeoff->candidates, tradeoff->count, true, out);
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
