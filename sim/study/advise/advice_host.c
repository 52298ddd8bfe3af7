#include "study/advise/advice_host.h"

#include "core/node.h"
#include "study/advise/advice.h"
#include "study/plan/host_room.h"
#include "study/sweep/sweep.h"

#include <math.h>
#include <stdio.h>

/* Shares of the prompts' tokens below which nothing is found, and of a request's time within which
 * nothing is gained. */
#define NOTHING 0.001
#define NO_GAIN 0.02

/* vLLM's own offloading, where no system with host memory was searched. */
static const char *const usual_system = "vllm-offload";

static bool keeps_prefixes(const struct search *search)
{
    return search->candidate->traits.tiers && advice_starts(search);
}

/* The advised system, if it has the memory; else NULL. */
static struct search *advised_search(const struct advice *advice)
{
    struct search *best =
        advice->best != PLANNING_NONE ? &advice->systems.searches[advice->best] : NULL;
    return best != NULL && keeps_prefixes(best) ? best : NULL;
}

/* The search of the system that has the memory; NULL: of `usual_system`, which was not searched. */
static const struct search *search_of(const struct advice *advice)
{
    const struct search *advised = advised_search(advice);
    return advised != NULL ? advised : advice_best(advice, keeps_prefixes);
}

/* ---- runs ---- */

/* Run one scenario, whose point may fail: then the result says so. */
static bool run_once(const struct scenario *scenario, const struct advice_options *options,
                     struct result *out, bool *interrupted, struct error *why)
{
    uint32_t count = 0;
    const struct sweep_options with = {
        .store = options->store, .runs = options->runs, .jobs = 1, .keep_failed = true};
    return sweep_keep(scenario, &with, out, &count, interrupted, why) &&
           (count == 1 || *interrupted);
}

static void advice_host_forget(struct advice_host *host)
{
    if (host->ran) {
        result_release(&host->with);
    }
    host->ran = false;
}

/* Plain vLLM's load, with the system's memory. */
static bool run_beside(const struct advice_options *options, const struct advice *advice,
                       struct advice_host *host, bool *interrupted, struct error *why)
{
    const struct search *plain = advice_plain(advice);
    uint64_t gib = host->size.gib > 0 ? host->size.gib : host->size.most_gib;
    struct scenario scenario;
    struct result with;
    bool good = search_scenario(plain, advice->systems.maximise, plain->found, &scenario, why) &&
                node_set(scenario.root, "system", host->system, why) &&
                (gib == 0 || host_lay(gib, &scenario, why)) &&
                run_once(&scenario, options, &with, interrupted, why);
    scenario_release(&scenario);
    if (good && !*interrupted) {
        advice_host_forget(host);
        host->with = with;
        host->ran = true;
    }
    return good;
}

double advice_host_slower(const struct advice *advice)
{
    const struct advice_host *host = &advice->host;
    double without = result_number(advice_result(advice_plain(advice)), COLUMN(e2e_ms));
    bool times =
        host->ran && result_ok(&host->with) && result_cell(&host->with, COLUMN(e2e_ms))->set;
    return times && without > 0 ? result_number(&host->with, COLUMN(e2e_ms)) / without - 1
                                : (double)NAN;
}

/* The advised system with the size, at the load that it holds. */
static bool run_advised(const struct advice_options *options, const struct advice *advice,
                        struct search *best, bool *interrupted, struct error *why)
{
    struct scenario scenario;
    struct result result;
    bool good = search_scenario(best, advice->systems.maximise, best->found, &scenario, why) &&
                run_once(&scenario, options, &result, interrupted, why);
    scenario_release(&scenario);
    if (good && !*interrupted) {
        result_release(&best->results[best->found]);
        best->results[best->found] = result;
    }
    return good;
}

