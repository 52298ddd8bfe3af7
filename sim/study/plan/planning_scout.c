/* Where the highest rate of a server probably lies, for a fraction of the work of a search.
 *
 * A run with all requests at once shows how many a second the server answers at most, and how many
 * it has in work then. Below that, rates are tried with few requests: so many that they arrive for
 * several times as long as one takes. The search itself then begins near the rate that these find
 * (grid_near.h), with the whole workload: no figure of a scout is ever shown.
 *
 * Only for targets that a higher rate is further from, such as times.
 */
#include "study/plan/planning_parts.h"

#include "base/array.h"
#include "base/node.h"
#include "serving/serving_outcome.h"
#include "study/plan/lengthen.h"
#include "study/plan/rough.h"
#include "study/sweep/tries.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requests of the first try at most. Sessions overlap only once there are many. */
enum { MOST = 1000, LEAST_SESSIONS = 2500 };

/* A grid of FINE values or more is worth a scout; strides of a factor of about 1.8, down to a bracket
 * of about 1.2 (AXIS_FINE points over nine octaves are 28 an octave). */
enum { FINE = 128, REACH = 24, CLOSE = 8 };

/* The search expects its answer within 1.16 times the guess. */
enum { FINE_REACH = 6 };

struct scout {
    struct search *search;
    struct grid grid;
    struct rough rough;
    double taken; /* seconds of a request at the best rate that passed; 0: unknown */
    bool sessions;
};

struct scouting {
    const struct planning *planning;
    const struct planning_options *options;
    struct scout *scouts; /* [count], owned */
    uint32_t count;
    struct targets times; /* the options' targets without that of the queue, which few requests
                           * cannot judge: above `most` it grows */
    /* the round's tries */
    struct scout **who; /* [2 * count], owned */
    uint32_t *values, tries;
    bool first; /* the round in which all requests come at once */
};

static double planning_scout_rate_of(const struct scouting *scouting, const struct scout *scout,
                                     uint32_t value)
{
    return search_value(scout->search, scouting->options->maximise, value)->number;
}

/* ---- tries ---- */

/* Requests of a try at this rate. */
static uint64_t count_requests(const struct scouting *scouting, const struct scout *scout,
                               uint32_t value)
{
    uint64_t there = scout->search->requests,
             least = scout->sessions ? LEAST_SESSIONS : ROUGH_LEAST;
    uint64_t first = least > MOST ? least : MOST;
    return scouting->first
               ? (first < there ? first : there)
               : rough_requests(&scout->rough, planning_scout_rate_of(scouting, scout, value),
                                least, there);
}

static bool planning_scout_lay(uint32_t index, struct scenario *out, void *context,
                               struct error *why)
{
    const struct scouting *scouting = context;
    const struct scout *scout = scouting->who[index];
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64,
             count_requests(scouting, scout, scouting->values[index]));
    return search_scenario(scout->search, scouting->options->maximise, scouting->values[index], out,
                           why) &&
           node_set(out->root, "limit", text, why);
}

/* Above what the server answers at most no rate passes. */
static double planning_scout_judge(const struct scouting *scouting, struct scout *scout,
                                   uint32_t value, const struct result *result)
{
    double violation = targets_violation(&scouting->times, result);
    bool held = planning_scout_rate_of(scouting, scout, value) <= scout->rough.most;
    violation = held ? violation : fmax(violation, 1);
    if (violation == 0 && value <= grid_found(&scout->grid)) {
        scout->taken = result_number(result, COLUMN_E2E) / 1e3;
    }
    return violation;
}

static bool planning_scout_take(uint32_t index, struct result *result, void *context,
                                struct error *why)
{
    struct scouting *scouting = context;
    const struct planning_options *options = scouting->options;
    struct scout *scout = scouting->who[index];
    (void)why;
    if (scouting->first) {
        rough_read(result, &scout->rough);
    } else {
        uint32_t value = scouting->values[index];
        grid_put(&scout->grid, value, planning_scout_judge(scouting, scout, value, result));
    }
    if (options->on_progress != NULL) {
        options->on_progress(scout->search->candidate->system, scout->search->candidate->machine,
                             scout->grid.tried, options->context);
    }
    return true;
}

