/* `plan --pareto`: the trade-off between throughput, step latency, HBM and attention mass; for servers, between
 * throughput of a GPU, the 99th percentile of TTFT, and TPOT.
 *
 * Every candidate is run over its budgets and batches, or over its arrival rates or clients, as `whatif` does. Of
 * the runs that meet the targets, those on the Pareto front have a row, the fastest first: no other is at least as
 * good in every figure and better in one. Equal runs are on it together. Servers whose queue grows are left out:
 * their figures hold only for a workload of just this length. */
#include "cli/frame/message.h"
#include "cli/frame/output.h"
#include "cli/plan/plan_report.h"
#include "core/text.h"
#include "predict/server/serving_load.h"
#include "study/whatif/whatif_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* POINTS of an axis: fewer than for a study of one system, because there are two axes and many systems. */
enum { TEXT = 64, LINE = 2048, POINTS = 8, FIGURES = 4 };

struct front_run {
    const struct whatif *study;
    uint32_t point; /* of that study */
    const struct result *result;
    double figures[FIGURES]; /* throughput first; more is better; 0: it has none */
    bool beaten;
};

struct front {
    const struct planning_options *with;
    const char *over;
    bool serves;
    struct candidate *candidates; /* owned */
    struct whatif *studies;       /* [count], owned; empty for candidates that are left out */
    struct error *why;            /* [count], owned; set if a candidate cannot be run */
    uint32_t count;
    uint32_t compared;      /* runs that meet the targets */
    struct front_run *runs; /* [run_count] of them, owned */
    uint32_t run_count;
};

/* Run a candidate over the axes asked for; or the load of a server, budgets and batches, or batches alone without a
 * cache. If it cannot be run, `refused` says why; a later failure is an error. */
static bool front_walk(const struct front *front, struct candidate *candidate, struct whatif *out,
                       struct error *refused, struct error *why)
{
    const struct scenario *scenario = &candidate->scenario;
    struct whatif_options with = {.over = front->over, .study = front->with->study};
    struct planned own;
    bool can = planned_point(scenario, 0, with.study.runs, &own, refused);
    if (can) {
        candidate_check(candidate, &own.point.setup, &front->with->candidates);
    }
    if (can && front->over == NULL) {
        bool sized = axis_no_budget(&own.point.setup) == NULL;
        with.points = POINTS;
        with.over = front->serves ? scenario_states(scenario, "clients") ? "clients" : "rate"
                    : sized       ? "budget,batch"
                                  : "batch";
    }
    planned_release(&own);
    if (!stop_flag_check(with.study.runs->stop, why)) {
        return false;
    }
    if (!can || candidate->left_out[0] != '\0' || whatif_run(scenario, &with, out, refused)) {
        return true;
    }
    if (front->over == NULL && strcmp(refused->file, "--over") == 0) { /* nobody typed that */
        snprintf(refused->file, sizeof refused->file, "--pareto");
    }
    *why = *refused;
    return refused->kind == ERROR_USAGE;
}

/* Fails if no candidate can be run, or if all are left out. */
static bool front_walk_all(struct front *front, struct error *why)
{
    const struct error *first = NULL;
    bool walked = false;
    for (uint32_t i = 0; i < front->count; i++) {
        struct candidate *candidate = &front->candidates[i];
        struct error *refused = &front->why[i];
        if (candidate->left_out[0] != '\0') {
            continue;
        }
        if (!front_walk(front, candidate, &front->studies[i], refused, why)) {
            return false;
        }
        bool is_refused = refused->found[0] != '\0';
        walked = walked || (!is_refused && candidate->left_out[0] == '\0');
        first = is_refused && first == NULL ? refused : first;
    }
    if (!walked && first != NULL) {
        *why = *first;
        return false;
    }
    return walked || candidates_refuse(front->candidates, why);
}

/* ---- the Pareto front ---- */

