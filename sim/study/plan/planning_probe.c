/* Where the highest rate of a server probably lies, for a fraction of the work of a search.
 *
 * A run with all requests at once shows how many a second the server answers at most, and how many
 * it has in work then. Below that, rates are tried with few requests: so many that they arrive for
 * several times as long as one takes. The search itself then begins near the rate that these find
 * (grid_near.h), with the whole workload: no figure of a scout is ever shown.
 *
 * Only for targets that a higher rate is further from, such as times.
 */

#include "study/plan/planning_probe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/node.h"
#include "predict/server/serving_load.h"
#include "study/plan/lengthen.h"
#include "study/plan/planning_parts.h"
#include "study/sweep/sweep.h"

/* Requests of the first try at most. Sessions overlap only once there are many. */
enum { MOST = 1000, LEAST_SESSIONS = 2500 };

/* A grid of FINE values or more is worth a scout; strides of a factor of about 1.8, down to a bracket
 * of about 1.2 (AXIS_FINE points over nine octaves are 28 an octave). */
enum { FINE = 128, REACH = 24, CLOSE = 8 };

enum { A_ROUND = 2 };

/* The search expects its answer within 1.16 times the guess. */
enum { FINE_REACH = 6 };

struct scouting {
    struct planning *planning;
    const struct planning_options *options;
    struct targets times;      /* the options' targets without that of the queue, which few requests
                           * cannot judge: above `most` it grows */
    bool sessions;             /* requests are turns of sessions */
    bool first;                /* the round in which all requests come at once */
    struct tried_value *tries; /* [A_ROUND for each search], of the round; owned */
    uint32_t count;
};

static bool is_probed(const struct search *search)
{
    return search->grid.load && search->grid.count >= FINE && strcmp(search->axis.key, "rate") == 0;
}

static double planning_probe_rate_of(const struct scouting *scouting, const struct search *search,
                                     uint32_t value)
{
    return search_value(search, scouting->options->maximise, value)->number;
}

/* ---- tries ---- */

/* Requests of a try at this rate. */
static uint64_t count_requests(const struct scouting *scouting, const struct tried_value *tried)
{
    const struct search *search = tried->search;
    uint64_t least = scouting->sessions ? LEAST_SESSIONS : ROUGH_LEAST;
    uint64_t first = least > MOST ? least : MOST;
    if (scouting->first) {
        return first < search->requests ? first : search->requests;
    }
    return rough_requests(&search->scout.rough,
                          planning_probe_rate_of(scouting, search, tried->value), least,
                          search->requests);
}

static bool planning_scout_lay(uint32_t index, struct scenario *out, void *context,
                               struct error *why)
{
    const struct scouting *scouting = context;
    const struct tried_value *tried = &scouting->tries[index];
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, count_requests(scouting, tried));
    return search_scenario(tried->search, scouting->options->maximise, tried->value, out, why) &&
           node_set(out->root, "limit", text, why);
}

/* Above what the server answers at most no rate passes. */
static double planning_scout_judge(const struct scouting *scouting, const struct tried_value *tried,
                                   const struct result *result)
{
    struct scout *scout = &tried->search->scout;
    double violation = targets_violation(&scouting->times, result);
    bool held = planning_probe_rate_of(scouting, tried->search, tried->value) <= scout->rough.most;
    violation = held ? violation : fmax(violation, 1);
    if (violation == 0 && tried->value <= grid_found(&scout->grid)) {
        scout->taken = result_number(result, COLUMN(e2e_ms)) / 1e3;
    }
    return violation;
}

static bool planning_scout_take(uint32_t index, struct result *result, void *context,
                                struct error *why)
{
    const struct scouting *scouting = context;
    const struct tried_value *tried = &scouting->tries[index];
    struct scout *scout = &tried->search->scout;
    (void)why;
    if (scouting->first) {
        rough_read(result, &scout->rough);
    } else {
        grid_put(&scout->grid, tried->value, planning_scout_judge(scouting, tried, result));
    }
    planning_report(tried->search, scout->grid.tried, scouting->options);
    return true;
}

static bool planning_scout_run_round(struct scouting *scouting, struct sources *sources,
                                     bool *interrupted, struct error *why)
{
    const struct tries tries = {.count = scouting->count,
                                .rough = true,
                                .jobs = scouting->options->jobs,
                                .runs = scouting->options->runs,
                                .sources = sources,
                                .lay = planning_scout_lay,
                                .take = planning_scout_take,
                                .context = scouting};
    return tries_run(&tries, interrupted, why);
}

/* ---- rounds ---- */

/* The value whose rate is the highest at most this one. */
static uint32_t value_at(const struct scouting *scouting, const struct search *search, double rate)
{
    uint32_t value = 0;
    while (value + 1 < search->grid.count &&
           planning_probe_rate_of(scouting, search, value) > rate) {
        value++;
    }
    return value;
}

/* The values to try next: at first the highest rate, which stands for all requests at once. Whoever
 * cannot run at all, has no time to meet or too few requests to save any, is not tried again. */
