/* Host memory for prompts that begin alike: how many GiB, what they take, and when not. */
#include "study/advise/advice.h"

#include "core/node.h"
#include "study/plan/host_room.h"
#include "study/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A share of a request's time within which nothing is gained. */
#define NO_GAIN 0.02

/* vLLM's own offloading, where no system with host memory was searched. */
static const char *const usual_system = "vllm-offload";

static bool keeps_prefixes(const struct search *search)
{
    return search->candidate->traits.tiers && advice_starts(search);
}

/* Does it do so in plain vLLM's engine? What another engine takes less is not the memory's. */
static bool keeps_in_plain(const struct search *search)
{
    return keeps_prefixes(search) && strcmp(search->candidate->traits.available, PLAIN_SYSTEM) == 0;
}

/* The advised system, if it has the memory; else NULL. */
static struct search *advised_search(const struct advice *advice)
{
    struct search *best =
        advice->best != PLANNING_NONE ? &advice->systems.searches[advice->best] : NULL;
    return best != NULL && keeps_prefixes(best) ? best : NULL;
}

/* ---- runs ---- */

static void advice_host_forget(struct advice_host *host)
{
    if (host->ran) {
        result_release(&host->with);
    }
    host->ran = false;
}

/* The scenario of the value that a search found; with another system, and with host memory, if
 * these are not NULL and 0. The caller releases `out`, on failure too. */
static bool set_found(const struct search *search, const char *system, uint64_t gib,
                      struct scenario *out, struct error *why)
{
    return search_scenario(search, search->found, out, why) &&
           (system == NULL || node_set(out->root, "system", system, why)) &&
           (gib == 0 || scenario_values_set(&out->values, "host_memory", (double)(gib << 30), why));
}

/* Run it: briefly, or whole, as `simulate` does. A point may fail: then the result says so. */
static bool run_found(const struct advice_options *options, const struct search *search,
                      const char *system, uint64_t gib, bool whole, struct result *out,
                      struct error *why)
{
    uint32_t count = 0;
    struct scenario scenario;
    const struct stream_question question = targets_question(&options->targets, STREAM_FEWEST);
    struct run_context runs = *options->study.runs; /* a view */
    runs.question = whole ? NULL : &question;
    const struct study alone = {.store = options->study.store, .runs = &runs, .jobs = 1};
    bool good = set_found(search, system, gib, &scenario, why) &&
                sweep_keep(&scenario, &alone, out, &count, why);
    scenario_release(&scenario);
    return good;
}

/* Plain vLLM's load, with the system's memory: for as long as it ran, as they are compared. */
static bool run_beside(const struct advice_options *options, const struct advice *advice,
                       struct advice_host *host, struct error *why)
{
    const struct search *plain = advice_plain(advice);
    bool whole = plain->depth != NULL && search_is_whole(plain);
    uint64_t gib = host->size.gib > 0 ? host->size.gib : host->size.most_gib;
    advice_host_forget(host);
    host->ran = run_found(options, plain, host->system, gib, whole, &host->with, why);
    return host->ran;
}

double advice_host_slower(const struct advice *advice)
{
    const struct advice_host *host = &advice->host;
    double without = result_number(advice_result(advice_plain(advice)), COLUMN(e2e_ms));
    bool alike = advised_search(advice) == NULL || keeps_in_plain(advised_search(advice));
    bool times = alike && host->ran && result_ok(&host->with) &&
                 result_cell(&host->with, COLUMN(e2e_ms))->set;
    return times && without > 0 ? result_number(&host->with, COLUMN(e2e_ms)) / without - 1
                                : (double)NAN;
}

/* The point of the load of the system that has the memory: its own, if it is advised, else plain vLLM's. */
static bool host_point(const struct advice *advice, struct point *out, struct error *why)
{
    const struct search *advised = advised_search(advice);
    struct scenario scenario;
    bool good = set_found(advised != NULL ? advised : advice_plain(advice), advice->host.system, 0,
                          &scenario, why) &&
                scenario_point(&scenario, 0, out, why);
    scenario_release(&scenario);
    return good;
}

