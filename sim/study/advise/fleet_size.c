/* Cheap runs say where the search for each form's servers begins; runs of the whole workload give
 * the answers. */
#include "study/advise/fleet_size.h"

#include "core/array.h"
#include "predict/server/serving_load.h"
#include "study/advise/advice.h"
#include "study/plan/host_room.h"
#include "study/sweep/rounds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Requests of a cheap run: at once, and alone; numbers of servers of a form that are tried in a
 * round. */
enum { AT_ONCE = 250, ALONE = 100, A_ROUND = 2 };

/* What the tries of a round serve. Cheap ones have few requests; only the others are answers. */
enum fleet_what {
    FLEET_AT_ONCE,   /* cheap: one server, all requests at once */
    FLEET_ALONE,     /* cheap: one server, each request alone */
    FLEET_SHARE,     /* cheap: one server with its share of the rate */
    FLEET_WHOLE,     /* so many servers, the rate, the whole workload */
    FLEET_ALL_ALONE, /* one server, each request of the workload alone */
    FLEET_LESS_HOST, /* the whole, with less host memory */
};

struct sizing {
    struct fleet_size *fleet;
    const struct fleet_options *options;
    struct sources *sources;
    struct targets times; /* without the queue's: few requests cannot judge it */
    enum fleet_what what; /* of all tries of a round */
    uint32_t holds,
        fails; /* of FLEET_LESS_HOST: how often the answer's host memory may be halved */
    bool *interrupted;
};

/* ---- what a try serves ---- */

/* A line is a form, and its values are numbers of servers, less one. */
static bool fleet_set(uint32_t line, uint32_t value, struct scenario *out, void *context,
                      struct error *why)
{
    const struct sizing *sizing = context;
    const struct fleet_form *form = &sizing->fleet->forms[line];
    double share = sizing->fleet->rate / (value + 1);
    uint64_t few = form->requests;
    if (sizing->what == FLEET_WHOLE) {
        return fleet_scenario(sizing->fleet, form, value + 1, out, why);
    }
    if (sizing->what == FLEET_LESS_HOST) {
        return fleet_scenario(sizing->fleet, form, form->servers, out, why) &&
               scenario_values_set(&out->values, "host_memory",
                                   (double)(fleet_host_gib(form, form->servers) >> value << 30),
                                   why);
    }
    bool good =
        scenario_copy(&form->scenario, out, why) && fleet_host_set(form, value + 1, out, why);
    switch (sizing->what) {
    case FLEET_AT_ONCE:
        few = AT_ONCE;
        good = good && load_at_once(out, why);
        break;
    case FLEET_SHARE:
        few = rough_requests(&form->rough, share, ROUGH_LEAST, few);
        good = good && scenario_values_set(&out->values, "rate", share, why);
        break;
    default: /* FLEET_ALONE and FLEET_ALL_ALONE */
        few = sizing->what == FLEET_ALONE ? ALONE : few;
        good = good && load_alone(out, form->ranks, why);
    }
    return good &&
           (sizing->what == FLEET_ALL_ALONE ||
            scenario_values_set(&out->values, "limit",
                                (double)(few < form->requests ? few : form->requests), why));
}

/* ---- what it tells ---- */

/* Few requests hardly show that a server falls behind. Where no time is limited, it is taken to
 * answer as many as when all come at once; a server that then runs out of KV answers more. */
static double take_share(const struct sizing *sizing, struct fleet_form *form, double share,
                         const struct result *result)
{
    bool lack = serving_sessions_lack(result);
    bool behind = sizing->times.count == 0 && share > form->rough.most;
    double violation = targets_violation(lack ? &sizing->times : &sizing->options->targets, result);
    if (violation == 0 && !behind) {
        form->taken =
            fmax(result_number(result, COLUMN(e2e_ms)) / 1e3, serving_session_s(result, share));
    }
    return behind ? fmax(violation, 1) : violation;
}

