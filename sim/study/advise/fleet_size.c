#include "study/advise/fleet_size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/node.h"
#include "predict/result/tie.h"
#include "predict/server/serving_load.h"
#include "study/advise/advice.h"
#include "study/advise/fleet_parts.h"
#include "study/plan/lengthen.h"
#include "study/plan/planning_probe.h"
#include "study/sweep/sweep.h"

/* ---- the whole workload ---- */

static bool fleet_begin_form(struct fleet_form *form, uint32_t most, uint32_t guess,
                             struct error *why)
{
    form->runs = array_zeroed(most, sizeof *form->runs, why);
    form->run_count = most;
    return form->runs != NULL && fleet_begin(form, most, guess, 1, why);
}

/* What a search that was interrupted tried counts, too. */
static void fleet_end_form(struct fleet_form *form, bool decided)
{
    uint32_t found = grid_found(&form->grid);
    form->servers = found != GRID_NONE ? found + 1 : 0;
    form->fewer = found != GRID_NONE ? found : form->grid.count;
    while (form->fewer > 0 && !(form->grid.violation[form->fewer - 1] > 0)) {
        form->fewer--;
    }
    form->decided = decided;
    form->searched = false;
}

static bool search_forms(struct sizing *sizing, struct error *why)
{
    bool good = fleet_size_search(sizing, FLEET_WHOLE, why);
    for (uint32_t i = 0; i < sizing->fleet->count; i++) {
        if (sizing->fleet->forms[i].searched) {
            fleet_end_form(&sizing->fleet->forms[i], good && !*sizing->interrupted);
        }
    }
    return good;
}

/* ---- an answer on each machine ---- */

/* The form that is probably the cheapest on each machine that has no answer yet. */
static bool confirm(struct sizing *sizing, bool *any, struct error *why)
{
    bool good = true;
    *any = false;
    for (uint32_t i = 0; good && i < sizing->fleet->count; i++) {
        struct fleet_form *likely = fleet_likely(sizing->fleet, i);
        if (likely != NULL) {
            *any = true;
            good = fleet_begin_form(likely, likely->most_servers, likely->guess, why);
        }
    }
    return good && search_forms(sizing, why);
}