/* A few requests tell how much a size finds. */
static bool find_size(const struct advice_options *options, struct advice *advice,
                      struct error *why)
{
    const struct stream_question question = targets_question(&options->targets, STREAM_FEWEST);
    struct run_context runs = *options->study.runs; /* a view */
    struct point point;
    runs.question = &question;
    if (!host_point(advice, &point, why)) {
        return false;
    }
    bool good = host_size_find(&point, &runs, &advice->host.size, why);
    point_release(&point);
    return good;
}

/* State the size in the advised system's scenario, and run it at the load that it holds. A size
 * that misses a limit is doubled, up to the most. */
static bool state_size(const struct advice_options *options, struct advice *advice,
                       struct search *best, struct error *why)
{
    struct host_size *size = &advice->host.size;
    /* The candidate is one of our own. */
    struct scenario_values *values = (struct scenario_values *)&best->candidate->scenario.values;
    struct point point;
    bool good = host_point(advice, &point, why), made = good, holds = false;
    bool counts = good && host_is_clocked(&point); /* its own run says what the size finds */
    while (good && !holds) {
        struct result result;
        good = scenario_values_set(values, "host_memory", (double)(size->gib << 30), why) &&
               run_found(options, best, NULL, 0, true, &result, why);
        if (!good) {
            break;
        }
        result_release(&best->results[best->found]);
        best->results[best->found] = result;
        size->found = counts ? host_found_in(&result) : size->found;
        holds = size->gib == size->most_gib || targets_violation(&advice->targets, &result) <= 0;
        if (!holds) {
            uint64_t twice = 2 * size->gib;
            counts = true;
            host_size_state(&point, twice < size->most_gib ? twice : size->most_gib, size);
        }
    }
    if (made) {
        point_release(&point);
    }
    return good;
}

/* ---- the answer ---- */

static enum advice_host_answer answer_of(const struct advice *advice, bool advised)
{
    const struct host_size *size = &advice->host.size;
    double slower = advice_host_slower(advice);
    if (size->endless.gpu + size->endless.host <= HOST_NOTHING) {
        return ADVICE_HOST_NO_REUSE;
    }
    if (size->endless.host <= HOST_NOTHING) {
        return ADVICE_HOST_GPU_KEEPS;
    }
    if (size->most.host <= HOST_NOTHING) {
        return ADVICE_HOST_TOO_SMALL;
    }
    if (size->gib == 0 || size->found.saves_s <= 0) {
        return ADVICE_HOST_SLOW_LINK;
    }
    return advised || slower < -NO_GAIN ? ADVICE_HOST_PAYS : ADVICE_HOST_NO_GAIN;
}

bool advice_host_find(const struct advice_options *options, struct advice *advice,
                      struct error *why)
{
    struct advice_host *host = &advice->host;
    struct search *advised = advised_search(advice);
    const struct search *search = advised != NULL ? advised : advice_best(advice, keeps_in_plain);
    if (!advice->serves || advice_result(advice_plain(advice)) == NULL) {
        return true;
    }
    snprintf(host->system, sizeof host->system, "%s",
             search != NULL ? search->candidate->system : usual_system);
    if (!find_size(options, advice, why) || !run_beside(options, advice, host, why)) {
        return false;
    }
    host->answer = answer_of(advice, advised != NULL);
    if (host->answer != ADVICE_HOST_PAYS || advised == NULL) {
        return true;
    }
    uint64_t gib = host->size.gib;
    return state_size(options, advice, advised, why) &&
           (host->size.gib == gib || run_beside(options, advice, host, why));
}

void advice_host_release(struct advice_host *host)
{
    advice_host_forget(host);
    *host = (struct advice_host){.answer = ADVICE_HOST_UNASKED};
}
