#include "study/advise/advice.h"

#include "study/advise/advice_host.h"
#include "study/advise/advice_search.h"

#include "core/node.h"
#include "model/parallel.h"
#include "predict/result/tie.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { USUAL_CONTEXT = 131072 };

/* ---- the context ---- */

/* Resolve the scenario with plain vLLM: it needs no trace, and the system does not matter here. */
static bool resolve_plain(const struct scenario *scenario, struct point *out, struct error *why)
{
    struct scenario plain;
    bool good = scenario_copy(scenario, &plain, why) &&
                node_set(plain.root, "system", ADVICE_PLAIN, why) &&
                scenario_point(&plain, 0, out, why);
    scenario_release(&plain);
    return good;
}

bool advice_set_context(struct scenario *scenario, struct error *why)
{
    static const char *const keys[] = {"context", "contexts", "prompt"};
    struct point point;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (scenario_serves(scenario) || node_stated(scenario->root, keys[i]) != NULL) {
            return true;
        }
    }
    if (!advice_set_number(scenario, "context", USUAL_CONTEXT, why) ||
        !resolve_plain(scenario, &point, why)) {
        return false;
    }
    uint64_t trained = point.setup.model.trained_context;
    point_release(&point);
    return trained == 0 || trained >= USUAL_CONTEXT ||
           advice_set_number(scenario, "context", (double)trained, why);
}

bool advice_set_requests(struct scenario *scenario, struct error *why)
{
    struct point point;
    char text[64];
    if (scenario_serves(scenario)) {
        return true;
    }
    if (!resolve_plain(scenario, &point, why)) {
        return false;
    }
    uint64_t context = point.setup.context;
    point_release(&point);
    if (context <= ADVICE_OUTPUT) {
        error_usage(why, "--ttft", 0, "a context of %" PRIu64 " tokens has no room for a prompt",
                    context);
        return error_expect(why, "more than %d tokens", ADVICE_OUTPUT);
    }
    snprintf(text, sizeof text, "\"synthetic:prompt=%" PRIu64 ",output=%d\"",
             context - ADVICE_OUTPUT, ADVICE_OUTPUT);
    node_remove(scenario->root, "context");
    node_remove(scenario->root, "contexts");
    return node_set(scenario->root, "workload", text, why);
}

/* ---- forms ---- */

void advice_trial_release(struct advice_trial *trial)
{
    planning_release(&trial->planning);
    *trial = (struct advice_trial){.change = ADVICE_NO_CHANGE};
}

/* GPUs of a server of the scenario, of all ranks and stages. 1: of one that cannot be. */
static uint32_t gpus_of(const struct scenario *scenario)
{
    struct point point;
    struct error unseen;
    if (!resolve_plain(scenario, &point, &unseen)) {
        return 1;
    }
    uint32_t gpus = model_gpus(&point.setup.model);
    point_release(&point);
    return gpus;
}

/* Try plain vLLM with the GPUs as servers of `gpus` each. */
static bool try_form(const struct scenario *scenario, const struct advice_options *options,
                     uint32_t gpus, struct advice *out, bool *interrupted, struct error *why)
{
    struct advice_trial *trial = &out->trials[out->trial_count++];
    struct scenario laid;
    trial->form = (struct advice_form){.servers = gpus == 0 ? 1 : options->gpus / gpus,
                                       .gpus = gpus == 0 ? gpus_of(scenario) : gpus};
    bool good = scenario_copy(scenario, &laid, why) &&
                (gpus == 0 || advice_set_form(&laid, &trial->form, why)) &&
                advice_try(&laid, options, trial, interrupted, why);
    scenario_release(&laid);
    return good;
}