/* More servers answer no more of what does not come. */
static bool refuse_sessions(double rate, const struct result *result, struct error *why)
{
    uint64_t wanted = lengthen_spare(serving_lasting(rate, serving_session_s(result, rate)));
    error_usage(why, "--rate", 0,
                "%.0f requests in sessions do not show %g a second: only %.3g came, as sessions "
                "last too long for so few",
                result_number(result, COLUMN(requests)), rate,
                result_number(result, COLUMN(requests_in_per_s)));
    return error_expect(why, "a workload with requests=%" PRIu64 " or so, or a lower rate",
                        (wanted + 99) / 100 * 100);
}

static void keep(struct result *result, struct result *out)
{
    result_release(out);
    *out = *result;
    result_init(result);
}

/* How far the forms are: each step forward counts once, so that the share never falls. */
static void tell(const struct sizing *sizing)
{
    enum { SURVEYED = 1, WEIGHED = 2, DECIDED = 4 };
    static const char *const names[] = {
        [FLEET_AT_ONCE] = "what a server answers at most",
        [FLEET_ALONE] = "a few requests that have a server alone",
        [FLEET_SHARE] = "one server with its share of the rate",
        [FLEET_WHOLE] = "all servers with the whole workload",
        [FLEET_ALL_ALONE] = "all requests, each with a server alone",
        [FLEET_LESS_HOST] = "the answer with less host memory",
    };
    uint32_t done = 0;
    for (uint32_t i = 0; i < sizing->fleet->count; i++) {
        const struct fleet_form *form = &sizing->fleet->forms[i];
        bool ends = form->refused[0] != '\0' || form->decided;
        done += ends ? DECIDED : form->weighed ? WEIGHED : form->rough.most > 0 ? SURVEYED : 0;
    }
    const struct study *study = &sizing->options->study;
    if (study->on_progress != NULL) {
        study->on_progress(done, DECIDED * sizing->fleet->count, names[sizing->what],
                           study->context);
    }
}

static bool fleet_take(uint32_t line, uint32_t value, struct result *result, void *context,
                       struct error *why)
{
    struct sizing *sizing = context;
    struct fleet_form *form = &sizing->fleet->forms[line];
    const struct targets *targets = &sizing->options->targets;
    double whole = targets_violation(targets, result), rate = sizing->fleet->rate;
    bool less;
    switch (sizing->what) {
    case FLEET_AT_ONCE:
        rough_read(result, &form->rough);
        if (!result_ok(result)) {
            result_reason(result, form->refused, sizeof form->refused);
        }
        break;
    case FLEET_ALONE:
        form->alone = targets_violation(&sizing->times, result);
        break;
    case FLEET_SHARE:
        grid_put(&form->grid, value, take_share(sizing, form, rate / (value + 1), result));
        break;
    case FLEET_WHOLE:
        if (serving_sessions_lack(result)) {
            return refuse_sessions(rate, result, why);
        }
        grid_put(&form->grid, value, whole);
        keep(result, &form->runs[value]);
        break;
    case FLEET_ALL_ALONE:
        form->alone = whole;
        form->is_alone = true;
        keep(result, &form->single);
        break;
    case FLEET_LESS_HOST:
        less = whole == 0 && (!form->ample || targets_ample(targets, result));
        *(less ? &sizing->holds : &sizing->fails) = value;
        if (less) {
            keep(result, &form->runs[form->servers - 1]);
        }
        break;
    }
    sizing->fleet->cheap_runs += sizing->what < FLEET_WHOLE;
    sizing->fleet->runs += sizing->what == FLEET_WHOLE;
    tell(sizing);
    return true;
}

/* ---- rounds ---- */

static uint32_t fleet_next(uint32_t line, uint32_t *values, void *context)
{
    const struct sizing *sizing = context;
    struct fleet_form *form = &sizing->fleet->forms[line];
    bool can_be = form->refused[0] == '\0', best = line == sizing->fleet->best;
    values[0] = 0;
    switch (sizing->what) {
    case FLEET_ALL_ALONE: /* a few missed a limit: whether all do, all must say */
        return can_be && form->alone > 0 && !form->is_alone &&
               isinf(fleet_found_on(sizing->fleet, form));
    case FLEET_SHARE:
    case FLEET_WHOLE:
        return form->searched ? grid_next(&form->grid, A_ROUND, values) : 0;
    case FLEET_LESS_HOST:
        values[0] = (sizing->holds + sizing->fails) / 2;
        return best && sizing->fails - sizing->holds > 1;
    default:
        return can_be;
    }
}

