/* A plan of candidates: their rounds, their winner, and a workload that is long enough for it. */
#include "study/plan/planning.h"

#include "core/text.h"
#include "study/sweep/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 160 };

/* Loads that are tried in a round where each try is dear, and tells where the next one is. */
enum { STREAM_TRIES = 2 };

/* ---- where no value meets all targets ---- */

static bool is_reachable(const struct search *search, const struct target *target)
{
    bool met = false;
    for (uint32_t i = 0; i < search->grid.count && !met; i++) {
        met = grid_tried(&search->grid, i) && target_violation(target, &search->results[i]) == 0;
    }
    return met;
}

/* The targets among `all` that at least one tried value of the search meets. */
static void reachable_targets(const struct search *search, const struct targets *all,
                              struct targets *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (is_reachable(search, &all->all[i])) {
            out->all[out->count++] = all->all[i];
        }
    }
}

/* The value nearest to meeting `all`, which the search was judged by: among the tried values that
 * meet every reachable target, the first with the least violation. If none meets them together, and
 * for loads, that of grid_nearest(). */
static uint32_t find_nearest(const struct search *search, const struct targets *all)
{
    struct targets reachable;
    uint32_t nearest = grid_nearest(&search->grid);
    double least = INFINITY;
    reachable_targets(search, all, &reachable);
    for (uint32_t i = 0; !search->grid.load && reachable.count > 0 && i < search->grid.count; i++) {
        double violation = search->grid.violation[i];
        if (grid_tried(&search->grid, i) && violation < least &&
            targets_violation(&reachable, &search->results[i]) == 0) {
            least = violation;
            nearest = i;
        }
    }
    return nearest;
}

/* ---- rounds ---- */

/* Lines are searches, system by system: a system's machines share replays. */
static struct search *planning_line(const struct planning *planning, uint32_t line)
{
    const char *machine = planning->candidates[0].machine;
    uint32_t systems = 1;
    while (systems < planning->count &&
           strcmp(planning->candidates[systems].machine, machine) == 0) {
        systems++;
    }
    uint32_t machines = planning->count / systems;
    return &planning->searches[line % machines * systems + line / machines];
}

static void planning_report(const struct planning *planning, const struct search *search)
{
    const struct study *study = &planning->options.study;
    char what[TEXT];
    snprintf(what, sizeof what, "%.60s on %.60s: %u run%s", search->candidate->system,
             search->candidate->machine, search->grid.tried, text_plural(search->grid.tried));
    if (study->on_progress != NULL) {
        study->on_progress(planning->decided, planning->count, what, study->context);
    }
}

/* Judge a value by the targets that the search has at present. A run without the figure is no answer. */
static void planning_judge(struct search *search, uint32_t value, const struct column *best)
{
    const struct result *result = &search->results[value];
    double violation = targets_violation(&search->targets, result);
    if (best != NULL) {
        double merit = best_merit(best, result);
        grid_put_merit(&search->grid, value, isnan(merit) ? INFINITY : violation, merit);
    } else {
        grid_put(&search->grid, value, violation);
    }
}

static void planning_judge_again(struct search *search, const struct targets *targets,
                                 const struct column *best)
{
    search->targets = *targets;
    for (uint32_t i = 0; i < search->grid.count; i++) {
        if (grid_tried(&search->grid, i)) {
            planning_judge(search, i, best);
        }
    }
}

/* Requests that were too long for the server in a try, which they are at any load: a short run may meet
 * none. */
static double left_out(const struct search *search)
{
    double most = 0;
    for (uint32_t i = 0; i < search->grid.count; i++) {
        most = fmax(most, result_number(&search->results[i], COLUMN(requests_left_out)));
    }
    return most;
}