static void front_add(struct front *front, const struct whatif *study, uint32_t point)
{
    const struct column *const served[FIGURES] = {COLUMN(tokens_per_s_per_gpu), COLUMN(ttft_p99_ms),
                                                  COLUMN(tpot_ms)};
    const struct column *const steps[FIGURES] = {COLUMN(decode_tokens_per_s), COLUMN(tpot_ms),
                                                 COLUMN(hbm_bytes), COLUMN(mass_recall)};
    const struct result *result = &study->results[point];
    const struct cell *cells = result->cells;
    struct front_run run = {.study = study, .point = point, .result = result};
    if (!result_ok(result) || !cells[COLUMN(decode_tokens_per_s)->index].set ||
        serving_sessions_lack(result) || cells[COLUMN(queue_grows)->index].integer != 0 ||
        cells[COLUMN(requests_left_out)->index].integer != 0 ||
        targets_violation(&front->with->targets, result) > 0) {
        return;
    }
    for (int i = 0; i < FIGURES; i++) {
        const struct column *column = (cells[COLUMN(requests)->index].set ? served : steps)[i];
        double number = column != NULL ? result_number(result, column) : 0;
        bool more = i == 0 || column == COLUMN(mass_recall);
        run.figures[i] = isnan(number) ? 0 : more ? number : -number;
    }
    front->runs[front->compared++] = run;
}

static bool beats(const struct front_run *a, const struct front_run *b)
{
    bool better = false;
    for (int i = 0; i < FIGURES; i++) {
        if (a->figures[i] < b->figures[i]) {
            return false;
        }
        better = better || a->figures[i] > b->figures[i];
    }
    return better;
}

/* Of equal throughputs in the order of candidates and points. */
static int by_throughput(const void *a, const void *b)
{
    const struct front_run *x = a, *y = b;
    return x->figures[0] != y->figures[0] ? (x->figures[0] < y->figures[0] ? 1 : -1)
           : x->study != y->study         ? (x->study > y->study ? 1 : -1)
                                          : (int)x->point - (int)y->point;
}

/* Compares every pair of runs: a study has hundreds, and each took milliseconds to simulate. */
static bool front_find(struct front *front, struct error *why)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < front->count; i++) {
        most += front->studies[i].count;
    }
    struct front_run *runs = front->runs = array_zeroed(most, sizeof *runs, why);
    for (uint32_t i = 0; runs != NULL && i < front->count; i++) {
        for (uint32_t point = 0; point < front->studies[i].count; point++) {
            front_add(front, &front->studies[i], point);
        }
    }
    for (uint32_t i = 0; i < front->compared; i++) {
        for (uint32_t j = 0; j < front->compared && !runs[i].beaten; j++) {
            runs[i].beaten = beats(&runs[j], &runs[i]);
        }
    }
    for (uint32_t i = 0; i < front->compared; i++) {
        if (!runs[i].beaten) {
            runs[front->run_count++] = runs[i];
        }
    }
    if (runs != NULL) {
        qsort(runs, front->run_count, sizeof *runs, by_throughput);
    }
    return runs != NULL;
}

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

