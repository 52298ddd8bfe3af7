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

/* The share of a rate at which servers are compared; and the least, if they do not hold more (assumed). */
#define LOWER 0.8
#define LEAST_SHARE 0.5

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

/* The scenario of the value that a search found; with another system, and with host memory, if
 * these are not NULL and 0. The caller releases `out`, on failure too. */
static bool set_found(const struct search *search, const char *system, uint64_t gib,
                      struct scenario *out, struct error *why)
{
    return search_scenario(search, search->found, out, why) &&
           (system == NULL || node_set(out->root, "system", system, why)) &&
           (gib == 0 || scenario_values_set(&out->values, "host_memory", (double)(gib << 30), why));
}

/* Run it, or a share of its rate: for a question, or as `simulate` does if it is NULL. A point may fail: then the
 * result says so. */
static bool run_found(const struct advice_options *options, const struct search *search,
                      const char *system, uint64_t gib, double share,
                      const struct stream_question *question, struct result *out, struct error *why)
{
    uint32_t count = 0;
    struct scenario scenario;
    struct run_context runs = *options->study.runs; /* a view */
    runs.question = question;
    const struct study alone = {.store = options->study.store, .runs = &runs, .jobs = 1};
    bool good = set_found(search, system, gib, &scenario, why);
    double rate = good ? share * scenario_stated(&scenario.values, "rate", 0) : 0;
    good = good && (share >= 1 || scenario_values_set(&scenario.values, "rate", rate, why)) &&
           sweep_keep(&scenario, &alone, out, &count, why);
    scenario_release(&scenario);
    return good;
}

/* Compare the mean times of a request, with the memory and without: of as many requests, since the runs of a
 * search end once a limit is known to be met, and below the rate that plain vLLM holds, since near it times are
 * chance. Where one of them falls behind, they are those of a run's length: then lower still. */
static bool run_beside(const struct advice_options *options, const struct advice *advice,
                       struct advice_host *host, struct error *why)
{
    const struct stream_question many = {.most = STREAM_FEWEST};
    const uint64_t gib = host->size.gib > 0 ? host->size.gib : host->size.most_gib;
    bool grows = true;
    for (double share = host->share; grows && share > LEAST_SHARE; share *= LOWER) {
        double ms[2] = {NAN, NAN};
        grows = false;
        for (int with = 0; with < 2 && !grows; with++) {
            struct result result;
            if (!run_found(options, advice_plain(advice), with ? host->system : NULL,
                           with ? gib : 0, share, &many, &result, why)) {
                return false;
            }
            grows = result_cell(&result, COLUMN(queue_grows))->integer > 0;
            bool told = !grows && result_ok(&result) && result_cell(&result, COLUMN(e2e_ms))->set;
            ms[with] = told ? result_number(&result, COLUMN(e2e_ms)) : (double)NAN;
            result_release(&result);
        }
        host->slower = ms[1] / ms[0] - 1;
        host->share = share;
    }
    return true;
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
    advice->host.share = point.workload.rate > 0 ? LOWER : 1;
    bool good = host_size_find(&point, &runs, &advice->host.size, why);
    point_release(&point);
    return good;
}

/* Run a value in a draw of its requests, with the size that the candidate states. */
static bool run_draw(const struct advice_options *options, const struct targets *targets,
                     struct search *search, uint32_t value, uint32_t draw,
                     struct capacity_draws *draws, struct error *why)
{
    const struct study alone = {
        .store = options->study.store, .runs = options->study.runs, .jobs = 1};
    uint32_t count = 0;
    struct result result;
    struct scenario scenario;
    bool good = search_scenario(search, value, &scenario, why) && draws_set(&scenario, draw, why) &&
                sweep_keep(&scenario, &alone, &result, &count, why);
    scenario_release(&scenario);
    if (good) {
        bool misses = targets_violation(targets, &result) > 0;
        draws_take(draws, draw, misses, &result, &search->results[value]);
        result_release(&result);
    }
    return good;
}

/* Judge a value anew with that size: of a stream in all draws. */
static bool judge_again(const struct advice_options *options, const struct targets *targets,
                        struct search *search, uint32_t value, struct error *why)
{
    bool good = true, stream = search->depth != NULL;
    struct capacity_draws once, *draws = stream ? &search->draws[value] : &once;
    *draws = (struct capacity_draws){.asked = 0};
    for (uint32_t draw = 0; good && draw < (stream ? CAPACITY_DRAWS : 1); draw++) {
        good = run_draw(options, targets, search, value, draw, draws, why);
    }
    if (good) {
        grid_put(&search->grid, value, targets_violation(targets, &search->results[value]));
    }
    return good;
}

/* State the size in the advised system's scenario, and run it at the load that it holds. A size that misses a
 * limit is doubled, up to the most. The load above the answer is told of the same server. */
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
        good = scenario_values_set(values, "host_memory", (double)(size->gib << 30), why) &&
               judge_again(options, &advice->targets, best, best->found, why);
        if (!good) {
            break;
        }
        size->found = counts ? host_found_in(&best->results[best->found]) : size->found;
        holds = size->gib == size->most_gib || best->grid.violation[best->found] <= 0;
        if (!holds) {
            uint64_t twice = 2 * size->gib;
            counts = true;
            host_size_state(&point, twice < size->most_gib ? twice : size->most_gib, size);
        }
    }
    if (made) {
        point_release(&point);
    }
    if (!good || best->depth == NULL || search_next_miss(best) == PLANNING_NONE) {
        return good;
    }
    return judge_again(options, &advice->targets, best, search_next_miss(best), why);
}

/* ---- the answer ---- */

static enum advice_host_answer answer_of(const struct advice *advice, bool advised)
{
    const struct host_size *size = &advice->host.size;
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
    double slower = advice->host.slower;
    return advised || slower < -NO_GAIN ? ADVICE_HOST_PAYS
           : isnan(slower)              ? ADVICE_HOST_UNASKED
                                        : ADVICE_HOST_NO_GAIN;
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
    bool alike = advised == NULL || keeps_in_plain(advised);
    host->slower = (double)NAN;
    if (!find_size(options, advice, why) || (alike && !run_beside(options, advice, host, why))) {
        return false;
    }
    host->answer = answer_of(advice, advised != NULL);
    if (host->answer != ADVICE_HOST_PAYS || advised == NULL) {
        return true;
    }
    uint64_t gib = host->size.gib;
    return state_size(options, advice, advised, why) &&
           (!alike || host->size.gib == gib || run_beside(options, advice, host, why));
}