/* Short tries of a stream that met none of them are judged by what a longer one left out. */
static void share_left_out(struct search *search, const struct column *best)
{
    double most = search->depth != NULL ? left_out(search) : 0;
    for (uint32_t i = 0; most > 0 && i < search->grid.count; i++) {
        if (result_number(&search->results[i], COLUMN(requests_left_out)) == 0) {
            result_integer(&search->results[i], COLUMN(requests_left_out), (int64_t)most);
            planning_judge(search, i, best);
        }
    }
}

static uint32_t planning_next(uint32_t line, uint32_t *values, void *context)
{
    struct planning *planning = context;
    struct search *search = planning_line(planning, line);
    if (search->depth != NULL && left_out(search) > 0 && grid_found(&search->grid) == GRID_NONE) {
        values[0] = search->grid.count - 1; /* the lowest load tells what is missed */
        return !grid_tried(&search->grid, values[0]);
    }
    bool few = search->depth != NULL || (search->grid.load && planning->options.rough);
    return search->grid.count > 0
               ? grid_next(&search->grid, few ? STREAM_TRIES : ROUNDS_MOST, values)
               : 0;
}

/* ---- the winner's load ----
 *
 * Brief runs find about where a capacity lies. The winner's is then asked of long ones: again of the loads
 * that decide, until the one that holds and the one that does not are close; and of both in several draws. */

/* Was it run for as long as it takes to tell? */
static bool is_told(const struct search *search, uint32_t value)
{
    return grid_tried(&search->grid, value) &&
           (search->depth[value] != SEARCH_BRIEF || !search_is_close(search, value));
}

static uint32_t planning_next_long(uint32_t line, uint32_t *values, void *context)
{
    const struct planning *planning = context;
    struct search *search = planning_line(planning, line);
    if (!winner_is(planning, search)) {
        return 0;
    }
    uint32_t found = search->found = grid_found(&search->grid), better = found;
    while (found != PLANNING_NONE && better > 0 && !grid_tried(&search->grid, --better)) {
    }
    values[0] = found == PLANNING_NONE || is_told(search, found) ? better : found;
    if (found != PLANNING_NONE && grid_tried(&search->grid, values[0]) &&
        !is_told(search, values[0])) {
        return 1;
    }
    return grid_next(&search->grid, STREAM_TRIES, values);
}

/* The answer, and the next tried value that misses, in all of their draws. The latter may turn out to hold,
 * which makes it the answer: then loads between it and the next one that misses are tried until two are close. */
static uint32_t planning_next_whole(uint32_t line, uint32_t *values, void *context)
{
    const struct planning *planning = context;
    struct search *search = planning_line(planning, line);
    uint32_t found = grid_found(&search->grid), of = search->grid.count;
    if (!winner_is(planning, search) || found == PLANNING_NONE ||
        (search->grid.violation[search->found] > 0 && search->depth[found] != SEARCH_WHOLE)) {
        return 0; /* a lower load is first asked at length */
    }
    search->found = found;
    bool told = false;
    uint32_t count = 0, inner = found;
    for (uint32_t i = found + 1; i-- > 0 && count == 0 && !told;) {
        bool misses = search->grid.violation[i] > 0;
        if (misses && inner - i > search->grid.close) {
            values[0] = i + (inner - i) / 2;
            return 1;
        }
        count = i == found || misses ? draws_next(&search->draws[i], i, of, values) : 0;
        told = misses && search_surely_misses(search, i);
        inner = grid_tried(&search->grid, i) ? i : inner;
    }
    return count;
}

/* A value that the scenario refuses was typed into the axis. */
static bool planning_set(uint32_t line, uint32_t value, struct scenario *out, void *context,
                         struct error *why)
{
    const struct search *search = planning_line(context, line);
    bool good = search_scenario(search, value % search->grid.count, out, why) &&
                draws_set(out, value / search->grid.count, why);
    if (!good && search->axis.option != NULL && strcmp(why->file, "--set") == 0) {
        snprintf(why->file, sizeof why->file, "%s", search->axis.option);
    }
    return good;
}

