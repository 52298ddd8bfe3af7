/* All candidates take their rounds together, so that candidates that differ only in the machine
 * need the same replays at the same time. */

#include "study/plan/planning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "predict/server/serving_load.h"
#include "study/plan/lengthen.h"
#include "study/plan/planning_parts.h"
#include "study/plan/target.h"
#include "study/plan/winner.h"
#include "study/sweep/sweep.h"

/* The most tries of a candidate in a round. Three rounds reduce an axis of 256 values to one. */
enum { A_ROUND = 9 };

/* Bytes of generated frames that are remembered, because each round reads them again. */
#define REMEMBERED ((size_t)256 << 20)

/* ---- rounds ---- */

struct round {
    struct planning *planning;
    const struct planning_options *options;
    struct tried_value *tries; /* [A_ROUND for each search], owned */
    uint32_t count;
};

void planning_report(const struct search *search, uint32_t tried,
                     const struct planning_options *options)
{
    if (options->on_progress != NULL) {
        options->on_progress(search->candidate->system, search->candidate->machine, tried,
                             options->context);
    }
}

/* Judge a value by the targets that the search has at present. A run without the figure that is
 * compared is no answer. */
static void planning_judge(struct search *search, uint32_t value,
                           const struct planning_options *options)
{
    const struct result *result = &search->results[value];
    double violation = targets_violation(&search->targets, result);
    if (options->by_figure) {
        double merit = best_merit(options->best, result);
        grid_put_merit(&search->grid, value, isnan(merit) ? INFINITY : violation, merit);
    } else {
        grid_put(&search->grid, value, violation);
    }
}

static bool planning_take(uint32_t index, struct result *result, void *context, struct error *why)
{
    const struct round *round = context;
    const struct planning_options *options = round->options;
    struct search *search = round->tries[index].search;
    uint32_t value = round->tries[index].value;
    (void)why;
    search->results[value] = *result;
    result_init(result);
    planning_judge(search, value, options);
    planning_report(search, search->grid.tried, options);
    return true;
}

static void add_tries(struct round *round, struct search *search)
{
    uint32_t values[A_ROUND], tries = round->options->tries;
    uint32_t most = tries > 0 ? tries : A_ROUND;
    uint32_t count = search->grid.count > 0 ? grid_next(&search->grid, most, values) : 0;
    for (uint32_t i = 0; i < count; i++) {
        round->tries[round->count++] = (struct tried_value){search, values[i]};
    }
}

/* The next tries of all candidates, system by system: a system's machines share replays. */
static void collect_tries(struct round *round)
{
    struct planning *planning = round->planning;
    round->count = 0;
    for (uint32_t i = 0; i < planning->count; i++) {
        bool is_first = true;
        const char *system = planning->searches[i].candidate->system;
        for (uint32_t j = 0; j < i && is_first; j++) {
            is_first = strcmp(planning->searches[j].candidate->system, system) != 0;
        }
        for (uint32_t j = i; j < planning->count && is_first; j++) {
            if (strcmp(planning->searches[j].candidate->system, system) == 0) {
                add_tries(round, &planning->searches[j]);
            }
        }
    }
}

static void planning_judge_again(struct search *search, const struct targets *targets,
                                 const struct planning_options *options)
{
    search->targets = *targets;
    for (uint32_t i = 0; i < search->grid.count; i++) {
        if (grid_tried(&search->grid, i)) {
            planning_judge(search, i, options);
        }
    }
}

/* If no candidate meets all targets, go on with those that a candidate's tries meet one by one. Not
 * for loads: the lowest is nearest, and what it misses no load meets. */
static void relax_targets(struct planning *planning, const struct planning_options *options)
{
    bool found = false;
    for (uint32_t i = 0; i < planning->count && !found; i++) {
        const struct grid *grid = &planning->searches[i].grid;
        found = grid->count > 0 && grid_found(grid) != GRID_NONE;
    }
    for (uint32_t i = 0; i < planning->count && !found; i++) {
        struct search *search = &planning->searches[i];
        struct targets reachable;
        reachable_targets(search, &options->targets, &reachable);
        if (reachable.count > 0 && reachable.count < options->targets.count && !search->grid.load) {
            planning_judge_again(search, &reachable, options);
        }
    }
}