/* Cheap runs are rough: only runs of the whole workload are kept. */
static bool fleet_try(struct sizing *sizing, enum fleet_what what, struct error *why)
{
    const struct rounds rounds = {.lines = sizing->fleet->count,
                                  .once = what < FLEET_SHARE,
                                  .rough = what < FLEET_WHOLE,
                                  .study = &sizing->options->study,
                                  .sources = sizing->sources,
                                  .next = fleet_next,
                                  .set = fleet_set,
                                  .take = fleet_take,
                                  .context = sizing};
    sizing->what = what;
    tell(sizing);
    return rounds_run(&rounds, sizing->interrupted, why);
}

/* Begin to search a form's servers, 1 to `most`, at a guess. */
static bool begin(struct fleet_form *form, uint32_t most, uint32_t guess, uint32_t reach,
                  struct error *why)
{
    grid_release(&form->grid);
    form->searched = grid_init(&form->grid, most, why);
    if (form->searched) {
        grid_near(&form->grid, (guess < 1 ? 1 : guess < most ? guess : most) - 1, reach, 1);
    }
    return form->searched;
}

/* ---- by its share of the rate ---- */

/* Servers at a share of what each answers at most. */
static uint32_t servers_at(const struct fleet_size *fleet, const struct fleet_form *form,
                           double share)
{
    double servers = form->rough.most > 0 ? ceil(fleet->rate / (share * form->rough.most)) : 1;
    return servers < form->most_servers ? (uint32_t)servers : form->most_servers;
}

/* Search by cheap runs: `guess` becomes what is found, or else `most`. */
static bool begin_share(const struct fleet_size *fleet, struct fleet_form *form, uint32_t most,
                        struct error *why)
{
    uint32_t guess = servers_at(fleet, form, ROUGH_USUAL);
    guess = guess < most ? guess : most;
    return begin(form, most, guess, 1 + guess / 8, why);
}

static bool search_shares(struct sizing *sizing, struct error *why)
{
    bool good = fleet_try(sizing, FLEET_SHARE, why);
    for (uint32_t i = 0; i < sizing->fleet->count && !*sizing->interrupted; i++) {
        struct fleet_form *form = &sizing->fleet->forms[i];
        if (form->searched) {
            uint32_t found = grid_found(&form->grid);
            form->guess = found != GRID_NONE ? found + 1 : form->grid.count;
            form->weighed = true;
            form->searched = false;
        }
    }
    return good;
}

/* ---- the whole workload ---- */

static bool begin_whole(struct fleet_form *form, uint32_t most, struct error *why)
{
    form->runs = array_zeroed(most, sizeof *form->runs, why);
    form->run_count = most;
    return form->runs != NULL && begin(form, most, form->guess, 1, why);
}

/* What a search that was interrupted tried counts, too. */
static bool search_whole(struct sizing *sizing, struct error *why)
{
    bool good = fleet_try(sizing, FLEET_WHOLE, why);
    for (uint32_t i = 0; i < sizing->fleet->count; i++) {
        struct fleet_form *form = &sizing->fleet->forms[i];
        if (form->searched) {
            uint32_t found = grid_found(&form->grid);
            form->servers = found != GRID_NONE ? found + 1 : 0;
            form->fewer = found != GRID_NONE ? found : form->grid.count;
            while (form->fewer > 0 && !(form->grid.violation[form->fewer - 1] > 0)) {
                form->fewer--;
            }
            form->decided = good && !*sizing->interrupted;
            form->searched = false;
        }
    }
    return good;
}

/* ---- an answer on each machine ---- */

/* Of the machine whose first form this is, and which has no answer yet, the form that is probably
 * the cheapest among those that may hold the rate; NULL if none may. Until it is weighed a form may
 * be as cheap as if nothing were limited. */