/* The load of the system that has the memory: its own, if it is advised, or else plain vLLM's. */
static bool host_point(const struct advice *advice, struct point *out, struct error *why)
{
    const struct search *advised = advised_search(advice);
    const struct search *loaded = advised != NULL ? advised : advice_plain(advice);
    struct scenario scenario;
    bool good = search_scenario(loaded, advice->systems.maximise, loaded->found, &scenario, why) &&
                node_set(scenario.root, "system", advice->host.system, why) &&
                scenario_point(&scenario, 0, out, why);
    scenario_release(&scenario);
    return good;
}

static bool advice_host_resize(const struct advice_options *options, struct advice *advice,
                               uint64_t gib, struct error *why)
{
    struct point point;
    bool good = host_point(advice, &point, why);
    if (good) {
        good = host_size_set(&point, options->runs, gib, &advice->host.size, why);
        point_release(&point);
    }
    return good;
}

/* Double a size that misses a limit, up to the most. */
static bool state_size(const struct advice_options *options, struct advice *advice,
                       struct search *best, bool *interrupted, struct error *why)
{
    struct advice_host *host = &advice->host;
    struct scenario *scenario = (struct scenario *)&best->candidate->scenario; /* of our own */
    bool good = true, holds = false;
    while (good && !holds && !*interrupted) {
        good = host_lay(host->size.gib, scenario, why) &&
               run_advised(options, advice, best, interrupted, why);
        holds = host->size.gib == host->size.most_gib ||
                targets_violation(&advice->targets, advice_result(best)) <= 0;
        if (good && !holds) {
            uint64_t twice = 2 * host->size.gib, most = host->size.most_gib;
            good = advice_host_resize(options, advice, twice < most ? twice : most, why);
        }
    }
    return good;
}

/* ---- the answer ---- */

static enum advice_host_answer answer_of(const struct advice *advice, bool advised)
{
    const struct host_size *size = &advice->host.size;
    double slower = advice_host_slower(advice);
    if (size->endless.gpu + size->endless.host <= NOTHING) {
        return ADVICE_HOST_NO_REUSE;
    }
    if (size->endless.host <= NOTHING) {
        return ADVICE_HOST_GPU_KEEPS;
    }
    if (size->most.host <= NOTHING) {
        return ADVICE_HOST_TOO_SMALL;
    }
    if (size->gib == 0 || size->found.saves_s <= 0) {
        return ADVICE_HOST_SLOW_LINK;
    }
    return advised || slower < -NO_GAIN ? ADVICE_HOST_PAYS : ADVICE_HOST_NO_GAIN;
}

static bool find_size(const struct advice_options *options, const struct advice *advice,
                      struct advice_host *host, struct error *why)
{
    struct point point;
    bool good = host_point(advice, &point, why);
    if (good) {
        good = host_size_find(&point, options->runs, &host->size, why);
        point_release(&point);
    }
    return good;
}

bool advice_host_find(const struct advice_options *options, struct advice *advice,
                      bool *interrupted, struct error *why)
{
    struct advice_host *host = &advice->host;
    const struct search *search = search_of(advice);
    struct search *advised = advised_search(advice);
    if (!advice->serves || advice_result(advice_plain(advice)) == NULL) {
        return true;
    }
    snprintf(host->system, sizeof host->system, "%s",
             search != NULL ? search->candidate->system : usual_system);
    if (!find_size(options, advice, host, why) ||
        !run_beside(options, advice, host, interrupted, why)) {
        return false;
    }
    host->answer = answer_of(advice, advised != NULL);
    if (host->answer != ADVICE_HOST_PAYS || advised == NULL || *interrupted) {
        return true;
    }
    uint64_t gib = host->size.gib;
    return state_size(options, advice, advised, interrupted, why) &&
           (host->size.gib == gib || *interrupted ||
            run_beside(options, advice, host, interrupted, why));
}

void advice_host_release(struct advice_host *host)
{
    advice_host_forget(host);
    *host = (struct advice_host){.answer = ADVICE_HOST_UNASKED};
}
