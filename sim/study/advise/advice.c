#include "study/advise/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/node.h"
#include "decode/draft/drafts.h"
#include "model/model.h"
#include "model/parallel.h"
#include "predict/result/tie.h"
#include "server/requests/synthetic.h"
#include "study/advise/advice_host.h"
#include "study/plan/load.h"
#include "study/plan/planning.h"

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

bool advice_add_targets(bool serves, struct targets *targets, struct error *why)
{
    return !serves || (targets_add_unjudged("queue_grows<=0", targets, why) &&
                       targets_add_unjudged("requests_left_out<=0", targets, why));
}

bool advice_set_number(struct scenario *scenario, const char *key, double number, struct error *why)
{
    char text[32];
    snprintf(text, sizeof text, "%.12g", number);
    return node_set(scenario->root, key, text, why);
}

bool advice_set_form(struct scenario *scenario, const struct advice_form *form, struct error *why)
{
    return advice_set_number(scenario, "tensor_parallel", form->gpus, why) &&
           (!scenario_serves(scenario) || form->servers == 1 ||
            advice_set_number(scenario, "replicas", form->servers, why));
}

/* ---- requests ---- */

/* Each try of a rate serves all requests: as little work as a search takes. */
enum { A_ROUND = 2 };
/* Rates are found to a tenth: values of the axis are 2.5 % apart. */
enum { CLOSE = 4 };

bool advice_is_unshared(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    return workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
           !synthetic_says(workload->text, "prefix") && !synthetic_says(workload->text, "turns");
}

bool advice_set_count(struct scenario *scenario, uint64_t requests, struct error *why)
{
    bool made = node_stated(scenario->root, "workload") != NULL && lengthen_may(scenario);
    return !made || lengthen_set(scenario, requests > 0 ? requests : SYNTHETIC_REQUESTS, why);
}

/* ---- searches ---- */

bool advice_search(const struct scenario *scenario, const struct advice_options *options,
                   const char *systems, struct planning *out, bool *interrupted, struct error *why)
{
    bool serves = scenario_serves(scenario);
    bool any = systems == NULL && node_stated(scenario->root, "system") == NULL;
    struct planning_options with = {.targets = options->targets,
                                    .candidates = options->candidates,
                                    .axis = serves ? "rate" : "batch",
                                    .maximise = serves,
                                    .by_figure = !serves,
                                    .best = COLUMN(decode_tokens_per_s),
                                    .tries = serves ? A_ROUND : 0,
                                    .close = CLOSE,
                                    .store = options->store,
                                    .jobs = options->jobs,
                                    .runs = options->runs,
                                    .on_progress = options->on_progress,
                                    .on_decided = options->on_decided,
                                    .context = options->context};
    with.candidates.systems = systems;
    with.candidates.engines = serves && any;
    with.candidates.unshared = any && advice_is_unshared(scenario);
    return serves ? planning_run_long(scenario, &with, out, interrupted, why)
                  : planning_run(scenario, &with, out, interrupted, why);
}

static uint64_t advice_search_context_of(const struct scenario *scenario)
{
    struct point point;
    struct error unseen;
    if (scenario_serves(scenario) || !scenario_point(scenario, 0, &point, &unseen)) {
        return 0;
    }
    uint64_t context = point.setup.context;
    point_release(&point);
    return context;
}

bool advice_try(const struct scenario *scenario, const struct advice_options *options,
                struct advice_trial *out, bool *interrupted, struct error *why)
{
    bool good = advice_search(scenario, options, ADVICE_PLAIN, &out->planning, interrupted, why);
    if (good) {
        out->context = advice_search_context_of(&out->planning.candidates[0].scenario);
    }
    return good;
}

/* What one could do instead of offloading, tried with plain vLLM. */

/* GPUs of a machine that states no number, as servers come; and the least useful context. */
enum { MOST_GPUS = 8, LEAST_CONTEXT = 1024 };

/* What the scenario is before the change. */
struct before {
    enum dtype weights, kv;
    uint64_t context; /* 0: of requests, or of several contexts */
    struct advice_form form;
    uint32_t tensor_parallel, most_gpus; /* of a server */
    uint64_t requests;                   /* of plain vLLM's search; 0: as stated */
    char drafts[96]; /* for the model, by published lengths; "": none, or the scenario drafts */
};

static bool read_before(const struct advice *advice, struct before *out, struct error *why)
{
    struct point point;
    const struct candidate *plain = advice_plain(advice)->candidate;
    if (!scenario_point(&plain->scenario, 0, &point, why)) {
        return false;
    }
    const struct setup *setup = &point.setup;
    uint64_t there = setup->profile.gpus > 0 ? setup->profile.gpus : MOST_GPUS;
    bool one = setup_cohort_count(setup) == 1 && !advice->serves &&
               node_stated(plain->scenario.root, "context") != NULL;
    *out = (struct before){.weights = setup->model.weights,
                           .kv = setup->model.kv,
                           .context = one ? setup->context : 0,
                           .form = advice->form,
                           .tensor_parallel = setup->model.tensor_parallel,
                           .most_gpus = (uint32_t)(there < MOST_GPUS ? there : MOST_GPUS),
                           .requests = advice->trials[advice->plain].planning.requests};
    if (setup->drafts.count > 0 ||
        !draft_lengths_usual(setup->model.name, out->drafts, sizeof out->drafts)) {
        out->drafts[0] = '\0';
    }
    point_release(&point);
    return true;
}