static struct fleet_form *find_likely(const struct fleet_size *fleet, uint32_t first)
{
    struct fleet_form *likely = NULL;
    double least = INFINITY;
    if (!fleet_is_first(fleet, first) || !isinf(fleet_found_on(fleet, &fleet->forms[first]))) {
        return NULL;
    }
    for (uint32_t i = first;
         i < fleet->count && fleet_on_one_machine(&fleet->forms[i], &fleet->forms[first]); i++) {
        struct fleet_form *form = &fleet->forms[i];
        bool may_hold = form->refused[0] == '\0' && !form->decided && form->alone == 0;
        double cost = fleet_cost(form, form->weighed ? form->guess : servers_at(fleet, form, 1));
        if (may_hold && cost < least) {
            least = cost;
            likely = form;
        }
    }
    return likely;
}

/* Search the servers of the form that is probably the cheapest by cheap runs, until such a form was
 * searched. */
static bool weigh(struct sizing *sizing, struct error *why)
{
    bool good = true, any = true;
    while (good && any && !*sizing->interrupted) {
        any = false;
        for (uint32_t i = 0; good && i < sizing->fleet->count; i++) {
            struct fleet_form *likely = find_likely(sizing->fleet, i);
            if (likely != NULL && !likely->weighed) {
                any = true;
                good = begin_share(sizing->fleet, likely, likely->most_servers, why);
            }
        }
        good = good && search_shares(sizing, why);
    }
    return good;
}

/* Requests that the probable answers need to be answers; 0: they have enough. */
static uint64_t requests_wanted(const struct fleet_size *fleet)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = find_likely(fleet, i);
        if (form != NULL) {
            double taken = form->taken > 0 ? form->taken : form->rough.held / form->rough.most;
            uint64_t wanted = serving_lasting(fleet->rate, taken);
            most = wanted > form->requests && wanted > most ? wanted : most;
        }
    }
    return most;
}

/* One workload for all forms, which is long enough. */
static bool lengthen(struct fleet_size *fleet, struct error *why)
{
    bool good = true, sessions = lengthen_has_sessions(&fleet->forms[0].scenario);
    uint64_t more = lengthen_spare(requests_wanted(fleet));
    more = sessions && more < LENGTHEN_SESSIONS ? LENGTHEN_SESSIONS : more;
    if (!lengthen_may(&fleet->forms[0].scenario) || more == 0) {
        return true;
    }
    more = more < LENGTHEN_MOST ? more : LENGTHEN_MOST;
    for (uint32_t i = 0; good && i < fleet->count; i++) {
        fleet->forms[i].requests = more;
        good = lengthen_set(&fleet->forms[i].scenario, more, why);
    }
    return good;
}

/* The whole workload is served by the form that is probably the cheapest, until each machine has an
 * answer, or no form of it is left. */
static bool find_any(struct sizing *sizing, struct error *why)
{
    struct fleet_size *fleet = sizing->fleet;
    bool good = true, any = true, first = true;
    while (good && any && !*sizing->interrupted) {
        good = weigh(sizing, why);
        good = good && (!first || *sizing->interrupted || lengthen(fleet, why));
        first = any = false;
        for (uint32_t i = 0; good && i < fleet->count && !*sizing->interrupted; i++) {
            struct fleet_form *likely = find_likely(fleet, i);
            any = any || likely != NULL;
            good = likely == NULL || begin_whole(likely, likely->most_servers, why);
        }
        good = good && (*sizing->interrupted || search_whole(sizing, why));
        if (good && !any && !*sizing->interrupted) {
            good = fleet_try(sizing, FLEET_ALL_ALONE, why);
            for (uint32_t i = 0; i < fleet->count; i++) {
                any = any || find_likely(fleet, i) != NULL;
            }
        }
    }
    return good;
}

/* ---- what else costs as little ---- */

static bool is_open(const struct fleet_size *fleet, const struct fleet_form *form)
{
    return form->refused[0] == '\0' && !form->decided && !isinf(fleet_found_on(fleet, form));
}

/* Servers of a form that cost no more than what was found on its machine, or too little more to
 * call. If they miss a limit, the form is dearer. */
