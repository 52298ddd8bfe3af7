#include "study/plan/tradeoff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "predict/server/serving_load.h"

/* Values per axis. Fewer than for a study of one system, because there are two axes and many
 * systems. */
enum { POINTS = 8 };

/* ---- runs ---- */

/* The axes asked for; or the load of a server, or budgets and batches, or batches alone if there is
 * no cache to size. */
static const char *axes_of(const struct candidate *candidate,
                           const struct tradeoff_options *options, bool sized)
{
    bool clients = scenario_states(&candidate->scenario, "clients");
    return options->over != NULL                    ? options->over
           : !scenario_serves(&candidate->scenario) ? (sized ? "budget,batch" : "batch")
           : clients                                ? "clients"
                                                    : "rate";
}

/* Run a candidate over its axes. If it cannot be run, `refused` says why and the others go on. A
 * failure in the middle is an error. */
static bool walk_candidate(struct candidate *candidate, const struct tradeoff_options *options,
                           struct whatif *out, bool *interrupted, struct error *refused,
                           struct error *why)
{
    struct planned own;
    bool can = planned_point(&candidate->scenario, 0, options->study.runs, &own, refused),
         sized = false;
    if (can) {
        candidate_check(candidate, &own.point.setup, &options->candidates);
        sized = axis_no_budget(&own.point.setup) == NULL;
    }
    planned_release(&own);
    *interrupted = atomic_load(&options->study.runs->stop->raised);
    const struct whatif_options with = {.over = axes_of(candidate, options, sized),
                                        .points = options->over != NULL ? 0 : POINTS,
                                        .study = options->study};
    if (!can || *interrupted || candidate->left_out[0] != '\0' ||
        whatif_run(&candidate->scenario, &with, out, interrupted, refused)) {
        return true;
    }
    if (options->over == NULL && strcmp(refused->file, "--over") == 0) { /* nobody typed that */
        snprintf(refused->file, sizeof refused->file, "--pareto");
    }
    *why = *refused;
    return refused->kind == ERROR_USAGE;
}

static bool walk_all(struct tradeoff *tradeoff, const struct tradeoff_options *options,
                     bool *interrupted, struct error *why)
{
    const struct error *first = NULL;
    uint32_t walked = 0;
    bool good = true;
    for (uint32_t i = 0; good && i < tradeoff->count && !*interrupted; i++) {
        struct candidate *candidate = &tradeoff->candidates[i];
        struct error *refused = &tradeoff->why[i];
        if (candidate->left_out[0] != '\0') {
            continue;
        }
        good = walk_candidate(candidate, options, &tradeoff->studies[i], interrupted, refused, why);
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

static struct pareto_point tradeoff_place(const struct result *result, bool serves)
{
    const struct cell *cells = result->cells, *mass = &cells[COLUMN(mass_recall)->index];
    if (serves) {
        return (struct pareto_point){{cells[COLUMN(tokens_per_s_per_gpu)->index].real,
                                      -(double)cells[COLUMN(ttft_p99_ms)->index].integer,
                                      -(double)cells[COLUMN(tpot_ms)->index].integer, 0}};
    }
    return (struct pareto_point){{cells[COLUMN(decode_tokens_per_s)->index].real,
                                  -(double)cells[COLUMN(tpot_ms)->index].integer,
                                  -(double)cells[COLUMN(hbm_bytes)->index].integer,
                                  mass->set ? mass->real : 0}};
}

static int tradeoff_by_rate(const void *a, const void *b)
{
    const struct tradeoff_run *x = a, *y = b;
    bool serves = result_cell(x->result, COLUMN(requests))->set;
    const struct column *column =
        serves ? COLUMN(tokens_per_s_per_gpu) : COLUMN(decode_tokens_per_s);
    double rate = result_number(x->result, column), other = result_number(y->result, column);
    if (rate != other) {
        return rate > other ? -1 : 1;
    }
    return x->study != y->study ? (int)x->study - (int)y->study : (int)x->point - (int)y->point;
}

/* Collect the runs to compare into `runs`, which has room for all. Returns their number. */
static uint32_t gather(const struct tradeoff *tradeoff, const struct targets *targets,
                       struct tradeoff_run *runs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        for (uint32_t point = 0; point < tradeoff->studies[i].count; point++) {
            const struct result *result = &tradeoff->studies[i].results[point];
            if (is_held(result, targets)) {
                runs[count++] = (struct tradeoff_run){i, point, result};
            }
        }
    }
    return count;
}

static bool find_pareto(struct tradeoff *tradeoff, const struct targets *targets, struct error *why)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < tradeoff->count; i++) {
        all += tradeoff->studies[i].count;
    }
    tradeoff->pareto = array_zeroed(all, sizeof *tradeoff->pareto, why);
    struct pareto_point *points = array_zeroed(all, sizeof *points, why);
    bool *on_front = array_zeroed(all, sizeof *on_front, why);
    bool good = tradeoff->pareto != NULL && points != NULL && on_front != NULL;
    if (good) {
        tradeoff->run_count = gather(tradeoff, targets, tradeoff->pareto);
        for (uint32_t i = 0; i < tradeoff->run_count; i++) {
            points[i] = tradeoff_place(tradeoff->pareto[i].result, tradeoff->serves);
        }
        pareto_front(points, tradeoff->run_count, on_front);
        for (uint32_t i = 0; i < tradeoff->run_count; i++) {
            if (on_front[i]) {
                tradeoff->pareto[tradeoff->pareto_count++] = tradeoff->pareto[i];
            }
        }
        qsort(tradeoff->pareto, tradeoff->pareto_count, sizeof *tradeoff->pareto, tradeoff_by_rate);
    }
    free(points);
    free(on_front);
    return good;
}

/* ---- all of it ---- */

bool tradeoff_run(const struct scenario *scenario, const struct tradeoff_options *options,
                  struct tradeoff *out, bool *interrupted, struct error *why)
{
    *out = (struct tradeoff){.count = 0};
    *interrupted = false;
    out->serves = scenario_serves(scenario);
    return sweep_is_one_point(scenario, why) &&
           candidates_create(scenario, &options->candidates, &out->candidates, &out->count, why) &&
           (out->studies = array_zeroed(out->count, sizeof *out->studies, why)) != NULL &&
           (out->why = array_zeroed(out->count, sizeof *out->why, why)) != NULL &&
           walk_all(out, options, interrupted, why) && find_pareto(out, &options->targets, why);
}

void tradeoff_release(struct tradeoff *tradeoff)
{
    for (uint32_t i = 0; tradeoff->studies != NULL && i < tradeoff->count; i++) {
        whatif_release(&tradeoff->studies[i]);
    }
    free(tradeoff->studies);
    free(tradeoff->why);
    free(tradeoff->pareto);
    candidates_destroy(tradeoff->candidates, tradeoff->count);
    *tradeoff = (struct tradeoff){.count = 0};
}

/* Compares every pair of points: a study has hundreds, and each took milliseconds to simulate. */

static bool beats(const struct pareto_point *a, const struct pareto_point *b)
{
    bool better = false;
    for (int i = 0; i < PARETO_FIGURES; i++) {
        if (a->figures[i] < b->figures[i]) {
            return false;
        }
        better = better || a->figures[i] > b->figures[i];
    }
    return better;
}

void pareto_front(const struct pareto_point *points, uint32_t count, bool *on_front)
{
    for (uint32_t i = 0; i < count; i++) {
        on_front[i] = true;
        for (uint32_t j = 0; j < count && on_front[i]; j++) {
            on_front[i] = !beats(&points[j], &points[i]);
        }
    }
}