static bool planning_take(uint32_t line, uint32_t value, struct result *result, void *context,
                          struct error *why)
{
    struct planning *planning = context;
    struct search *search = planning_line(planning, line);
    uint32_t draw = value / search->grid.count, at = value % search->grid.count;
    struct capacity_draws once = {.asked = 0};
    bool whole = search->depth != NULL && planning->depth == SEARCH_WHOLE;
    bool misses = targets_violation(&planning->options.targets, result) > 0;
    (void)why;
    if (draws_take(whole ? &search->draws[at] : &once, draw, misses, result,
                   &search->results[at])) {
        planning_judge(search, at, planning->options.best);
    }
    share_left_out(search, planning->options.best);
    if (search->depth != NULL) {
        search->depth[at] = (uint8_t)planning->depth;
    }
    planning_report(planning, search);
    return true;
}

static void planning_on_round(uint32_t open, void *context)
{
    struct planning *planning = context;
    planning->decided = planning->count - open;
}

/* If no candidate meets all targets, go on with those that a candidate's tries meet one by one. Not
 * for loads: the lowest is nearest, and what it misses no load meets. */
static void relax_targets(struct planning *planning)
{
    const struct planning_options *options = &planning->options;
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
            planning_judge_again(search, &reachable, options->best);
        }
    }
}

/* ---- the winner ---- */

static double whole_or(const struct cell *cell, double otherwise)
{
    return cell->set ? (double)cell->integer : otherwise;
}

static bool finds_budget(const struct search *search)
{
    return search->fixed != NULL || strcmp(search->axis.key, "mechanisms.budget") == 0;
}

enum { VALUE, HBM, E2E, TPOT, MECHANISMS, COSTS };

/* The cost of a search's value, most important part first. Less is better. */
static void cost_of(const struct planning *planning, const struct search *search,
                    double costs[COSTS])
{
    const struct result *result = &search->results[search->found];
    const struct cell *cells = result->cells;
    double sign = planning->options.maximise ? -1 : 1;
    double hbm = whole_or(&cells[COLUMN(hbm_bytes)->index], INFINITY);
    costs[VALUE] = planning->options.best != NULL ? -best_merit(planning->options.best, result)
                   : finds_budget(search)         ? hbm
                                          : sign * search_value(search, search->found)->number;
    costs[HBM] = hbm;
    costs[E2E] = whole_or(&cells[COLUMN(e2e_ms)->index], INFINITY);
    costs[TPOT] = whole_or(&cells[COLUMN(tpot_ms)->index], INFINITY);
    costs[MECHANISMS] = search->candidate->mechanisms;
}

bool costs_are_less(const double *costs, const double *than, int count)
{
    int i = 0;
    while (i + 1 < count && costs[i] == than[i]) {
        i++;
    }
    return costs[i] < than[i];
}

static bool winner_is_better(const struct planning *planning, const struct search *a,
                             const struct search *b)
{
    double x[COSTS], y[COSTS];
    cost_of(planning, a, x);
    cost_of(planning, b, y);
    return costs_are_less(x, y, COSTS);
}

bool winner_is(const struct planning *planning, const struct search *search)
{
    return planning->winner != PLANNING_NONE && search == &planning->searches[planning->winner];
}

bool winner_ties(const struct planning *planning, const struct search *search)
{
    const struct search *winner = &planning->searches[planning->winner];
    double x[COSTS], y[COSTS];
    if (search == winner || search->found == PLANNING_NONE) {
        return false;
    }
    if (planning->options.best != NULL) {
        return result_tie(&winner->results[winner->found], &search->results[search->found],
                          planning->options.best) != TIE_NONE;
    }
    if (finds_budget(winner)) {
        return false;
    }
    cost_of(planning, winner, x);
    cost_of(planning, search, y);
    return x[VALUE] == y[VALUE] || (winner->grid.load && searches_tie(winner, search) != TIE_NONE);
}