/* All forms of as many GPUs, fewest servers first; those that cannot be are left out. */
static bool try_forms(const struct scenario *scenario, const struct advice_options *options,
                      struct advice *out, bool *interrupted, struct error *why)
{
    struct error first = {.line = 0};
    for (uint32_t gpus = options->gpus; gpus > 0 && !*interrupted; gpus--) {
        struct error refused;
        if (options->gpus % gpus != 0 || out->trial_count == ADVICE_FORMS) {
            continue;
        }
        if (!try_form(scenario, options, gpus, out, interrupted, &refused)) {
            advice_trial_release(&out->trials[--out->trial_count]);
            first = first.found[0] == '\0' ? refused : first;
        }
    }
    if (out->trial_count == 0) {
        *why = first;
        return *interrupted;
    }
    return true;
}

/* The form with the highest rate; of those too close to call the one with the fewest servers. */
static uint32_t choose_form(const struct advice *advice)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < advice->trial_count; i++) {
        const struct advice_trial *form = &advice->trials[i], *so_far = &advice->trials[best];
        double rate = advice_rate(advice, advice_trial_search(form), &form->form);
        double before = advice_rate(advice, advice_trial_search(so_far), &so_far->form);
        best =
            rate > before * (1 + TIE_PERCENT / 100.0) || (isnan(before) && !isnan(rate)) ? i : best;
    }
    return best;
}

/* ---- the choice ---- */

static bool is_simpler(const struct search *a, const struct search *b)
{
    bool x = strcmp(a->candidate->system, ADVICE_PLAIN) == 0;
    bool y = strcmp(b->candidate->system, ADVICE_PLAIN) == 0;
    return x != y ? x : a->candidate->mechanisms < b->candidate->mechanisms;
}

/* The best of what one can start; of those too close to call to it, the simplest. */
static uint32_t advice_choose(const struct advice *advice)
{
    const struct planning *systems = &advice->systems;
    const struct search *best = advice_best(advice, advice_starts), *simplest = best;
    for (uint32_t i = 0; best != NULL && i < systems->count; i++) {
        const struct search *search = &systems->searches[i];
        if (advice_starts(search) && advice_result(search) != NULL && advice_ties(search, best) &&
            is_simpler(search, simplest)) {
            simplest = search;
        }
    }
    return simplest != NULL ? (uint32_t)(simplest - systems->searches) : PLANNING_NONE;
}

/* ---- scenarios that no server can run ---- */

static bool ran_at_all(const struct search *search)
{
    bool ran = false;
    for (uint32_t i = 0; i < search->grid.count && !ran; i++) {
        ran = grid_tried(&search->grid, i) && !result_failed(&search->results[i]);
    }
    return ran;
}

/* Where every run of every system failed, an error of the scenario is one of the command, and no
 * answer. That nothing fits is an answer. */
static bool check_ran(const struct planning *systems, struct error *why)
{
    const struct search *failed = NULL;
    for (uint32_t i = 0; i < systems->count; i++) {
        const struct search *search = &systems->searches[i];
        if (ran_at_all(search)) {
            return true;
        }
        failed = failed == NULL && search->grid.tried > 0 ? search : failed;
    }
    struct scenario scenario;
    struct point point;
    uint32_t first = 0;
    while (failed != NULL && !grid_tried(&failed->grid, first)) {
        first++;
    }
    if (failed == NULL) {
        return true;
    }
    bool good = search_scenario(failed, systems->maximise, first, &scenario, why) &&
                scenario_point(&scenario, 0, &point, why);
    if (good) {
        point_release(&point);
    }
    scenario_release(&scenario);
    return good;
}

/* ---- all of it ---- */

static bool run_systems(const struct scenario *scenario, const struct advice_options *options,
                        struct advice *out, bool *interrupted, struct error *why)
{
    struct scenario laid;
    bool good = scenario_copy(scenario, &laid, why) &&
                (options->gpus == 0 || advice_set_form(&laid, &out->form, why)) &&
                advice_set_count(&laid, out->trials[out->plain].planning.requests, why) &&
                advice_search(&laid, options, options->candidates.systems, &out->systems,
                              interrupted, why) &&
                (*interrupted || check_ran(&out->systems, why));
    scenario_release(&laid);
    return good;
}