static bool planning_scout_run_round(struct scouting *scouting, struct sources *sources,
                                     bool *interrupted, struct error *why)
{
    const struct tries tries = {.count = scouting->tries,
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

static void add_try(struct scouting *scouting, struct scout *scout, uint32_t value)
{
    scouting->who[scouting->tries] = scout;
    scouting->values[scouting->tries++] = value;
}

/* The value whose rate is the highest at most this one. */
static uint32_t value_at(const struct scouting *scouting, const struct scout *scout, double rate)
{
    uint32_t value = 0;
    while (value + 1 < scout->grid.count && planning_scout_rate_of(scouting, scout, value) > rate) {
        value++;
    }
    return value;
}

static void guess_all(struct scouting *scouting)
{
    for (uint32_t i = 0; i < scouting->count; i++) {
        struct scout *scout = &scouting->scouts[i];
        double share = scouting->times.count > 0 ? ROUGH_USUAL : 1;
        uint32_t guess =
            scout->rough.most > 0 ? value_at(scouting, scout, share * scout->rough.most) : 0;
        grid_near(&scout->grid, guess, REACH, CLOSE);
    }
}

/* Whoever cannot run at all, has no time to meet or too few requests to save any, is not tried
 * again. */
static void planning_scout_collect(struct scouting *scouting)
{
    enum { A_ROUND = 2 };
    scouting->tries = 0;
    for (uint32_t i = 0; i < scouting->count; i++) {
        struct scout *scout = &scouting->scouts[i];
        uint32_t values[A_ROUND], count = 0;
        bool worth = scouting->times.count > 0 && scout->search->requests >= 2 * ROUGH_LEAST;
        if (scout->rough.most > 0 && worth) {
            count = grid_next(&scout->grid, A_ROUND, values);
        }
        for (uint32_t j = 0; j < count; j++) {
            add_try(scouting, scout, values[j]);
        }
    }
}

static bool planning_scout_run_rounds(struct scouting *scouting, struct sources *sources,
                                      bool *interrupted, struct error *why)
{
    scouting->first = true;
    for (uint32_t i = 0; i < scouting->count; i++) {
        add_try(scouting, &scouting->scouts[i], 0);
    }
    bool good = planning_scout_run_round(scouting, sources, interrupted, why);
    guess_all(scouting);
    scouting->first = false;
    for (planning_scout_collect(scouting); good && !*interrupted && scouting->tries > 0;
         planning_scout_collect(scouting)) {
        good = planning_scout_run_round(scouting, sources, interrupted, why);
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
    const struct scout *best = NULL;
    double most = 0;
    for (uint32_t i = 0; i < scouting->count; i++) {
        const struct scout *scout = &scouting->scouts[i];
        double rate = planning_scout_rate_of(scouting, scout, found(scout));
        bool none = scout->grid.tried > 0 && grid_found(&scout->grid) == GRID_NONE;
        if (scout->rough.most > 0 && !none && rate > most) {
            best = scout;
            most = rate;
        }
    }
    if (best == NULL) {
        return 0;
    }
    double taken = best->taken > 0 ? best->taken : best->rough.held / most;
    uint64_t lasting = serving_lasting(most, taken);
    return lasting > best->search->requests ? lasting : 0;
}

/* Each candidate serves as many. */
static bool planning_scout_lengthen(struct planning *planning, uint64_t requests, struct error *why)
{
    bool good = true;
    planning->requests = requests;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        good = lengthen_lay(&planning->candidates[i].scenario, requests, why);
    }
    return good;
}

static bool planning_scout_follow(struct scouting *scouting, struct planning *planning,
                                  struct error *why)
{
    for (uint32_t i = 0; i < scouting->count; i++) {
        const struct scout *scout = &scouting->scouts[i];
        uint32_t close = scouting->options->close;
        grid_near(&scout->search->grid, found(scout), FINE_REACH, close > 0 ? close : 1);
    }
    uint64_t more = lengthen_spare(needed(scouting));
    if (more > 0 && scouting->count > 0 && scouting->scouts[0].sessions) {
        more = more < LENGTHEN_SESSIONS ? LENGTHEN_SESSIONS : more;
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
        enum column column = targets->all[i].column;
        bool time = column_kinds[column].type == COLUMN_TYPE_MS || column == COLUMN_QUEUE_GROWS ||
                    column == COLUMN_LEFT_OUT;
        only = only && targets->all[i].at_most && time;
    }
    return only;
}

static bool is_scouted(const struct search *search)
{
    return search->grid.load && search->grid.count >= FINE && strcmp(search->axis.key, "rate") == 0;
}

static bool planning_scout_begin(struct planning *planning, struct scouting *scouting,
                                 struct error *why)
{
    bool good =
        (scouting->scouts = array_zeroed(planning->count, sizeof *scouting->scouts, why)) &&
        (scouting->who = array_zeroed(2 * (size_t)planning->count, sizeof *scouting->who, why)) &&
        (scouting->values =
             array_zeroed(2 * (size_t)planning->count, sizeof *scouting->values, why));
    for (uint32_t i = 0; good && i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        if (is_scouted(search)) {
            struct scout *scout = &scouting->scouts[scouting->count++];
            scout->search = search;
            scout->sessions = lengthen_has_sessions(&search->candidate->scenario);
            good = grid_init(&scout->grid, search->grid.count, why);
        }
    }
    return good;
}

static void planning_scout_end(struct scouting *scouting)
{
    for (uint32_t i = 0; i < scouting->count; i++) {
        grid_release(&scouting->scouts[i].grid);
    }
    free(scouting->scouts);
    free(scouting->who);
    free(scouting->values);
}

bool planning_scout(struct planning *planning, const struct scenario *scenario,
                    const struct planning_options *options, bool *interrupted, struct error *why)
{
    struct scouting scouting = {.planning = planning, .options = options};
    if (!only_times(&options->targets)) {
        return true;
    }
    targets_without_queue(&options->targets, &scouting.times);
    bool good = planning_scout_begin(planning, &scouting, why);
    if (good && scouting.count > 0) {
        good = planning_scout_run_rounds(&scouting, scenario->sources, interrupted, why) &&
               (*interrupted || planning_scout_follow(&scouting, planning, why));
    }
    planning_scout_end(&scouting);
    return good;
}