static bool is_simpler(const struct search *a, const struct search *b)
{
    bool x = strcmp(a->candidate->system, PLAIN_SYSTEM) == 0;
    bool y = strcmp(b->candidate->system, PLAIN_SYSTEM) == 0;
    return x != y ? x : a->candidate->mechanisms < b->candidate->mechanisms;
}

uint32_t winner_simplest(const struct planning *planning, const struct search *best,
                         bool (*admits)(const struct search *search))
{
    const struct search *simplest = best;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        if (search->found != PLANNING_NONE && (admits == NULL || admits(search)) &&
            searches_tie(search, best) != TIE_NONE && is_simpler(search, simplest)) {
            simplest = search;
        }
    }
    return (uint32_t)(simplest - planning->searches);
}

static void find_all(struct planning *planning)
{
    const struct planning_options *options = &planning->options;
    planning->winner = PLANNING_NONE;
    for (uint32_t i = 0; i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        if (search->grid.count > 0) {
            planning_judge_again(search, &options->targets, options->best);
            search->found = grid_found(&search->grid);
            search->nearest = find_nearest(search, &options->targets);
        }
        if (search->found != PLANNING_NONE &&
            (planning->winner == PLANNING_NONE ||
             winner_is_better(planning, search, &planning->searches[planning->winner]))) {
            planning->winner = i;
        }
    }
    if (options->choose != NULL) {
        planning->winner = options->choose(options->context);
    } else if (planning->winner != PLANNING_NONE &&
               planning->searches[planning->winner].depth != NULL) {
        planning->winner = winner_simplest(planning, &planning->searches[planning->winner], NULL);
    }
}

static void find_nearest_search(struct planning *planning)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        if (search->found == PLANNING_NONE && search->nearest != PLANNING_NONE &&
            search->grid.violation[search->nearest] < least) {
            least = search->grid.violation[search->nearest];
            planning->nearest = i;
        }
    }
}

/* ---- the search ---- */

/* The winner's load must hold as `simulate` runs it, too, and the next must miss so. */
static bool needs_whole(const struct planning *planning)
{
    bool wanted = !planning->options.rough || planning->options.choose != NULL;
    if (planning->winner == PLANNING_NONE || !wanted) {
        return false;
    }
    const struct search *winner = &planning->searches[planning->winner];
    uint32_t next = winner->depth != NULL ? search_next_miss(winner) : PLANNING_NONE;
    return !search_is_whole(winner) ||
           (next != PLANNING_NONE && winner->depth[next] != SEARCH_WHOLE);
}

static struct rounds planning_rounds_of(struct planning *planning)
{
    return (struct rounds){.lines = planning->count,
                           .study = &planning->options.study,
                           .sources = planning->candidates[0].scenario.sources,
                           .next = planning_next,
                           .set = planning_set,
                           .take = planning_take,
                           .on_round = planning_on_round,
                           .context = planning};
}

/* ---- where to begin ----
 *
 * Where the highest rate of a server probably lies, a run says for a fraction of the work of a search
 * (capacity.h). Only for targets that a higher rate is further from, such as times. */

/* A grid of so many values or more is worth a guess. The answer is expected within REACH values of it, a
 * factor of 1.35, or of a few if nothing but the queue limits it, or if somebody says where it is; that of a
 * stream is found to SURE of them, 5 %, and a rough one to ROUGH. */
enum { FINE = 128, REACH = 12, REACH_UNLIMITED = 6, REACH_BESIDE = 4, SURE = 2, ROUGH = 4 };

static bool is_guessed(const struct search *search)
{
    return search->grid.load && search->grid.count >= FINE && strcmp(search->axis.key, "rate") == 0;
}

static uint32_t guess_next(uint32_t line, uint32_t *values, void *context)
{
    const struct planning *planning = context;
    const struct search *search = planning_line(planning, line);
    values[0] = 0;
    return is_guessed(search) && planning->options.guess == 0;
}