static uint32_t servers_within(const struct fleet_size *fleet, const struct fleet_form *form)
{
    double cost = fleet_found_on(fleet, form) * (1 + TIE_PERCENT / 100.0);
    double most = floor(cost / fleet_cost(form, 1));
    return most < form->most_servers ? (uint32_t)most : form->most_servers;
}

/* The other forms on machines that have an answer. Cheap runs say where to begin: with a form that
 * does not hold, one run of all its servers says so. */
static bool compare(struct sizing *sizing, struct error *why)
{
    struct fleet_size *fleet = sizing->fleet;
    bool good = true;
    for (uint32_t i = 0; good && i < fleet->count; i++) {
        struct fleet_form *form = &fleet->forms[i];
        if (is_open(fleet, form)) {
            uint32_t most = servers_within(fleet, form);
            form->decided = most == 0;
            good = most == 0 || begin_share(fleet, form, most, why);
        }
    }
    good = good && search_shares(sizing, why);
    for (uint32_t i = 0; good && i < fleet->count && !*sizing->interrupted; i++) {
        struct fleet_form *form = &fleet->forms[i];
        good = !is_open(fleet, form) || begin_whole(form, servers_within(fleet, form), why);
    }
    return good && (*sizing->interrupted || search_whole(sizing, why));
}

/* ---- all of it ---- */

/* Halve the host memory of each of the answer's servers for as long as it holds the rate, as amply
 * as before. The form's run is then that with the least. */
static bool halve_host(struct sizing *sizing, struct fleet_form *form, struct error *why)
{
    uint64_t all = fleet_host_gib(form, form->servers);
    sizing->fails = 1;
    while (all >> sizing->fails > 0 && all >> sizing->fails >= form->least_host_gib) {
        sizing->fails++;
    }
    bool good = fleet_try(sizing, FLEET_LESS_HOST, why);
    form->most_host_gib = all;
    *fleet_host_of(form, form->servers) = all >> sizing->holds;
    return good;
}

bool fleet_size_run(const struct scenario *scenario, const struct fleet_options *options,
                    struct fleet_size *out, bool *interrupted, struct error *why)
{
    struct sizing sizing = {
        .fleet = out, .options = options, .sources = scenario->sources, .interrupted = interrupted};
    *out =
        (struct fleet_size){.best = FLEET_NONE, .rate = options->rate, .targets = options->targets};
    out->most_gpus = options->most_gpus > 0 ? options->most_gpus : FLEET_MOST_GPUS;
    *interrupted = false;
    targets_without_queue(&options->targets, &sizing.times);
    bool good = fleet_list_forms(scenario, options, out, why) &&
                fleet_try(&sizing, FLEET_AT_ONCE, why) &&
                (*interrupted || fleet_try(&sizing, FLEET_ALONE, why)) &&
                (*interrupted || find_any(&sizing, why)) && (*interrupted || compare(&sizing, why));
    if (good) {
        fleet_size_choose(out);
    }
    struct fleet_form *best = out->best != FLEET_NONE ? &out->forms[out->best] : NULL;
    good = good && (best == NULL || best->host_gib == NULL || *interrupted ||
                    halve_host(&sizing, best, why));
    out->interrupted = *interrupted;
    return good;
}

void fleet_size_release(struct fleet_size *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct fleet_form *form = &fleet->forms[i];
        for (uint32_t j = 0; form->runs != NULL && j < form->run_count; j++) {
            result_release(&form->runs[j]);
        }
        free(form->runs);
        free(form->host_gib);
        grid_release(&form->grid);
        result_release(&form->single);
        scenario_release(&form->scenario);
    }
    free(fleet->forms);
    candidates_destroy(fleet->candidates, fleet->candidate_count);
    *fleet = (struct fleet_size){.best = FLEET_NONE};
}

bool fleet_scenario(const struct fleet_size *fleet, const struct fleet_form *form, uint32_t servers,
                    struct scenario *out, struct error *why)
{
    return scenario_copy(&form->scenario, out, why) &&
           scenario_values_set(&out->values, "rate", fleet->rate, why) &&
           (servers == 1 || scenario_values_set(&out->values, "replicas", servers, why)) &&
           fleet_host_set(form, servers, out, why);
}