/* A system without a cache lacks the first of two axes. */
static struct frame *front_frame(const struct front *front, const struct table_view *view,
                                 struct error *why)
{
    const struct whatif *most = front->runs[0].study; /* one with all axes */
    struct frame_column own[COLUMNS];
    memcpy(own, columns, sizeof columns);
    for (uint32_t i = 1; i < front->run_count; i++) {
        const struct whatif *study = front->runs[i].study;
        most = study->axis_count > most->axis_count ? study : most;
    }
    for (uint32_t i = 0; i < most->axis_count; i++) {
        own[AXIS + i].title = axis_title(&most->axes[i]);
    }
    for (uint32_t i = STEPS; front->serves && i < SERVED; i++) {
        own[i].extra = true;
    }
    own[EACH_GPU].extra = !front->serves;
    struct frame *frame = frame_create_view(own, COLUMNS, view, why);
    for (uint32_t run = 0; run < front->run_count; run++) {
        const struct front_run *at = &front->runs[run];
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

static void front_print_title(const struct front *front)
{
    const struct targets *targets = &front->with->targets;
    char line[LINE] = "", all[TARGETS_TEXT];
    bool one = front->compared == 1;
    text_append(line, LINE, "%u of %u run%s%s%s %s on the Pareto front of %s", front->run_count,
                front->compared, one ? "" : "s",
                targets->count == 0 ? ""
                : one               ? " that meets "
                                    : " that meet ",
                targets_text(targets, all), front->run_count == 1 ? "is" : "are",
                front->serves
                    ? "tokens/s a GPU, p99 of TTFT and TPOT; servers whose queue grows are left out"
                    : "tokens/s, step, HBM and attention mass");
    table_line("", line, stdout);
    fputc('\n', stdout);
}

static bool front_report(const struct front *front, const struct scenario *scenario,
                         const struct table_view *view, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct frame *frame = NULL;
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < front->run_count; i++) {
        runs_notes_add(notes, front->runs[i].result);
    }
    if (good && front->run_count > 0) {
        runs_notes_print_above(notes, scenario, stdout);
        front_print_title(front);
        frame = front_frame(front, view, why);
        good = frame != NULL && frame_print(frame, view, stdout, why);
    }
    for (uint32_t i = 0; good && i < front->count; i++) {
        if (front->why[i].found[0] != '\0') {
            printf("%s on %s: %s\n", front->candidates[i].system, front->candidates[i].machine,
                   front->why[i].found);
        }
    }
    if (good) {
        left_out_print(front->candidates, front->count, true, stdout);
        runs_notes_print_below(notes, view->why, stdout);
    }
    frame_destroy(frame);
    runs_notes_destroy(notes);
    return good;
}

static bool front_print_json(const struct front *front, struct error *why)
{
    static const struct frame_column absent[] = {{.key = "system"},
                                                 {.key = "hardware"},
                                                 {.key = "left_out"},
                                                 {.key = "error"},
                                                 {.key = "run"}};
    struct frame *frame = frame_create(absent, sizeof absent / sizeof absent[0], why);
    bool good = frame != NULL;
    for (uint32_t i = 0; good && i < front->run_count; i++) {
        good = run_print_json(front->runs[i].result, NULL, stdout, why);
    }
    for (uint32_t i = 0; i < front->count; i++) {
        const struct candidate *of = &front->candidates[i];
        const char *left_out = of->left_out[0] != '\0' ? of->left_out : NULL;
        const char *error = front->why[i].found[0] != '\0' ? front->why[i].found : NULL;
        if (left_out != NULL || error != NULL) {
            frame_add(frame, (const char *[]){of->system, of->machine, left_out, error}, 4);
        }
    }
    good = good && frame_print_json(frame, stdout, why);
    frame_destroy(frame);
    return good;
}

bool front_print(const struct scenario *scenario, const char *over,
                 const struct planning_options *with, const struct table_view *view, bool json,
                 struct error *why)
{
    struct front front = {.with = with, .over = over, .serves = scenario_serves(scenario)};
    bool good =
        sweep_is_one_point(scenario, why) &&
        candidates_create(scenario, &with->candidates, &front.candidates, &front.count, why) &&
        (front.studies = array_zeroed(front.count, sizeof *front.studies, why)) != NULL &&
        (front.why = array_zeroed(front.count, sizeof *front.why, why)) != NULL &&
        front_walk_all(&front, why) && front_find(&front, why);
    progress_clear();
    good = good &&
           (json ? front_print_json(&front, why) : front_report(&front, scenario, view, why)) &&
           output_flush(stdout, "standard output", why) &&
           (front.run_count > 0 ||
            error_unmet(why, front.serves
                                 ? "no run of a server whose queue does not grow meets all targets"
                                 : "no run fits in memory and meets all targets"));
    for (uint32_t i = 0; front.studies != NULL && i < front.count; i++) {
        whatif_release(&front.studies[i]);
    }
    free(front.studies);
    free(front.why);
    free(front.runs);
    candidates_destroy(front.candidates, front.count);
    return good;
}