static uint32_t choose_values(const struct scouting *scouting, struct search *search,
                              uint32_t values[A_ROUND])
{
    struct scout *scout = &search->scout;
    bool worth = scouting->times.count > 0 && search->requests >= 2 * ROUGH_LEAST;
    if (scouting->first) {
        values[0] = 0;
        return 1;
    }
    if (scout->grid.guess == GRID_NONE) {
        double rate = (scouting->times.count > 0 ? ROUGH_USUAL : 1) * scout->rough.most;
        grid_near(&scout->grid, rate > 0 ? value_at(scouting, search, rate) : 0, REACH, CLOSE);
    }
    return scout->rough.most > 0 && worth ? grid_next(&scout->grid, A_ROUND, values) : 0;
}

static void planning_probe_collect(struct scouting *scouting)
{
    scouting->count = 0;
    for (uint32_t i = 0; i < scouting->planning->count; i++) {
        struct search *search = &scouting->planning->searches[i];
        uint32_t values[A_ROUND];
        uint32_t count = is_probed(search) ? choose_values(scouting, search, values) : 0;
        for (uint32_t j = 0; j < count; j++) {
            scouting->tries[scouting->count++] = (struct tried_value){search, values[j]};
        }
    }
}

static bool planning_scout_run_rounds(struct scouting *scouting, struct sources *sources,
                                      bool *interrupted, struct error *why)
{
    bool good = true;
    scouting->first = true;
    for (planning_probe_collect(scouting); good && !*interrupted && scouting->count > 0;
         planning_probe_collect(scouting)) {
        good = planning_scout_run_round(scouting, sources, interrupted, why);
        scouting->first = false;
    }
    return good;
}

/* ---- what follows ---- */

static uint32_t found(const struct scout *scout)
{
    uint32_t value = grid_found(&scout->grid);
    return value != GRID_NONE       ? value
           : scout->grid.tried == 0 ? scout->grid.guess
                                    : scout->grid.count - 1;
}

/* Requests that the best of all needs; 0: it has enough. */
static uint64_t needed(const struct scouting *scouting)
{
    const struct search *best = NULL;
    double most = 0;
    for (uint32_t i = 0; i < scouting->planning->count; i++) {
        const struct search *search = &scouting->planning->searches[i];
        const struct scout *scout = &search->scout;
        bool none = scout->grid.tried > 0 && grid_found(&scout->grid) == GRID_NONE;
        if (!is_probed(search) || scout->rough.most <= 0 || none) {
            continue;
        }
        double rate = planning_probe_rate_of(scouting, search, found(scout));
        best = rate > most ? search : best;
        most = fmax(most, rate);
    }
    if (best == NULL) {
        return 0;
    }
    double taken = best->scout.taken > 0 ? best->scout.taken : best->scout.rough.held / most;
    uint64_t lasting = serving_lasting(most, taken);
    return lasting > best->requests ? lasting : 0;
}

/* Each candidate serves as many. */
static bool planning_scout_lengthen(struct planning *planning, uint64_t requests, struct error *why)
{
    bool good = true;
    planning->requests = requests;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        good = lengthen_set(&planning->candidates[i].scenario, requests, why);
    }
    return good;
}

static bool planning_scout_follow(const struct scouting *scouting, struct error *why)
{
    struct planning *planning = scouting->planning;
    uint32_t close = scouting->options->close;
    for (uint32_t i = 0; i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        if (is_probed(search)) {
            grid_near(&search->grid, found(&search->scout), FINE_REACH, close > 0 ? close : 1);
        }
    }
    uint64_t more = lengthen_spare(needed(scouting));
    if (more > 0 && scouting->sessions) {
        more = more < LENGTHEN_SESSIONS        ? LENGTHEN_SESSIONS
               : more > LENGTHEN_SESSIONS_MOST ? LENGTHEN_SESSIONS_MOST
                                               : more;
    }
    return !scouting->options->may_lengthen || more == 0 || more > LENGTHEN_MOST ||
           planning_scout_lengthen(planning, more, why);
}

/* ---- all of it ---- */

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

bool planning_probe(struct planning *planning, const struct scenario *scenario,
                    const struct planning_options *options, bool *interrupted, struct error *why)
{
    struct scouting scouting = {
        .planning = planning, .options = options, .sessions = lengthen_has_sessions(scenario)};
    if (!only_times(&options->targets)) {
        return true;
    }
    targets_without_queue(&options->targets, &scouting.times);
    scouting.tries = array_zeroed((size_t)planning->count * A_ROUND, sizeof *scouting.tries, why);
    bool good = scouting.tries != NULL;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        good = !is_probed(search) || grid_init(&search->scout.grid, search->grid.count, why);
    }
    good = good && planning_scout_run_rounds(&scouting, scenario->sources, interrupted, why) &&
           (*interrupted || planning_scout_follow(&scouting, why));
    free(scouting.tries);
    return good;
}

/* A run that is an answer must last longer (serving_lasting()). */
enum { TIMES = 3 };

void rough_read(const struct result *at_once, struct rough *out)
{
    double taken =
        result_number(at_once, COLUMN(e2e_ms)) - result_number(at_once, COLUMN(queue_ms));
    double most = result_ok(at_once) ? result_number(at_once, COLUMN(requests_out_per_s)) : 0;
    *out = (struct rough){.most = most, .held = most > 0 ? most * taken / 1e3 : 0};
}

uint64_t rough_requests(const struct rough *rough, double rate, uint64_t least, uint64_t there)
{
    double wanted = fmax(TIMES * rough->held * fmin(rate / rough->most, 1), (double)least);
    return wanted < (double)there ? (uint64_t)wanted : there;
}