/* A key of the scenario and its changed value. */
struct laid {
    const char *key;
    char value[96];
    struct advice_form form;
};

/* Apply a change `times` times. Returns false if there is no room for it. */
static bool choose_value(enum advice_change change, const struct before *before, uint32_t times,
                         struct laid *out)
{
    uint64_t context = before->context >> times;
    uint64_t gpus = (uint64_t)before->form.gpus << times;
    out->form = before->form;
    switch (change) {
    case ADVICE_FP8_KV:
    case ADVICE_FP8_WEIGHTS:
        out->key = change == ADVICE_FP8_KV ? "dtype.kv" : "dtype.weights";
        snprintf(out->value, sizeof out->value, "fp8");
        return times == 1 && (change == ADVICE_FP8_KV ? before->kv : before->weights) == DTYPE_BF16;
    case ADVICE_MORE_GPUS:
        out->form.gpus = (uint32_t)gpus;
        out->key = "tensor_parallel";
        snprintf(out->value, sizeof out->value, "%" PRIu64,
                 (uint64_t)before->tensor_parallel << times);
        return gpus <= before->most_gpus;
    case ADVICE_SHORTER:
        out->key = "context";
        snprintf(out->value, sizeof out->value, "%" PRIu64, context);
        return context >= LEAST_CONTEXT;
    case ADVICE_DRAFTS:
        out->key = "drafts";
        snprintf(out->value, sizeof out->value, "%s", before->drafts);
        return times == 1 && before->drafts[0] != '\0';
    default:
        return false;
    }
}

/* Lay the form, then the change. */
static bool lay_change(const struct scenario *scenario, const struct advice_options *options,
                       const struct before *before, const struct laid *change, struct scenario *out,
                       struct error *why)
{
    return scenario_copy(scenario, out, why) &&
           (options->gpus == 0 || advice_set_form(out, &before->form, why)) &&
           advice_set_count(out, before->requests, why) &&
           node_set(out->root, change->key, change->value, why);
}

/* Fill `trial`, which is empty. False if the change cannot be: then it stays empty. */
static bool try_once(const struct scenario *scenario, const struct advice_options *options,
                     const struct before *before, const struct laid *change,
                     struct advice_trial *trial, bool *interrupted)
{
    struct scenario laid;
    struct error refused;
    trial->form = change->form;
    bool good = lay_change(scenario, options, before, change, &laid, &refused) &&
                advice_try(&laid, options, trial, interrupted, &refused);
    if (!good) {
        advice_trial_release(trial);
        *interrupted = *interrupted || !stop_flag_check(options->runs->stop, &refused);
    }
    scenario_release(&laid);
    return good;
}

/* Do drafts win by more than what published rates with drafts were off? */
static bool drafts_win(const struct advice *advice, const struct advice_trial *trial)
{
    struct point point;
    struct error unseen;
    const struct search *search = advice_trial_search(trial), *plain = advice_plain(advice);
    if (advice_result(search) == NULL || advice_result(plain) == NULL ||
        advice_ties(search, plain) ||
        !scenario_point(&search->candidate->scenario, 0, &point, &unseen)) {
        return false;
    }
    const struct error_band *missed = &point.bands[BAND_LOW].missed;
    double off = missed->rows > 0 ? missed->factor : 1;
    point_release(&point);
    return advice_rate(advice, search, &trial->form) >
           off * advice_rate(advice, plain, &advice->form);
}

/* Drafts that win by no more are not mentioned. */
static void drop_drafts(struct advice *advice)
{
    uint32_t last = advice->trial_count - 1;
    struct advice_trial *trial = &advice->trials[last];
    if (trial->change == ADVICE_DRAFTS && !drafts_win(advice, trial)) {
        advice_trial_release(trial);
        advice->trial_count = last;
    }
}

/* Try a change until something fits, or once if something fits without it. */
static void try_change(const struct scenario *scenario, const struct advice_options *options,
                       const struct before *before, enum advice_change change, struct advice *out,
                       bool *interrupted)
{
    struct advice_trial *trial = &out->trials[out->trial_count];
    uint32_t most = advice_result(advice_plain(out)) != NULL ? 1 : UINT32_MAX;
    struct laid laid;
    bool tried = false, more = true;
    for (uint32_t times = 1; more && times <= most && !*interrupted; times++) {
        more = choose_value(change, before, times, &laid);
        if (more) {
            advice_trial_release(trial);
            tried = try_once(scenario, options, before, &laid, trial, interrupted);
            more = tried && advice_result(advice_trial_search(trial)) == NULL;
        }
    }
    trial->change = change;
    out->trial_count += tried;
    drop_drafts(out);
}

bool advice_try_changes(const struct scenario *scenario, const struct advice_options *options,
                        struct advice *out, bool *interrupted, struct error *why)
{
    struct before before;
    bool good = read_before(out, &before, why);
    bool fits = advice_result(advice_plain(out)) != NULL;
    for (int i = ADVICE_FP8_KV; good && !*interrupted && i < ADVICE_CHANGES; i++) {
        enum advice_change change = (enum advice_change)i;
        bool enough = fits && out->serves && options->gpus > 0; /* as many GPUs as one has */
        bool idle = (change == ADVICE_FP8_WEIGHTS && fits) || (change == ADVICE_DRAFTS && !fits) ||
                    (change == ADVICE_MORE_GPUS && enough);
        if (!idle) {
            try_change(scenario, options, &before, change, out, interrupted);
        }
    }
    return good;
}