static bool guess_set(uint32_t line, uint32_t value, struct scenario *out, void *context,
                      struct error *why)
{
    const struct search *search = planning_line(context, line);
    (void)value;
    return scenario_copy(&search->candidate->scenario, out, why) && capacity_set_at_once(out, why);
}

static void begin_near(struct search *search, bool rough, double rate, uint32_t reach)
{
    uint32_t close = rough ? ROUGH : search->depth != NULL ? SURE : 1;
    grid_near(&search->grid, search_value_at(search, rate), reach, close);
}

static bool guess_take(uint32_t line, uint32_t value, struct result *result, void *context,
                       struct error *why)
{
    const struct planning *planning = context;
    struct search *search = planning_line(planning, line);
    const struct scenario *scenario = &search->candidate->scenario;
    bool evicts = capacity_has_sessions(scenario) && !search->candidate->traits.tiers;
    bool usual = evicts || targets_limit_times(&planning->options.targets);
    (void)value;
    (void)why;
    begin_near(search, planning->options.rough,
               (usual ? CAPACITY_USUAL : CAPACITY_UNLIMITED) * capacity_at_once(result),
               usual ? REACH : REACH_UNLIMITED);
    return true;
}

/* Times and queues grow with the rate, and what is too long is so at every rate. A cost falls, and
 * a lower bound may be met by higher rates alone: then the lowest rate does not tell. */
static bool only_times(const struct targets *targets)
{
    bool only = true;
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct column *column = targets->all[i].column;
        bool time = column->unit == UNIT_MS || column == COLUMN(queue_grows) ||
                    column == COLUMN(requests_left_out);
        only = only && targets->all[i].at_most && time;
    }
    return only;
}

/* ---- requests alone ----
 *
 * A limit that they miss is missed at every load, and a few tell. */

static uint32_t idle_next(uint32_t line, uint32_t *values, void *context)
{
    const struct search *search = planning_line(context, line);
    values[0] = search->grid.count - 1;
    return search->depth != NULL && search->grid.count > 0;
}

static bool idle_take(uint32_t line, uint32_t value, struct result *result, void *context,
                      struct error *why)
{
    const struct planning *planning = context;
    bool misses = targets_violation(&planning->options.targets, result) > 0;
    return !misses || notes_find(result->notes, NOTE_too_close) != NULL ||
           planning_take(line, value, result, context, why);
}

static bool idle_all(struct planning *planning, struct error *why)
{
    const struct targets *targets = &planning->options.targets;
    struct stream_question question = targets_question(targets, CAPACITY_IDLE);
    struct rounds rounds = planning_rounds_of(planning);
    rounds.once = true;
    rounds.question = &question;
    rounds.next = idle_next;
    rounds.take = idle_take;
    rounds.on_round = NULL;
    return planning->options.guess > 0 || !planning->is_stream || !only_times(targets) ||
           !targets_limit_times(targets) || rounds_run(&rounds, why);
}

static bool guess_all(struct planning *planning, struct error *why)
{
    const struct planning_options *options = &planning->options;
    struct rounds rounds = planning_rounds_of(planning);
    rounds.once = rounds.rough = true;
    rounds.next = guess_next;
    rounds.set = guess_set;
    rounds.take = guess_take;
    rounds.on_round = NULL;
    if (!only_times(&options->targets)) {
        return true;
    }
    for (uint32_t i = 0; options->guess > 0 && i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        if (is_guessed(search)) {
            begin_near(&planning->searches[i], options->rough, options->guess, REACH_BESIDE);
        }
    }
    return rounds_run(&rounds, why);
}

/* Run so long what `next` says; the search goes on from there. */
static bool run_rounds(struct planning *planning, enum search_depth depth,
                       uint32_t (*next)(uint32_t line, uint32_t *values, void *context),
                       struct error *why)
{
    bool rough = planning->options.rough;
    struct stream_question question = targets_question(
        &planning->options.targets, depth != SEARCH_BRIEF ? (rough ? 2 * STREAM_USUAL : STREAM_MOST)
                                    : rough               ? STREAM_FEWEST
                                                          : STREAM_USUAL);
    struct rounds rounds = planning_rounds_of(planning);
    rounds.question = planning->is_stream && depth != SEARCH_WHOLE ? &question : NULL;
    rounds.next = next;
    planning->depth = depth;
    bool good = rounds_run(&rounds, why);
    find_all(planning);
    return good;
}