/* A few requests alone missed a limit: whether all do, all must say. */
static bool is_single(const struct fleet_size *fleet, const struct fleet_form *form)
{
    return form->refused[0] == '\0' && form->alone > 0 && !form->is_alone &&
           isinf(fleet_found_on(fleet, form));
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
static bool fleet_compare(struct sizing *sizing, struct error *why)
{
    struct fleet_size *fleet = sizing->fleet;
    bool good = true;
    for (uint32_t i = 0; good && i < fleet->count; i++) {
        struct fleet_form *form = &fleet->forms[i];
        if (is_open(fleet, form)) {
            uint32_t most = servers_within(fleet, form);
            form->decided = most == 0;
            good = most == 0 || fleet_weigh_begin(fleet, form, most, why);
        }
    }
    good = good && fleet_weigh_search(sizing, why);
    for (uint32_t i = 0; good && i < fleet->count && !*sizing->interrupted; i++) {
        struct fleet_form *form = &fleet->forms[i];
        good = !is_open(fleet, form) ||
               fleet_begin_form(form, servers_within(fleet, form), form->guess, why);
    }
    return good && (*sizing->interrupted || search_forms(sizing, why));
}

/* ---- the length of the workload ---- */

/* One workload for all forms. */
static bool fleet_lengthen(struct fleet_size *fleet, struct error *why)
{
    bool good = true, sessions = lengthen_has_sessions(&fleet->forms[0].scenario);
    uint64_t more = lengthen_spare(fleet_requests_wanted(fleet));
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

/* ---- all of it ---- */

/* Until each machine has an answer, or no form of it is left. */
static bool find_any(struct sizing *sizing, struct error *why)
{
    bool good = true, any = true, first = true;
    while (good && any && !*sizing->interrupted) {
        good = fleet_weigh(sizing, why) &&
               (!first || *sizing->interrupted || fleet_lengthen(sizing->fleet, why)) &&
               (*sizing->interrupted || confirm(sizing, &any, why));
        first = false;
        if (good && !any && !*sizing->interrupted) {
            good = fleet_try_forms(sizing, FLEET_ALL_ALONE, is_single, why);
            for (uint32_t i = 0; i < sizing->fleet->count; i++) {
                any = any || fleet_likely(sizing->fleet, i) != NULL;
            }
        }
    }
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
    bool good = fleet_list_forms(scenario, options, out, why) && fleet_survey(&sizing, why) &&
                (*interrupted || find_any(&sizing, why)) &&
                (*interrupted || fleet_compare(&sizing, why));
    if (good) {
        fleet_size_choose(out);
    }
    struct fleet_form *best = out->best != FLEET_NONE ? &out->forms[out->best] : NULL;
    good = good && (best == NULL || best->host_gib == NULL || *interrupted ||
                    fleet_host_lessen(&sizing, best, why));
    out->interrupted = *interrupted;
    free(sizing.tries);
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
           advice_set_number(out, "rate", fleet->rate, why) &&
           (servers == 1 || advice_set_number(out, "replicas", servers, why)) &&
           fleet_host_lay(form, servers, out, why);
}

/* Requests of a cheap run: at once, and alone. */
enum { AT_ONCE = 250, ALONE = 100, A_ROUND = 2 };

/* Rates at which all requests come at once, and none meets another. */
static const char *const at_once = "100000", *const far_apart = "0.00001";

/* ---- what a try serves ---- */

static bool lay_few(struct scenario *scenario, const char *rate, uint64_t few,
                    const struct fleet_form *form, struct error *why)
{
    return node_set(scenario->root, "rate", rate, why) &&
           advice_set_number(scenario, "limit",
                             (double)(few < form->requests ? few : form->requests), why);
}

static bool lay_share(struct scenario *scenario, double share, const struct fleet_form *form,
                      struct error *why)
{
    uint64_t requests = rough_requests(&form->rough, share, ROUGH_LEAST, form->requests);
    return advice_set_number(scenario, "rate", share, why) &&
           advice_set_number(scenario, "limit", (double)requests, why);
}

static bool fleet_tries_lay(uint32_t index, struct scenario *out, void *context, struct error *why)
{
    const struct sizing *sizing = context;
    const struct fleet_try *try = &sizing->tries[index];
    const struct fleet_form *form = try->form;
    if (sizing->what == FLEET_WHOLE || sizing->what == FLEET_LESS_HOST) {
        return fleet_scenario(sizing->fleet, form, try->servers, out, why) &&
               fleet_host_lay_gib(try->gib, out, why);
    }
    if (!scenario_copy(&form->scenario, out, why) ||
        !fleet_host_lay(form, try->servers, out, why)) {
        return false;
    }
    switch (sizing->what) {
    case FLEET_AT_ONCE:
        return lay_few(out, at_once, AT_ONCE, form, why);
    case FLEET_ALONE:
        return lay_few(out, far_apart, ALONE, form, why);
    case FLEET_SHARE:
        return lay_share(out, sizing->fleet->rate / try->servers, form, why);
    default: /* FLEET_ALL_ALONE */
        return node_set(out->root, "rate", far_apart, why);
    }
}

/* ---- cheap runs ---- */

static void take_at_once(struct fleet_form *form, const struct result *result)
{
    rough_read(result, &form->rough);
    if (!result_ok(result)) {
        result_reason(result, form->refused, sizeof form->refused);
    }
}

/* Few requests hardly show that a server falls behind. Where no time is limited, it is taken to
 * answer as many as when all come at once; a server that then runs out of KV answers more. */
static void take_share(const struct sizing *sizing, const struct fleet_try *try,
                       const struct result *result)
{
    struct fleet_form *form = try->form;
    bool untimed = sizing->times.count == 0;
    bool lack = serving_sessions_lack(result);
    double violation = targets_violation(lack ? &sizing->times : &sizing->options->targets, result);
    bool behind = untimed && sizing->fleet->rate / try->servers > form->rough.most;
    if (violation == 0 && !behind) {
        double session = serving_session_s(result, sizing->fleet->rate / try->servers);
        form->taken = fmax(result_number(result, COLUMN(e2e_ms)) / 1e3, session);
    }
    grid_put(&form->grid, try->servers - 1, behind ? fmax(violation, 1) : violation);
}

/* ---- progress ---- */

/* How far the forms are: each step forward counts once, so that the share never falls. */
static double share_done(const struct fleet_size *fleet)
{
    enum { SURVEYED = 1, WEIGHED = 2, DECIDED = 4 };
    uint32_t done = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        bool ends = form->refused[0] != '\0' || form->decided;
        done += ends ? DECIDED : form->weighed ? WEIGHED : form->rough.most > 0 ? SURVEYED : 0;
    }
    return (double)done / (DECIDED * fleet->count);
}

static void tell(const struct sizing *sizing)
{
    static const char *const names[] = {
        [FLEET_AT_ONCE] = "what a server answers at most",
        [FLEET_ALONE] = "a few requests that have a server alone",
        [FLEET_SHARE] = "one server with its share of the rate",
        [FLEET_WHOLE] = "all servers with the whole workload",
        [FLEET_ALL_ALONE] = "all requests, each with a server alone",
        [FLEET_LESS_HOST] = "the answer with less host memory",
    };
    if (sizing->options->on_progress != NULL) {
        sizing->options->on_progress(share_done(sizing->fleet), names[sizing->what],
                                     sizing->options->context);
    }
}

/* ---- what it tells ---- */

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

static void fleet_tries_keep(struct result *result, struct result *out)
{
    *out = *result;
    result_init(result);
}

/* A form that holds the rate with less host memory is started with less. */
static void take_less_host(struct sizing *sizing, struct fleet_form *form, struct result *result)
{
    struct result *answer = &form->runs[form->servers - 1];
    const struct targets *targets = &sizing->options->targets;
    sizing->holds =
        targets_violation(targets, result) == 0 && (!form->ample || targets_ample(targets, result));
    if (sizing->holds) {
        result_release(answer);
        fleet_tries_keep(result, answer);
    }
}

static bool fleet_tries_take(uint32_t index, struct result *result, void *context,
                             struct error *why)
{
    struct sizing *sizing = context;
    const struct fleet_try *try = &sizing->tries[index];
    struct fleet_form *form = try->form;
    double whole = targets_violation(&sizing->options->targets, result);
    switch (sizing->what) {
    case FLEET_AT_ONCE:
        take_at_once(form, result);
        break;
    case FLEET_ALONE:
        form->alone = targets_violation(&sizing->times, result);
        break;
    case FLEET_SHARE:
        take_share(sizing, try, result);
        break;
    case FLEET_WHOLE:
        if (serving_sessions_lack(result)) {
            return refuse_sessions(sizing->fleet->rate, result, why);
        }
        grid_put(&form->grid, try->servers - 1, whole);
        fleet_tries_keep(result, &form->runs[try->servers - 1]);
        break;
    case FLEET_ALL_ALONE:
        form->alone = whole;
        form->is_alone = true;
        fleet_tries_keep(result, &form->single);
        break;
    case FLEET_LESS_HOST:
        take_less_host(sizing, form, result);
        break;
    }
    sizing->fleet->cheap_runs += sizing->what < FLEET_WHOLE;
    sizing->fleet->runs += sizing->what == FLEET_WHOLE;
    tell(sizing);
    return true;
}

/* ---- rounds ---- */

static bool fleet_tries_add(struct sizing *sizing, struct fleet_form *form, uint32_t servers,
                            uint64_t gib, struct error *why)
{
    if (!array_reserve(&sizing->tries, &sizing->capacity, sizing->count + 1, sizeof *sizing->tries,
                       why)) {
        return false;
    }
    sizing->tries[sizing->count++] = (struct fleet_try){form, servers, gib};
    return true;
}

/* Cheap runs are rough: only runs of the whole workload are kept. */
static bool fleet_tries_run_round(struct sizing *sizing, struct error *why)
{
    const struct tries tries = {.count = (uint32_t)sizing->count,
                                .rough = sizing->what < FLEET_WHOLE,
                                .store = sizing->options->store,
                                .jobs = sizing->options->jobs,
                                .runs = sizing->options->runs,
                                .sources = sizing->sources,
                                .lay = fleet_tries_lay,
                                .take = fleet_tries_take,
                                .context = sizing};
    tell(sizing);
    bool good = tries_run(&tries, sizing->interrupted, why);
    sizing->count = 0;
    return good;
}

bool fleet_try_forms(struct sizing *sizing, enum fleet_what what,
                     bool (*is_wanted)(const struct fleet_size *fleet,
                                       const struct fleet_form *form),
                     struct error *why)
{
    bool good = true;
    sizing->what = what;
    for (uint32_t i = 0; good && i < sizing->fleet->count; i++) {
        struct fleet_form *form = &sizing->fleet->forms[i];
        good = !is_wanted(sizing->fleet, form) || fleet_tries_add(sizing, form, 1, 0, why);
    }
    return good && fleet_tries_run_round(sizing, why);
}

bool fleet_try_host(struct sizing *sizing, struct fleet_form *form, uint64_t gib, bool *holds,
                    struct error *why)
{
    sizing->what = FLEET_LESS_HOST;
    bool good = fleet_tries_add(sizing, form, form->servers, gib, why) &&
                fleet_tries_run_round(sizing, why);
    *holds = sizing->holds;
    return good;
}

bool fleet_begin(struct fleet_form *form, uint32_t most, uint32_t guess, uint32_t reach,
                 struct error *why)
{
    grid_release(&form->grid);
    if (!grid_init(&form->grid, most, why)) {
        return false;
    }
    grid_near(&form->grid, (guess < 1 ? 1 : guess < most ? guess : most) - 1, reach, 1);
    form->searched = true;
    return true;
}

bool fleet_size_search(struct sizing *sizing, enum fleet_what what, struct error *why)
{
    bool good = true, open = true;
    sizing->what = what;
    while (good && open && !*sizing->interrupted) {
        for (uint32_t i = 0; good && i < sizing->fleet->count; i++) {
            struct fleet_form *form = &sizing->fleet->forms[i];
            uint32_t values[A_ROUND];
            uint32_t tries = form->searched ? grid_next(&form->grid, A_ROUND, values) : 0;
            for (uint32_t j = 0; good && j < tries; j++) {
                good = fleet_tries_add(sizing, form, values[j] + 1, 0, why);
            }
        }
        open = sizing->count > 0;
        good = good && fleet_tries_run_round(sizing, why);
    }
    return good;
}

/* ---- what a server answers at most ---- */

static bool may_be(const struct fleet_size *fleet, const struct fleet_form *form)
{
    (void)fleet;
    return form->refused[0] == '\0';
}

bool fleet_survey(struct sizing *sizing, struct error *why)
{
    return fleet_try_forms(sizing, FLEET_AT_ONCE, may_be, why) &&
           (*sizing->interrupted || fleet_try_forms(sizing, FLEET_ALONE, may_be, why));
}

/* ---- what is probably the cheapest ---- */

static bool may_hold(const struct fleet_form *form)
{
    return form->refused[0] == '\0' && !form->decided && form->alone == 0;
}

/* Servers at a share of what each answers at most. */
static uint32_t servers_at(const struct fleet_size *fleet, const struct fleet_form *form,
                           double share)
{
    double servers = form->rough.most > 0 ? ceil(fleet->rate / (share * form->rough.most)) : 1;
    return servers < form->most_servers ? (uint32_t)servers : form->most_servers;
}

/* Until it is weighed a form may be as cheap as if nothing were limited. */
static double likely_cost(const struct fleet_size *fleet, const struct fleet_form *form)
{
    return fleet_cost(form, form->weighed ? form->guess : servers_at(fleet, form, 1));
}

struct fleet_form *fleet_likely(const struct fleet_size *fleet, uint32_t first)
{
    struct fleet_form *likely = NULL;
    double least = INFINITY;
    if (!fleet_is_first(fleet, first) || !isinf(fleet_found_on(fleet, &fleet->forms[first]))) {
        return NULL;
    }
    for (uint32_t i = first;
         i < fleet->count && fleet_on_one_machine(&fleet->forms[i], &fleet->forms[first]); i++) {
        double cost = likely_cost(fleet, &fleet->forms[i]);
        if (may_hold(&fleet->forms[i]) && cost < least) {
            least = cost;
            likely = &fleet->forms[i];
        }
    }
    return likely;
}

/* ---- by its share of the rate ---- */

bool fleet_weigh_begin(const struct fleet_size *fleet, struct fleet_form *form, uint32_t most,
                       struct error *why)
{
    uint32_t guess = servers_at(fleet, form, ROUGH_USUAL);
    guess = guess < most ? guess : most;
    return fleet_begin(form, most, guess, 1 + guess / 8, why);
}

bool fleet_weigh_search(struct sizing *sizing, struct error *why)
{
    bool good = fleet_size_search(sizing, FLEET_SHARE, why);
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

bool fleet_weigh(struct sizing *sizing, struct error *why)
{
    bool good = true, any = true;
    while (good && any && !*sizing->interrupted) {
        any = false;
        for (uint32_t i = 0; good && i < sizing->fleet->count; i++) {
            struct fleet_form *likely = fleet_likely(sizing->fleet, i);
            if (likely != NULL && !likely->weighed) {
                any = true;
                good = fleet_weigh_begin(sizing->fleet, likely, likely->most_servers, why);
            }
        }
        good = good && fleet_weigh_search(sizing, why);
    }
    return good;
}

uint64_t fleet_requests_wanted(const struct fleet_size *fleet)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = fleet_likely(fleet, i);
        if (form != NULL) {
            double taken = form->taken > 0 ? form->taken : form->rough.held / form->rough.most;
            uint64_t wanted = serving_lasting(fleet->rate, taken);
            most = wanted > form->requests && wanted > most ? wanted : most;
        }
    }
    return most;
}
