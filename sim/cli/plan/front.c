/* `plan --pareto`: a row for each run of a Pareto front, the fastest first. */
#include <string.h>

#include "cli/frame/left_out.h"
#include "cli/frame/message.h"
#include "cli/frame/output.h"
#include "cli/plan/plan_report.h"
#include "cli/runs/runs_text.h"
#include "core/text.h"
#include "study/plan/tradeoff.h"

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
    [SERVED] = {.of = "ttft_ms", .title = "TTFT mean ms", .optional = true},
    {.of = "ttft_p99_ms", .title = "p99", .optional = true},
    {.of = "tpot_ms"},
    {.of = "decode_tokens_per_s"},
    [EACH_GPU] = {.of = "tokens_per_s_per_gpu"},
    {.of = "cost_per_million_tokens", .optional = true},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

const struct frame_column *front_columns(uint32_t *count)
{
    *count = COLUMNS;
    return columns;
}

/* A study with all axes: a system without a cache lacks the first of two. */
static const struct whatif *widest(const struct tradeoff *tradeoff)
{
    const struct whatif *most = tradeoff->front[0].study;
    for (uint32_t i = 1; i < tradeoff->front_count; i++) {
        const struct whatif *study = tradeoff->front[i].study;
        most = study->axis_count > most->axis_count ? study : most;
    }
    return most;
}

static struct frame *front_frame(const struct tradeoff *tradeoff, bool serves,
                                 const struct table_view *view, struct error *why)
{
    const struct whatif *most = widest(tradeoff);
    struct frame_column own[COLUMNS];
    memcpy(own, columns, sizeof columns);
    for (uint32_t i = 0; i < most->axis_count; i++) {
        own[AXIS + i].title = axis_title(&most->axes[i]);
    }
    for (uint32_t i = STEPS; serves && i < SERVED; i++) {
        own[i].extra = true;
    }
    own[EACH_GPU].extra = !serves;
    struct frame *frame = frame_create_view(own, COLUMNS, view, why);
    for (uint32_t run = 0; frame != NULL && run < tradeoff->front_count; run++) {
        const struct tradeoff_run *at = &tradeoff->front[run];
        uint32_t skipped = most->axis_count - at->study->axis_count;
        frame_row(frame);
        frame_text(frame, SYSTEM, result_cell(at->result, COLUMN(system))->text);
        frame_text(frame, HARDWARE, result_cell(at->result, COLUMN(hardware))->text);
        for (uint32_t i = 0; i < at->study->axis_count; i++) {
            char label[TEXT];
            uint32_t value = whatif_value(at->study, i, at->point);
            frame_text(frame, AXIS + skipped + i,
                       axis_label(&at->study->axes[i], value, label, TEXT));
        }
        frame_result(frame, at->result);
    }
    return frame;
}

static void front_print_title(const struct tradeoff *tradeoff, const struct targets *targets,
                              bool serves, FILE *out)
{
    char line[LINE] = "", all[TARGETS_TEXT];
    text_append(line, LINE, "%u of %u run%s", tradeoff->front_count, tradeoff->compared,
                text_plural(tradeoff->compared));
    if (targets->count > 0) {
        text_append(line, LINE, " that meet%s %s", tradeoff->compared == 1 ? "s" : "",
                    targets_text(targets, all));
    }
    text_append(
        line, LINE, " %s on the Pareto front of %s", tradeoff->front_count == 1 ? "is" : "are",
        serves ? "tokens/s a GPU, p99 of TTFT and TPOT; servers whose queue grows are left out"
               : "tokens/s, step, HBM and attention mass");
    table_line("", line, out);
    fputc('\n', out);
}

static bool front_report(const struct tradeoff *tradeoff, const struct targets *targets,
                         const struct scenario *scenario, const struct table_view *view, FILE *out,
                         struct error *why)
{
    bool serves = scenario_serves(scenario);
    struct runs_notes *notes = runs_notes_create(why);
    struct frame *frame = NULL;
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < tradeoff->front_count; i++) {
        runs_notes_add(notes, tradeoff->front[i].result);
    }
    if (good && tradeoff->front_count > 0) {
        runs_notes_print_above(notes, scenario, out);
        front_print_title(tradeoff, targets, serves, out);
        frame = front_frame(tradeoff, serves, view, why);
        good = frame != NULL && frame_print(frame, view, out, why);
    }
    for (uint32_t i = 0; good && i < tradeoff->count; i++) {
        if (tradeoff->why[i].found[0] != '\0') {
            fprintf(out, "%s on %s: %s\n", tradeoff->candidates[i].system,
                    tradeoff->candidates[i].machine, tradeoff->why[i].found);
        }
    }
    if (good) {
        left_out_print(tradeoff->candidates, tradeoff->count, true, out);
        runs_notes_print_below(notes, view->why, out);
    }
    frame_destroy(frame);
    runs_notes_destroy(notes);
    return good;
}

/* The runs of the front, then the candidates without a run. */
static bool front_print_json(const struct tradeoff *tradeoff, FILE *out, struct error *why)
{
    static const struct frame_column absent[] = {{.key = "system"},
                                                 {.key = "hardware"},
                                                 {.key = "left_out"},
                                                 {.key = "error"},
                                                 {.key = "run"}};
    struct frame *frame = frame_create(absent, sizeof absent / sizeof absent[0], why);
    bool good = frame != NULL;
    for (uint32_t i = 0; good && i < tradeoff->front_count; i++) {
        good = run_print_json(tradeoff->front[i].result, NULL, out, why);
    }
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        const struct candidate *candidate = &tradeoff->candidates[i];
        const char *left_out = candidate->left_out, *error = tradeoff->why[i].found;
        if (left_out[0] != '\0' || error[0] != '\0') {
            frame_add(frame,
                      (const char *[]){candidate->system, candidate->machine,
                                       left_out[0] != '\0' ? left_out : NULL,
                                       error[0] != '\0' ? error : NULL},
                      4);
        }
    }
    good = good && frame_print_json(frame, out, why);
    frame_destroy(frame);
    return good;
}

bool front_print(const struct scenario *scenario, const char *over,
                 const struct planning_options *with, const struct table_view *view, bool json,
                 struct error *why)
{
    const struct tradeoff_options options = {.over = over,
                                             .targets = with->targets,
                                             .candidates = with->candidates,
                                             .study = with->study};
    struct tradeoff tradeoff;
    bool good = tradeoff_run(scenario, &options, &tradeoff, why);
    progress_clear();
    good = good &&
           (json ? front_print_json(&tradeoff, stdout, why)
                 : front_report(&tradeoff, &with->targets, scenario, view, stdout, why)) &&
           output_flush(stdout, "standard output", why) &&
           (tradeoff.front_count > 0 ||
            error_unmet(why, scenario_serves(scenario)
                                 ? "no run of a server whose queue does not grow meets all targets"
                                 : "no run fits in memory and meets all targets"));
    tradeoff_release(&tradeoff);
    return good;
}
