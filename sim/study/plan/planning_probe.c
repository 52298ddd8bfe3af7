/* Where the highest rate of a server probably lies, for a fraction of the work of a search.
 *
 * A run with all requests at once shows how many a second the server answers at most, and how many
 * it has in work then. Below that, rates are tried with few requests: so many that they arrive for
 * several times as long as one takes. The search itself then begins near the rate that these find
 * (grid.h), with the whole workload: no figure of a scout is ever shown.
 *
 * Only for targets that a higher rate is further from, such as times.
 */
#include "study/plan/planning.h"

#include "predict/server/serving_load.h"
#include "study/sweep/rounds.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Requests of the first try at most. Sessions overlap only once there are many. */
enum { MOST = 1000, LEAST_SESSIONS = 2500 };

/* A grid of FINE values or more is worth a scout; strides of a factor of about 1.8, down to a
 * bracket of about 1.2 (AXIS_FINE points over nine octaves are 28 an octave). */
enum { FINE = 128, REACH = 24, CLOSE = 8 };

enum { A_ROUND = 2 };

/* The search expects its answer within 1.16 times the guess. */
enum { FINE_REACH = 6 };

struct scouting {
    struct planning *planning;
    const struct planning_options *options;
    struct targets times; /* the options' targets without that of the queue, which few requests
                           * cannot judge: above `most` it grows */
    bool sessions;        /* requests are turns of sessions */
    bool first;           /* the round in which all requests come at once */
};

static bool is_probed(const struct search *search)
{
    return search->grid.load && search->grid.count >= FINE && strcmp(search->axis.key, "rate") == 0;
}

static double scout_rate(const struct search *search, uint32_t value)
{
    return search_value(search, value)->number;
}

/* ---- tries ---- */

/* The value whose rate is the highest at most this one. */
static uint32_t value_at(const struct search *search, double rate)
{
    uint32_t value = 0;
    while (value + 1 < search->grid.count && scout_rate(search, value) > rate) {
        value++;
    }
    return value;
}

/* Whoever cannot run at all, has no time to meet or too few requests to save any, is not tried
 * again. */
static uint32_t scout_next(uint32_t line, uint32_t *values, void *context)
{
    const struct scouting *scouting = context;
    struct search *search = &scouting->planning->searches[line];
    struct scout *scout = &search->scout;
    bool timed = scouting->times.count > 0;
    if (!is_probed(search) || scouting->first) {
        values[0] = 0;
        return is_probed(search) ? 1 : 0;
    }
    if (scout->grid.guess == GRID_NONE) {
        double rate = (timed ? ROUGH_USUAL : 1) * scout->rough.most;
        grid_near(&scout->grid, rate > 0 ? value_at(search, rate) : 0, REACH, CLOSE);
    }
    bool worth = scout->rough.most > 0 && timed && search->requests >= 2 * ROUGH_LEAST;
    return worth ? grid_next(&scout->grid, A_ROUND, values) : 0;
}

static bool scout_set(uint32_t line, uint32_t value, struct scenario *out, void *context,
                      struct error *why)
{
    const struct scouting *scouting = context;
    const struct search *search = &scouting->planning->searches[line];
    uint64_t least = scouting->sessions ? LEAST_SESSIONS : ROUGH_LEAST;
    if (scouting->first) {
        uint64_t first = least > MOST ? least : MOST;
        return scenario_copy(&search->candidate->scenario, out, why) && load_at_once(out, why) &&
               scenario_values_set(&out->values, "limit",
                                   (double)(first < search->requests ? first : search->requests),
                                   why);
    }
    double rate = scout_rate(search, value);
    uint64_t requests = rough_requests(&search->scout.rough, rate, least, search->requests);
    return search_scenario(search, value, out, why) &&
           scenario_values_set(&out->values, "limit", (double)requests, why);
}

/* Above what the server answers at most no rate passes. */
static bool scout_take(uint32_t line, uint32_t value, struct result *result, void *context,
                       struct error *why)
{
    const struct scouting *scouting = context;
    struct search *search = &scouting->planning->searches[line];
    struct scout *scout = &search->scout;
    (void)why;
    if (scouting->first) {
        rough_read(result, &scout->rough);
    } else {
        double violation = targets_violation(&scouting->times, result);
        bool held = scout_rate(search, value) <= scout->rough.most;
        violation = held ? violation : fmax(violation, 1);
        if (violation == 0 && value <= grid_found(&scout->grid)) {
            scout->taken = result_number(result, COLUMN(e2e_ms)) / 1e3;
        }
        grid_put(&scout->grid, value, violation);
    }
    planning_report(scouting->planning, search, scout->grid.tried, &scouting->options->study);
    return true;
}

static bool scout_run(struct scouting *scouting, struct sources *sources, bool *interrupted,
                      struct error *why)
{
    struct rounds rounds = {.lines = scouting->planning->count,
                            .once = true,
                            .rough = true,
                            .study = &scouting->options->study,
                            .sources = sources,
                            .next = scout_next,
                            .set = scout_set,
                            .take = scout_take,
                            .context = scouting};
    scouting->first = true;
    bool good = rounds_run(&rounds, interrupted, why);
    scouting->first = rounds.once = false;
    return good && (*interrupted || rounds_run(&rounds, interrupted, why));
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
        double rate = scout_rate(search, found(scout));
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

static bool scout_follow(const struct scouting *scouting, struct error *why)
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
    bool longer = scouting->options->may_lengthen && more > 0 && more <= LENGTHEN_MOST, good = true;
    planning->requests = longer ? more : planning->requests;
    for (uint32_t i = 0; longer && good && i < planning->count; i++) {
        good = lengthen_set(&planning->candidates[i].scenario, more, why);
    }
    return good;
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
    bool good = true;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        struct search *search = &planning->searches[i];
        good = !is_probed(search) || grid_init(&search->scout.grid, search->grid.count, why);
    }
    return good && scout_run(&scouting, scenario->sources, interrupted, why) &&
           (*interrupted || scout_follow(&scouting, why));
}
