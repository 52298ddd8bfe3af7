#include "study/plan/tradeoff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/server/serving_load.h"

/* Values per axis. Fewer than for a study of one system, because there are two axes and many systems. */
enum { POINTS = 8 };

/* ---- runs ---- */

/* The axes asked for; or the load of a server, budgets and batches, or batches alone without a cache. */
static const char *axes_of(const struct candidate *candidate,
                           const struct tradeoff_options *options, bool sized)
{
    bool clients = scenario_states(&candidate->scenario, "clients");
    return options->over != NULL                    ? options->over
           : !scenario_serves(&candidate->scenario) ? (sized ? "budget,batch" : "batch")
           : clients                                ? "clients"
                                                    : "rate";
}

/* Run a candidate over its axes. If it cannot be run, `refused` says why; a later failure is an error. */
static bool walk_candidate(struct candidate *candidate, const struct tradeoff_options *options,
                           struct whatif *out, struct error *refused, struct error *why)
{
    struct planned own;
    bool can = planned_point(&candidate->scenario, 0, options->study.runs, &own, refused),
         sized = false;
    if (can) {
        candidate_check(candidate, &own.point.setup, &options->candidates);
        sized = axis_no_budget(&own.point.setup) == NULL;
    }
    planned_release(&own);
    const struct whatif_options with = {.over = axes_of(candidate, options, sized),
                                        .points = options->over != NULL ? 0 : POINTS,
                                        .study = options->study};
    if (!stop_flag_check(options->study.runs->stop, why)) {
        return false;
    }
    if (!can || candidate->left_out[0] != '\0' ||
        whatif_run(&candidate->scenario, &with, out, refused)) {
        return true;
    }
    if (options->over == NULL && strcmp(refused->file, "--over") == 0) { /* nobody typed that */
        snprintf(refused->file, sizeof refused->file, "--pareto");
    }
    *why = *refused;
    return refused->kind == ERROR_USAGE;
}

static bool walk_all(struct tradeoff *tradeoff, const struct tradeoff_options *options,
                     struct error *why)
{
    const struct error *first = NULL;
    uint32_t walked = 0;
    bool good = true;
    for (uint32_t i = 0; good && i < tradeoff->count; i++) {
        struct candidate *candidate = &tradeoff->candidates[i];
        struct error *refused = &tradeoff->why[i];
        if (candidate->left_out[0] != '\0') {
            continue;
        }
        good = walk_candidate(candidate, options, &tradeoff->studies[i], refused, why);
        bool is_refused = refused->found[0] != '\0';
        walked += !is_refused && candidate->left_out[0] == '\0' ? 1 : 0;
        first = is_refused && first == NULL ? refused : first;
    }
    if (!good) {
        return false;
    }
    if (walked == 0 && first != NULL) {
        *why = *first;
        return false;
    }
    return walked > 0 || candidates_refuse(tradeoff->candidates, why);
}

/* ---- the Pareto front ---- */

static bool is_held(const struct result *result, const struct targets *targets)
{
    const struct cell *cells = result->cells;
    return result_ok(result) && cells[COLUMN(decode_tokens_per_s)->index].set &&
           !serving_sessions_lack(result) && cells[COLUMN(queue_grows)->index].integer == 0 &&
           cells[COLUMN(requests_left_out)->index].integer == 0 &&
           targets_violation(targets, result) == 0;
}

/* A figure that a run lacks counts as 0. */
static struct tradeoff_run compared_run(const struct whatif *study, uint32_t point)
{
    const struct result *result = &study->results[point];
    const struct column *const served[TRADEOFF_FIGURES] = {COLUMN(tokens_per_s_per_gpu),
                                                           COLUMN(ttft_p99_ms), COLUMN(tpot_ms)};
    const struct column *const steps[TRADEOFF_FIGURES] = {
        COLUMN(decode_tokens_per_s), COLUMN(tpot_ms), COLUMN(hbm_bytes), COLUMN(mass_recall)};
    bool serves = result_cell(result, COLUMN(requests))->set;
    struct tradeoff_run run = {.study = study, .point = point, .result = result};
    for (int i = 0; i < TRADEOFF_FIGURES; i++) {
        const struct column *column = (serves ? served : steps)[i];
        double number = column != NULL ? result_number(result, column) : 0;
        bool more = i == 0 || column == COLUMN(mass_recall);
        run.figures[i] = isnan(number) ? 0 : more ? number : -number;
    }
    return run;
}

static bool beats(const struct tradeoff_run *a, const struct tradeoff_run *b)
{
    bool better = false;
    for (int i = 0; i < TRADEOFF_FIGURES; i++) {
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
    const struct tradeoff_run *x = a, *y = b;
    return x->figures[0] != y->figures[0] ? (x->figures[0] < y->figures[0] ? 1 : -1)
           : x->study != y->study         ? (x->study > y->study ? 1 : -1)
                                          : (int)x->point - (int)y->point;
}

/* Compares every pair of runs: a study has hundreds, and each took milliseconds to simulate. */
static bool find_front(struct tradeoff *tradeoff, const struct targets *targets, struct error *why)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        most += tradeoff->studies[i].count;
    }
    struct tradeoff_run *runs = array_zeroed(most, sizeof *runs, why);
    tradeoff->front = array_zeroed(most, sizeof *tradeoff->front, why);
    bool good = runs != NULL && tradeoff->front != NULL;
    for (uint32_t i = 0; good && i < tradeoff->count; i++) {
        const struct whatif *study = &tradeoff->studies[i];
        for (uint32_t point = 0; point < study->count; point++) {
            if (is_held(&study->results[point], targets)) {
                runs[tradeoff->compared++] = compared_run(study, point);
            }
        }
    }
    for (uint32_t i = 0; i < tradeoff->compared; i++) {
        bool beaten = false;
        for (uint32_t j = 0; j < tradeoff->compared && !beaten; j++) {
            beaten = beats(&runs[j], &runs[i]);
        }
        if (!beaten) {
            tradeoff->front[tradeoff->front_count++] = runs[i];
        }
    }
    if (good) {
        qsort(tradeoff->front, tradeoff->front_count, sizeof *runs, by_throughput);
    }
    free(runs);
    return good;
}

bool tradeoff_run(const struct scenario *scenario, const struct tradeoff_options *options,
                  struct tradeoff *out, struct error *why)
{
    *out = (struct tradeoff){.count = 0};
    return sweep_is_one_point(scenario, why) &&
           candidates_create(scenario, &options->candidates, &out->candidates, &out->count, why) &&
           (out->studies = array_zeroed(out->count, sizeof *out->studies, why)) != NULL &&
           (out->why = array_zeroed(out->count, sizeof *out->why, why)) != NULL &&
           walk_all(out, options, why) && find_front(out, &options->targets, why);
}

void tradeoff_release(struct tradeoff *tradeoff)
{
    for (uint32_t i = 0; tradeoff->studies != NULL && i < tradeoff->count; i++) {
        whatif_release(&tradeoff->studies[i]);
    }
    free(tradeoff->studies);
    free(tradeoff->why);
    free(tradeoff->front);
    candidates_destroy(tradeoff->candidates, tradeoff->count);
    *tradeoff = (struct tradeoff){.count = 0};
}