/* Candidates without tries in the round are decided. The tries of a candidate stand together. */
static void report_decided(const struct round *round)
{
    uint32_t open = 0, all = round->planning->count;
    for (uint32_t i = 0; i < round->count; i++) {
        open += i == 0 || round->tries[i].search != round->tries[i - 1].search;
    }
    if (round->options->on_decided != NULL) {
        round->options->on_decided(all - open, all, round->options->context);
    }
}

static bool planning_lay(uint32_t index, struct scenario *out, void *context, struct error *why)
{
    const struct round *round = context;
    const struct tried_value *tried = &round->tries[index];
    return search_scenario(tried->search, round->options->maximise, tried->value, out, why);
}

static bool planning_run_round(struct round *round, struct sources *sources, bool *interrupted,
                               struct error *why)
{
    const struct tries tries = {.count = round->count,
                                .store = round->options->store,
                                .jobs = round->options->jobs,
                                .runs = round->options->runs,
                                .sources = sources,
                                .lay = planning_lay,
                                .take = planning_take,
                                .context = round};
    return tries_run(&tries, interrupted, why);
}

static bool planning_run_rounds(struct planning *planning, const struct scenario *scenario,
                                const struct planning_options *options, bool *interrupted,
                                struct error *why)
{
    struct round round = {.planning = planning, .options = options};
    round.tries = array_zeroed((size_t)planning->count * A_ROUND, sizeof *round.tries, why);
    bool good = round.tries != NULL, relaxed = false;
    while (good && !*interrupted) {
        collect_tries(&round);
        if (round.count == 0 && !relaxed) {
            relaxed = true;
            relax_targets(planning, options);
            collect_tries(&round);
        }
        report_decided(&round);
        if (round.count == 0) {
            break;
        }
        good = planning_run_round(&round, scenario->sources, interrupted, why);
    }
    for (uint32_t i = 0; i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        if (search->grid.count > 0) {
            planning_judge_again(search, &options->targets, options);
            search->found = grid_found(&search->grid);
            search->nearest = reachable_nearest(search, &options->targets);
        }
    }
    free(round.tries);
    return good;
}

/* ---- all of it ---- */

/* If no search can begin, the error of the first one is the reason. */
static bool planning_check_any(const struct planning *planning, struct error *why)
{
    const struct search *first = NULL;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        if (search->grid.count > 0) {
            return true;
        }
        first = first == NULL && search->cannot ? search : first;
    }
    if (first != NULL) {
        *why = first->why;
        return false;
    }
    return candidates_refuse(planning->candidates, why);
}

static bool begin_all(struct planning *planning, const struct planning_options *options,
                      struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        search->candidate = &planning->candidates[i];
        search->targets = options->targets;
        search->found = search->nearest = PLANNING_NONE;
        good = planning->candidates[i].left_out[0] != '\0' ||
               search_begin(search, &planning->candidates[i], options, why);
    }
    return good && planning_check_any(planning, why) &&
           typed_values_check(planning, options->axis, why);
}