static bool planning_search(struct planning *planning, struct error *why)
{
    bool good = guess_all(planning, why) && idle_all(planning, why) &&
                run_rounds(planning, SEARCH_BRIEF, planning_next, why);
    if (good) {
        relax_targets(planning);
        good = run_rounds(planning, SEARCH_BRIEF, planning_next, why);
    }
    while (good && needs_whole(planning)) {
        struct search *winner = &planning->searches[planning->winner];
        winner->grid.close = SURE;
        good = run_rounds(planning, SEARCH_LONG, planning_next_long, why);
        if (good && winner_is(planning, winner) && needs_whole(planning)) {
            good = run_rounds(planning, SEARCH_WHOLE, planning_next_whole, why) &&
                   run_rounds(planning, SEARCH_BRIEF, planning_next, why);
        }
    }
    find_nearest_search(planning);
    return good;
}

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

static bool begin_all(struct planning *planning, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        search->candidate = &planning->candidates[i];
        search->targets = planning->options.targets;
        search->found = search->nearest = PLANNING_NONE;
        good = planning->candidates[i].left_out[0] != '\0' ||
               search_begin(search, &planning->candidates[i], &planning->options,
                            planning->is_stream, why);
    }
    return good && planning_check_any(planning, why);
}

/* Fail if no candidate that tried this value could have it: the error of the first is the reason. */
static bool check_value(const struct planning *planning, uint32_t value, struct error *why)
{
    const struct search *first = NULL;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        bool tried =
            search->fixed == NULL && value < search->grid.count && grid_tried(&search->grid, value);
        if (tried && !result_failed(&search->results[value])) {
            return true;
        }
        first = tried && first == NULL ? search : first;
    }
    if (first == NULL) {
        return true;
    }
    const struct result *result = &first->results[value];
    error_usage(why, first->axis.option, 0, "'%s' cannot be %s: %s", first->axis.key,
                search_text(first, value), result->message);
    error_expect(why, "%s", result->expected);
    return error_nearest(why, result->nearest);
}

/* Of values that a user typed: all of a list, and the ends of a range, because nobody typed those between. */
static bool check_typed(const struct planning *planning, const char *axis, struct error *why)
{
    const char *typed = strchr(axis, '=');
    uint32_t count = 0;
    for (uint32_t i = 0; typed != NULL && i < planning->count; i++) {
        count = planning->searches[i].axis.count > count ? planning->searches[i].axis.count : count;
    }
    bool good = true;
    for (uint32_t value = 0; good && value < count; value += typed[1] == '[' ? 1 : count - 1) {
        good = check_value(planning, value, why);
    }
    return good;
}

bool planning_run(const struct scenario *scenario, const struct planning_options *options,
                  struct planning *out, struct error *why)
{
    *out =
        (struct planning){.options = *options, .winner = PLANNING_NONE, .nearest = PLANNING_NONE};
    struct scenario asked;
    bool load = options->maximise && search_is_load(options->axis) && options->best == NULL;
    if (!sweep_is_one_point(scenario, why)) {
        return false;
    }
    bool good =
        scenario_copy(scenario, &asked, why) &&
        (!load || capacity_set_stream(&asked, &out->is_stream, why)) &&
        candidates_create(&asked, &options->candidates, &out->candidates, &out->count, why) &&
        (out->searches = array_zeroed(out->count, sizeof *out->searches, why)) != NULL &&
        begin_all(out, why) && planning_search(out, why) && check_typed(out, options->axis, why);
    scenario_release(&asked);
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