static bool advice_run_all(const struct scenario *scenario, const struct advice_options *options,
                           struct advice *out, bool *interrupted, struct error *why)
{
    *out = (struct advice){.serves = scenario_serves(scenario), .best = PLANNING_NONE};
    *interrupted = false;
    struct advice_options with = *options;
    if (!advice_add_targets(out->serves, &with.targets, why)) {
        return false;
    }
    out->targets = with.targets;
    bool good = options->gpus > 0 ? try_forms(scenario, &with, out, interrupted, why)
                                  : try_form(scenario, &with, 0, out, interrupted, why);
    if (!good || *interrupted) {
        return good;
    }
    out->plain = choose_form(out);
    out->form = out->trials[out->plain].form;
    good = run_systems(scenario, &with, out, interrupted, why);
    out->best = good ? advice_choose(out) : PLANNING_NONE;
    if (!good || *interrupted) {
        return good;
    }
    out->systems.winner = out->best != PLANNING_NONE ? out->best : out->systems.winner;
    good = advice_host_find(&with, out, interrupted, why);
    return good && !*interrupted ? advice_try_changes(scenario, &with, out, interrupted, why)
                                 : good;
}

/* Plain vLLM is searched alone and among the systems: a store answers the same run once. */
bool advice_run(const struct scenario *scenario, const struct advice_options *options,
                struct advice *out, bool *interrupted, struct error *why)
{
    struct advice_options with = *options;
    struct store *own = NULL;
    if (options->store == NULL && (own = store_open_memory(why)) == NULL) {
        *out = (struct advice){.best = PLANNING_NONE};
        return false;
    }
    with.store = own != NULL ? own : options->store;
    bool good = advice_run_all(scenario, &with, out, interrupted, why);
    store_close(own);
    return good;
}

void advice_release(struct advice *advice)
{
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        advice_trial_release(&advice->trials[i]);
    }
    planning_release(&advice->systems);
    advice_host_release(&advice->host);
    *advice = (struct advice){.best = PLANNING_NONE};
}

/* ---- what was found ---- */

const struct search *advice_trial_search(const struct advice_trial *trial)
{
    return &trial->planning.searches[0];
}

const struct search *advice_plain(const struct advice *advice)
{
    return advice_trial_search(&advice->trials[advice->plain]);
}

const struct result *advice_result(const struct search *search)
{
    return search->found == PLANNING_NONE || search->grid.count == 0
               ? NULL
               : &search->results[search->found];
}

double advice_rate(const struct advice *advice, const struct search *search,
                   const struct advice_form *form)
{
    const struct result *result = advice_result(search);
    double servers = advice->serves ? 1 : form->servers; /* with requests the result is of all */
    return result == NULL ? NAN : servers * result_number(result, COLUMN(decode_tokens_per_s));
}

bool advice_is_idle(const struct search *search)
{
    const struct grid *grid = &search->grid;
    double lowest = grid->load ? grid->violation[grid->count - 1] : NAN;
    return search->nearest != PLANNING_NONE &&
           lowest <= grid->violation[search->nearest] + GRID_EQUAL;
}

bool advice_ties(const struct search *a, const struct search *b)
{
    return result_tie(advice_result(a), advice_result(b), COLUMN(decode_tokens_per_s)) != TIE_NONE;
}

bool advice_starts(const struct search *search)
{
    const struct system_traits *traits = &search->candidate->traits;
    bool engine =
        strcmp(traits->available, "vllm") == 0 || strcmp(traits->available, "sglang") == 0;
    return engine && !traits->reference && !traits->lacks_indexer;
}

bool advice_on_paper(const struct search *search)
{
    return strcmp(search->candidate->traits.available, "paper") == 0;
}

const struct search *advice_best(const struct advice *advice,
                                 bool (*admits)(const struct search *search))
{
    const struct search *best = NULL;
    double most = -INFINITY;
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        double rate = advice_rate(advice, search, &advice->form);
        if (admits(search) && rate > most) {
            best = search;
            most = rate;
        }
    }
    return best;
}