bool planning_run(const struct scenario *scenario, const struct planning_options *options,
                  struct planning *out, bool *interrupted, struct error *why)
{
    *out = (struct planning){.runs = options->runs,
                             .maximise = options->maximise,
                             .by_figure = options->by_figure,
                             .best = options->by_figure ? options->best : NULL,
                             .winner = PLANNING_NONE,
                             .nearest = PLANNING_NONE};
    sources_remember(scenario->sources, REMEMBERED);
    *interrupted = false;
    if (scenario->sweep != NULL) {
        error_usage(why, NULL, 0, "a plan needs a scenario of one point; this one sweeps '%s'",
                    scenario->sweep->children[0]->key);
        return error_expect(why, "--minimise %s, or a scenario of one point",
                            scenario->sweep->children[0]->key);
    }
    bool good =
        candidates_create(scenario, &options->candidates, &out->candidates, &out->count, why) &&
        (out->searches = array_zeroed(out->count, sizeof *out->searches, why)) != NULL &&
        begin_all(out, options, why) && planning_probe(out, scenario, options, interrupted, why) &&
        (*interrupted || planning_run_rounds(out, scenario, options, interrupted, why));
    if (good) {
        winner_find(out);
    }
    return good;
}

void planning_release(struct planning *planning)
{
    for (uint32_t i = 0; planning->searches != NULL && i < planning->count; i++) {
        search_release(&planning->searches[i]);
    }
    free(planning->searches);
    candidates_destroy(planning->candidates, planning->count);
    *planning = (struct planning){.count = 0};
}

void planning_count_tried(const struct planning *planning, struct planning_tried *sum)
{
    for (uint32_t i = 0; planning->searches != NULL && i < planning->count; i++) {
        sum->runs += planning->searches[i].grid.tried;
        sum->values += planning->searches[i].grid.count;
    }
}

/* A search whose made-up workload is long enough for its answer (lengthen.h): it is made again with
 * as many requests as the answer needs, until that suffices.
 */

enum { ROUNDS = 6 };

/* Of sessions: as many as show the next higher rate that was tried. The highest rate may be far
 * above it, so that they are doubled at least. */
static uint64_t sessions_wanted(const struct planning *planning, const struct search *winner)
{
    uint32_t miss = search_next_miss(winner);
    if (planning->requests == 0) {
        return LENGTHEN_SESSIONS;
    }
    if (miss == PLANNING_NONE || planning->requests >= LENGTHEN_SESSIONS_MOST ||
        !serving_sessions_lack(&winner->results[miss])) {
        return 0;
    }
    double rate = search_value(winner, planning->maximise, miss)->number;
    double session = serving_session_s(&winner->results[miss], rate);
    uint64_t more = lengthen_spare(serving_lasting(rate, session));
    more = more > 2 * planning->requests ? more : 2 * planning->requests;
    return more < LENGTHEN_SESSIONS_MOST ? more : LENGTHEN_SESSIONS_MOST;
}

/* Requests that the answer needs; 0: it has enough, or there is none. */
static uint64_t wanted(const struct scenario *scenario, const struct planning *planning)
{
    if (planning->winner == PLANNING_NONE) {
        return 0;
    }
    const struct search *winner = &planning->searches[planning->winner];
    if (lengthen_has_sessions(scenario)) {
        return sessions_wanted(planning, winner);
    }
    return lengthen_spare(serving_requests_wanted(&winner->results[winner->found]));
}

/* The scenario has `more` requests. */
static bool run_longer(const struct scenario *scenario, const struct planning_options *options,
                       uint64_t more, struct planning *out, bool *interrupted, struct error *why)
{
    struct scenario longer;
    bool good = scenario_copy(scenario, &longer, why) && lengthen_set(&longer, more, why);
    planning_release(out);
    good = good && planning_run(&longer, options, out, interrupted, why);
    out->requests = more;
    scenario_release(&longer);
    return good;
}

bool planning_run_long(const struct scenario *scenario, const struct planning_options *options,
                       struct planning *out, bool *interrupted, struct error *why)
{
    struct planning_options with = *options;
    with.may_lengthen = lengthen_may(scenario);
    bool good = planning_run(scenario, &with, out, interrupted, why);
    for (int round = 0; good && !*interrupted && round < ROUNDS && with.may_lengthen; round++) {
        uint64_t more = wanted(scenario, out);
        if (more == 0 || more > LENGTHEN_MOST) {
            break;
        }
        good = run_longer(scenario, options, more, out, interrupted, why);
    }
    return good;
}
