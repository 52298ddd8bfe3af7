#include "study/advise/advice.h"

#include "core/named.h"
#include "core/node.h"
#include "decode/draft/drafts.h"
#include "model/sharding.h"
#include "server/requests/synthetic.h"

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
                node_set(plain.root, "system", PLAIN_SYSTEM, why) &&
                scenario_point(&plain, 0, out, why);
    scenario_release(&plain);
    return good;
}

bool advice_states_context(const struct scenario *scenario)
{
    return scenario_states(scenario, "context") || scenario_states(scenario, "contexts") ||
           scenario_states(scenario, "prompt");
}

bool advice_set_context(struct scenario *scenario, struct error *why)
{
    struct point point;
    if (scenario_serves(scenario) || advice_states_context(scenario)) {
        return true;
    }
    if (!scenario_values_set(&scenario->values, "context", USUAL_CONTEXT, why) ||
        !resolve_plain(scenario, &point, why)) {
        return false;
    }
    uint64_t trained = point.setup.model.trained_context;
    point_release(&point);
    return trained == 0 || trained >= USUAL_CONTEXT ||
           scenario_values_set(&scenario->values, "context", (double)trained, why);
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
    scenario_values_remove(&scenario->values, "context");
    node_remove(scenario->root, "contexts");
    snprintf(text, sizeof text, "\"synthetic:prompt=%" PRIu64 ",output=%d\"",
             context - ADVICE_OUTPUT, ADVICE_OUTPUT);
    return node_set(scenario->root, "workload", text, why);
}

/* ---- one search: the best batch of each system, or with requests the highest rate ---- */

bool advice_is_unshared(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    return workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
           !synthetic_says(workload->text, "prefix") && !synthetic_says(workload->text, "turns");
}

bool advice_int4_variant(const struct scenario *scenario, char *variant, char *id)
{
    const struct node *model = node_get(scenario->root, "model");
    char name[NAMED_SIZE], canonical[NAMED_SIZE];
    return model != NULL && model->kind == NODE_SCALAR &&
           named_canonical(&named_model, model->text, canonical) &&
           snprintf(name, sizeof name, "%.200s-awq", canonical) > 0 &&
           named_canonical(&named_model, name, variant) &&
           named_id_of(&named_model, variant, model->typed != NULL ? model->typed : canonical, id);
}

enum routing advice_routing(const struct scenario *scenario)
{
    struct point point;
    struct error unseen;
    enum routing routing = ROUTINGS;
    if (!scenario_serves(scenario) || scenario_states(scenario, "routing") ||
        !resolve_plain(scenario, &point, &unseen)) {
        return routing;
    }
    if (point.workload.timed && point_servers(&point) == 1) {
        bool knows = point.requests->chunk_tokens > 0 && !advice_is_unshared(scenario) &&
                     mechanisms_keep_prefixes(point.setup.mechanisms);
        routing = knows ? ADVICE_ROUTER : ROUTE_LEAST_REQUESTS;
    }
    point_release(&point);
    return routing;
}

/* Does the scenario say how GPUs share the model, but for how many split a layer? */
static bool says_shares(const struct scenario *scenario)
{
    static const char *const shares[] = {"data_parallel", "expert_parallel", "pipeline_parallel",
                                         "decode_context_parallel"};
    bool says = false;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        says |= scenario_states(scenario, shares[i]);
    }
    return says;
}

uint32_t advice_most_ranks(const struct scenario *scenario)
{
    struct point point;
    struct error unseen;
    if (says_shares(scenario) || !resolve_plain(scenario, &point, &unseen)) {
        return 0;
    }
    uint64_t most = model_is_routed(&point.setup.model) ? point_machine_gpus(&point) : 0;
    point_release(&point);
    return (uint32_t)most;
}

static bool plain_refuses_experts(const struct scenario *scenario)
{
    struct point point;
    struct error unseen;
    if (!resolve_plain(scenario, &point, &unseen)) {
        return false;
    }
    bool refuses = point.setup.engine.refuses != NULL && model_is_routed(&point.setup.model);
    point_release(&point);
    return refuses;
}

bool advice_keep_experts_whole(struct scenario *scenario, struct error *why)
{
    double gpus = scenario_stated(&scenario->values, "tensor_parallel", 1);
    if (gpus <= 1 || says_shares(scenario) || !plain_refuses_experts(scenario)) {
        return true;
    }
    if (!scenario_values_set(&scenario->values, "expert_parallel", gpus, why)) {
        return false;
    }
    if (plain_refuses_experts(scenario)) { /* for another reason */
        scenario_values_remove(&scenario->values, "expert_parallel");
    }
    return true;
}

bool advice_set_ranks(struct scenario *scenario, uint32_t ranks, struct error *why)
{
    struct scenario_values *values = &scenario->values;
    return scenario_values_set(values, "tensor_parallel", 1, why) &&
           scenario_values_set(values, "data_parallel", ranks, why) &&
           scenario_values_set(values, "expert_parallel", ranks, why);
}

bool advice_set_servers(struct scenario *scenario, uint32_t servers, enum routing routing,
                        struct error *why)
{
    struct scenario_values *values = &scenario->values;
    bool routed = servers > 1 && routing != ROUTINGS;
    return (servers == 1 || scenario_values_set(values, "replicas", servers, why)) &&
           (!routed || scenario_values_set(values, "routing", routing, why)) &&
           (!routed || routing != ADVICE_ROUTER ||
            scenario_values_set(values, "balance_abs_threshold", ADVICE_BALANCE, why));
}

/* What is asked of a search beside the scenario. */
struct advice_asked {
    struct advice_form form;
    double guess;                 /* the highest rate, probably; 0: unknown */
    const char *systems;          /* NULL: the scenario's; if it names none, all */
    const char *key, *value;      /* one key of the scenario; NULL: none */
    const struct advice *chooses; /* among what is found; NULL: nothing is advised */
};

/* The scenario as it is asked for. The caller releases `out`, on failure too. */
static bool advice_set(const struct scenario *scenario, const struct advice_options *options,
                       const struct advice_asked *asked, struct scenario *out, struct error *why)
{
    const struct advice_form *form = &asked->form;
    bool formed = options->gpus > 0;
    bool several = scenario_serves(scenario) && form->servers > 1;
    return scenario_copy(scenario, out, why) &&
           (!formed || form->ranks > 0 ||
            scenario_values_set(&out->values, "tensor_parallel", form->tensor_parallel, why)) &&
           (form->ranks == 0 || advice_set_ranks(out, form->ranks, why)) &&
           (!several || advice_set_servers(out, form->servers, form->routing, why)) &&
           (asked->key == NULL || node_set(out->root, asked->key, asked->value, why)) &&
           advice_keep_experts_whole(out, why);
}

/* The best of what one can start; of those too close to call to it, the simplest. */
static uint32_t advice_choose(const void *context)
{
    const struct advice *advice = context;
    const struct search *best = advice_best(advice, advice_starts);
    return best != NULL ? winner_simplest(&advice->systems, best, advice_starts) : PLANNING_NONE;
}

/* With requests only engines' systems are searched unless the scenario names one. A batch has none. */
static bool advice_search(const struct scenario *scenario, const struct advice_options *options,
                          const struct advice_asked *asked, struct planning *out, struct error *why)
{
    bool serves = scenario_serves(scenario);
    bool any = asked->systems == NULL && !scenario_states(scenario, "system");
    struct planning_options with = {.targets = options->targets,
                                    .candidates = options->candidates,
                                    .axis = serves ? "rate" : "batch",
                                    .maximise = serves,
                                    .best = serves ? NULL : COLUMN(decode_tokens_per_s),
                                    .guess = asked->guess,
                                    .rough = true,
                                    .choose = asked->chooses != NULL ? advice_choose : NULL,
                                    .context = asked->chooses,
                                    .study = options->study};
    struct scenario as;
    with.candidates.systems = asked->systems;
    with.candidates.engines = serves && any;
    with.candidates.unshared = any && (!serves || advice_is_unshared(scenario));
    bool good =
        advice_set(scenario, options, asked, &as, why) && planning_run(&as, &with, out, why);
    scenario_release(&as);
    return good;
}

/* ---- plain vLLM in each form ---- */

static void trial_release(struct advice_trial *trial)
{
    planning_release(&trial->planning);
    *trial = (struct advice_trial){.change = ADVICE_NO_CHANGE};
}

/* Search plain vLLM as it is asked for. After a failure `out` is to be released, too. */
static bool try_plain(const struct scenario *scenario, const struct advice_options *options,
                      struct advice_asked asked, struct advice_trial *out, struct error *why)
{
    struct point point;
    struct error unseen;
    asked.systems = PLAIN_SYSTEM;
    out->form = asked.form;
    if (!advice_search(scenario, options, &asked, &out->planning, why)) {
        return false;
    }
    const struct scenario *tried = &out->planning.candidates[0].scenario;
    if (!scenario_serves(tried) && scenario_point(tried, 0, &point, &unseen)) {
        out->context = point.setup.context;
        point_release(&point);
    }
    return true;
}

/* GPUs of a server of the scenario, of all ranks and stages; 1 of one that cannot be. Returns ranks
 * times stages: each has as many GPUs. */
static uint32_t read_gpus(const struct scenario *scenario, uint32_t *gpus)
{
    struct point point;
    struct error unseen;
    *gpus = 1;
    if (!resolve_plain(scenario, &point, &unseen)) {
        return 1;
    }
    *gpus = model_gpus(&point.setup.model);
    uint32_t passes = model_passes(&point.setup.model);
    point_release(&point);
    return passes;
}

/* The largest power of two below a number; 0: none. */
static uint32_t power_below(uint32_t number)
{
    uint32_t power = 1;
    while (2 * power < number) {
        power *= 2;
    }
    return number > 1 ? power : 0;
}

/* A form that cannot be is left out; the `first` of them says why. Fails if it is interrupted. */
static bool try_form(const struct scenario *scenario, const struct advice_options *options,
                     const struct advice_form *form, struct advice *out, struct error *first,
                     struct error *why)
{
    struct error refused;
    struct advice_trial *trial = &out->trials[out->trial_count++];
    if (!try_plain(scenario, options, (struct advice_asked){.form = *form}, trial, &refused)) {
        trial_release(trial);
        out->trial_count--;
        *first = first->found[0] == '\0' ? refused : *first;
        return stop_flag_check(options->study.runs->stop, why);
    }
    return true;
}

/* One server of all GPUs, then servers of a power of two, as heads are seldom divided by another number: some
 * GPUs may be left idle. Each of a model of experts also as ranks that share them. Without GPUs stated, the
 * scenario's own form. */
static bool try_forms(const struct scenario *scenario, const struct advice_options *options,
                      struct advice *out, struct error *why)
{
    struct error first = {.line = 0};
    uint32_t own, passes = read_gpus(scenario, &own);
    uint32_t all = options->gpus > 0 ? options->gpus : own;
    uint32_t split = all % passes == 0 ? all / passes : 0; /* that split a layer */
    uint32_t most_ranks = options->gpus > 0 ? advice_most_ranks(scenario) : 0;
    enum routing routing = advice_routing(scenario);
    bool good = true;
    out->gpus = all;
    for (; good && split > 0; split = options->gpus > 0 ? power_below(split) : 0) {
        uint32_t gpus = split * passes;
        struct advice_form form = {all / gpus, gpus, split, 0, routing};
        good = try_form(scenario, options, &form, out, &first, why);
        form.ranks = gpus;
        form.tensor_parallel = 1;
        good = good && (gpus == 1 || gpus > most_ranks ||
                        try_form(scenario, options, &form, out, &first, why));
    }
    if (!good) {
        return false;
    }
    if (out->trial_count == 0 && all % passes != 0) {
        error_usage(why, "--gpus", 0, "%u GPUs are not divided among %u ranks and stages", all,
                    passes);
        return error_expect(why, "a multiple of %u", passes);
    }
    if (out->trial_count == 0) {
        *why = first;
    }
    return out->trial_count > 0;
}

/* How many times as much as its prediction a form may make: by its error, if that is known. */
static double most_of(const struct result *result)
{
    double least, most, value = result_number(result, COLUMN(decode_tokens_per_s));
    bool known = band_ends(result, COLUMN(decode_tokens_per_s), &least, &most);
    return fmax(known ? most / value : 1, 1 + TIE_PERCENT / 100.0);
}

/* The form with the highest rate; of those too close to call the one with the fewest servers. The error of ranks
 * that share experts is another than that of GPUs that split layers: they are chosen if theirs does not reach. */
static uint32_t choose_form(const struct advice *advice)
{
    uint32_t best[2] = {PLANNING_NONE, PLANNING_NONE}; /* without and with ranks */
    double rates[2] = {NAN, NAN};
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        const struct advice_trial *form = &advice->trials[i];
        double rate = advice_rate(advice, advice_trial_search(form), &form->form);
        int kind = form->form.ranks > 0;
        if (best[kind] == PLANNING_NONE || rate > rates[kind] * (1 + TIE_PERCENT / 100.0) ||
            (isnan(rates[kind]) && !isnan(rate))) {
            best[kind] = i;
            rates[kind] = rate;
        }
    }
    const struct result *without =
        best[0] != PLANNING_NONE ? advice_result(advice_trial_search(&advice->trials[best[0]]))
                                 : NULL;
    bool ranks = best[0] == PLANNING_NONE || (without == NULL && !isnan(rates[1])) ||
                 (without != NULL && rates[1] > rates[0] * most_of(without));
    return best[ranks];
}

/* The highest rate of plain vLLM; 0: none. */
static double found_rate(const struct advice *advice)
{
    const struct search *plain = advice_plain(advice);
    return advice->serves && advice_result(plain) != NULL
               ? search_value(plain, plain->found)->number
               : 0;
}

/* The chosen form behind a router that knows no prompts: it is chosen if it holds as much. As another form
 * that cannot be, it is left out if its search fails. */
static bool try_in_turn(const struct scenario *scenario, const struct advice_options *options,
                        struct advice *out, struct error *why)
{
    struct advice_asked asked = {.form = out->trials[out->plain].form, .guess = found_rate(out)};
    struct advice_trial *trial = &out->trials[out->trial_count];
    if (asked.form.servers == 1 || asked.form.routing == ROUTINGS) {
        return true;
    }
    asked.form.routing = ROUTE_ROUND_ROBIN;
    struct error refused;
    if (!try_plain(scenario, options, asked, trial, &refused)) {
        trial_release(trial);
        return stop_flag_check(options->study.runs->stop, why);
    }
    double rate = advice_rate(out, advice_trial_search(trial), &trial->form);
    double before = advice_rate(out, advice_plain(out), &trial->form);
    out->plain = rate * (1 + TIE_PERCENT / 100.0) >= before ? out->trial_count : out->plain;
    out->trial_count++;
    return true;
}

/* Where every run of every system failed, there is no answer. That nothing fits is one. */
static bool check_ran(const struct planning *systems, struct error *why)
{
    struct sweep_failures failures = {.points = 0};
    for (uint32_t i = 0; i < systems->count; i++) {
        const struct search *search = &systems->searches[i];
        for (uint32_t j = 0; j < search->grid.count; j++) {
            if (grid_tried(&search->grid, j)) {
                sweep_count(&failures, &search->results[j]);
            }
        }
    }
    if (failures.failed == 0 || failures.failed < failures.points) {
        return true;
    }
    *why = failures.first;
    return false;
}

/* ---- what one could do instead of offloading, tried with plain vLLM ---- */

/* GPUs of a machine that states no number, as servers come; machines that a model may take which fits none;
 * the least useful context; and the most of a GPU's memory that people let an engine have, in percent. */
enum { MOST_GPUS = 8, MOST_MACHINES = 4, LEAST_CONTEXT = 1024, MOST_USABLE = 95 };

/* What the scenario is before the change. */
struct before {
    enum dtype weights, kv;
    uint64_t context; /* 0: of requests, or of several contexts */
    uint32_t gpus;    /* that there are */
    struct advice_form form;
    bool fits;                                       /* plain vLLM */
    uint32_t tensor_parallel, most_gpus, most_ranks; /* of a server */
    double usable;                                   /* share of the GPU's memory */
    char drafts[96]; /* for the model, by published lengths; "": none, or the scenario drafts */
    char int4[NAMED_SIZE]; /* the model's checkpoint in 4 bits; "": none is known */
};

static bool read_before(const struct scenario *scenario, const struct advice *advice,
                        struct before *out, struct error *why)
{
    struct point point;
    const struct candidate *plain = advice_plain(advice)->candidate;
    if (!scenario_point(&plain->scenario, 0, &point, why)) {
        return false;
    }
    const struct setup *setup = &point.setup;
    uint64_t there = setup->profile.gpus > 0 ? setup->profile.gpus : MOST_GPUS;
    bool has_room = advice_plain(advice)->nearest != PLANNING_NONE;
    uint32_t one_machine = (uint32_t)(there < MOST_GPUS ? there : MOST_GPUS);
    bool one = setup_cohort_count(setup) == 1 && !advice->serves &&
               scenario_states(&plain->scenario, "context");
    *out = (struct before){.weights = setup->model.weights,
                           .kv = setup->model.kv,
                           .context = one ? setup->context : 0,
                           .gpus = advice->gpus,
                           .form = advice->form,
                           .fits = advice_result(advice_plain(advice)) != NULL,
                           .tensor_parallel = setup->model.tensor_parallel,
                           .usable = has_room ? 1 : setup->hbm_usable,
                           .most_gpus = has_room ? one_machine : MOST_MACHINES * one_machine,
                           .most_ranks = advice_most_ranks(scenario)};
    if (setup->drafts.count > 0 ||
        !draft_lengths_usual(setup->model.name, out->drafts, sizeof out->drafts)) {
        out->drafts[0] = '\0';
    }
    char id[NAMED_SIZE];
    out->int4[0] = advice_int4_variant(&plain->scenario, out->int4, id) ? out->int4[0] : '\0';
    point_release(&point);
    return true;
}

/* Apply a change `times` times: its key (NULL: none), its value and the form. Returns false if there is no room
 * for it. */
static bool choose_value(enum advice_change change, const struct before *before, uint32_t times,
                         const char **key, char value[NAMED_SIZE], struct advice_form *form)
{
    uint64_t context = before->context >> times, gpus = 1;
    /* One that fits is looked for where none does. */
    uint32_t servers = before->fits ? before->form.servers : 1;
    while (servers * gpus <= before->gpus) {
        gpus *= 2; /* heads are seldom divided by other numbers */
    }
    gpus <<= times - 1;
    *form = before->form;
    switch (change) {
    case ADVICE_FP8_KV:
    case ADVICE_FP8_WEIGHTS:
        *key = change == ADVICE_FP8_KV ? "dtype.kv" : "dtype.weights";
        snprintf(value, NAMED_SIZE, "fp8");
        return times == 1 && (change == ADVICE_FP8_KV ? before->kv : before->weights) == DTYPE_BF16;
    case ADVICE_MORE_GPUS:
        *key = form->ranks > 0 ? NULL : "tensor_parallel";
        form->ranks = form->ranks > 0 ? (uint32_t)gpus : 0;
        form->gpus = (uint32_t)gpus;
        form->servers = servers;
        snprintf(value, NAMED_SIZE, "%" PRIu64, before->tensor_parallel * gpus / before->form.gpus);
        return gpus <= before->most_gpus && before->tensor_parallel * gpus % before->form.gpus == 0;
    case ADVICE_MORE_RANKS:
        *key = NULL;
        form->gpus = form->ranks = (uint32_t)gpus;
        form->servers = servers;
        return gpus <= before->most_ranks && before->form.ranks == 0;
    case ADVICE_MORE_SERVERS:
        *key = NULL;
        form->servers = (uint32_t)(servers * gpus / before->form.gpus);
        return times == 1 && servers * gpus % before->form.gpus == 0;
    case ADVICE_SHORTER:
        *key = "context";
        snprintf(value, NAMED_SIZE, "%" PRIu64, context);
        return context >= LEAST_CONTEXT;
    case ADVICE_USABLE:
        *key = "hbm_usable";
        snprintf(value, NAMED_SIZE, "%d%%", MOST_USABLE);
        return times == 1 && before->usable < MOST_USABLE / 100.0;
    case ADVICE_INT4_WEIGHTS:
        *key = "model";
        snprintf(value, NAMED_SIZE, "%s", before->int4);
        return times == 1 && before->int4[0] != '\0';
    default: /* ADVICE_DRAFTS */
        *key = "drafts";
        snprintf(value, NAMED_SIZE, "%s", before->drafts);
        return times == 1 && before->drafts[0] != '\0';
    }
}

/* Do drafts win by more than what published rates with drafts were off? */
static bool drafts_win(const struct advice *advice, const struct advice_trial *trial)
{
    struct point point;
    struct error unseen;
    const struct search *search = advice_trial_search(trial), *plain = advice_plain(advice);
    if (advice_result(search) == NULL || advice_result(plain) == NULL ||
        searches_tie(search, plain) != TIE_NONE ||
        !scenario_point(&search->candidate->scenario, 0, &point, &unseen)) {
        return false;
    }
    const struct error_band *band = &point.bands[BAND_LOW].figure[BAND_RATE];
    double off = band->figures > 0 ? 1 / band->least : 1;
    point_release(&point);
    return advice_rate(advice, search, &trial->form) >
           off * advice_rate(advice, plain, &advice->form);
}

static bool adds_gpus(enum advice_change change)
{
    return change == ADVICE_MORE_GPUS || change == ADVICE_MORE_RANKS ||
           change == ADVICE_MORE_SERVERS;
}

/* Does a trial make more than another, which it may replace? By more than the other's error, if only it has ranks. */
static bool makes_more(const struct advice *advice, const struct advice_trial *trial,
                       const struct advice_trial *other)
{
    const struct search *search = advice_trial_search(trial), *before = advice_trial_search(other);
    bool ranks = trial->form.ranks > other->form.ranks && advice_result(before) != NULL;
    double least = ranks ? most_of(advice_result(before)) : 1 + TIE_PERCENT / 100.0;
    double rate = advice_rate(advice, before, &other->form);
    return isnan(rate) || advice_rate(advice, search, &trial->form) > rate * least;
}

/* As many GPUs more in another way: the last trial takes the place of the one before, or is left out. */
static void drop_worse(struct advice *advice)
{
    struct advice_trial *last = &advice->trials[advice->trial_count - 1], *first = last - 1;
    struct advice_trial worse = *last;
    bool fewer_ranks = last->form.ranks < first->form.ranks;
    if (adds_gpus(first->change)) {
        if (fewer_ranks ? !makes_more(advice, first, last) : makes_more(advice, last, first)) {
            worse = *first;
            *first = *last;
        }
        trial_release(&worse);
        *last = (struct advice_trial){.change = ADVICE_NO_CHANGE};
        advice->trial_count--;
    }
}

/* Try a change until something fits, or once if it fits without. Drafts that win no more are left out. */
static bool try_change(const struct scenario *scenario, const struct advice_options *options,
                       const struct before *before, enum advice_change change, struct advice *out,
                       struct error *why)
{
    struct advice_trial *trial = &out->trials[out->trial_count];
    uint32_t most = advice_result(advice_plain(out)) != NULL ? 1 : UINT32_MAX;
    struct advice_asked asked = {.guess = (adds_gpus(change) ? 2 : 1) * found_rate(out)};
    struct advice_form form;
    char value[NAMED_SIZE];
    bool tried = false, more = true;
    asked.value = value;
    for (uint32_t times = 1;
         times <= most && more && choose_value(change, before, times, &asked.key, value, &form);
         times++) {
        struct error refused;
        asked.form = before->form;
        asked.form.servers = form.servers;
        asked.form.ranks = form.ranks;
        trial_release(trial);
        tried = try_plain(scenario, options, asked, trial, &refused);
        trial->form = form;
        if (!tried) {
            trial_release(trial);
        }
        more = tried && advice_result(advice_trial_search(trial)) == NULL;
    }
    trial->change = change;
    if (tried && change == ADVICE_DRAFTS && !drafts_win(out, trial)) {
        trial_release(trial);
        tried = false;
    }
    out->trial_count += tried;
    if (tried && adds_gpus(change)) {
        drop_worse(out);
    }
    return stop_flag_check(options->study.runs->stop, why);
}

/* Try each change that the scenario leaves room for. If nothing fits, GPUs are doubled and contexts
 * halved until something does. A change that cannot be is not tried, nor are more GPUs for requests
 * that the stated GPUs serve. */
static bool try_changes(const struct scenario *scenario, const struct advice_options *options,
                        struct advice *out, struct error *why)
{
    struct before before;
    bool good = read_before(scenario, out, &before, why);
    for (int i = ADVICE_FP8_KV; good && i < ADVICE_CHANGES; i++) {
        enum advice_change change = (enum advice_change)i;
        bool enough = before.fits && out->serves && options->gpus > 0; /* as many GPUs as one has */
        bool rescues = change == ADVICE_FP8_WEIGHTS || change == ADVICE_INT4_WEIGHTS ||
                       change == ADVICE_USABLE;
        bool idle = (rescues && before.fits) || (change == ADVICE_DRAFTS && !before.fits) ||
                    (change == ADVICE_MORE_SERVERS &&
                     (!before.fits || scenario_states(scenario, "replicas"))) ||
                    (adds_gpus(change) && enough);
        good = idle || try_change(scenario, options, &before, change, out, why);
    }
    return good;
}

/* ---- all of it ---- */

static bool advice_run_all(const struct scenario *scenario, const struct advice_options *options,
                           struct advice *out, struct error *why)
{
    if (!try_forms(scenario, options, out, why)) {
        return false;
    }
    out->plain = choose_form(out);
    if (!try_in_turn(scenario, options, out, why)) {
        return false;
    }
    out->form = out->trials[out->plain].form;
    const struct advice_asked all = {.form = out->form,
                                     .guess = found_rate(out),
                                     .systems = options->candidates.systems,
                                     .chooses = out};
    bool good =
        advice_search(scenario, options, &all, &out->systems, why) && check_ran(&out->systems, why);
    out->best = good ? out->systems.winner : PLANNING_NONE;
    return good && advice_host_find(options, out, why) && try_changes(scenario, options, out, why);
}

/* Plain vLLM is searched alone and among the systems: a store answers the same run once. */
bool advice_run(const struct scenario *scenario, const struct advice_options *options,
                struct advice *out, struct error *why)
{
    struct advice_options with = *options;
    struct store *own = NULL;
    *out = (struct advice){.serves = scenario_serves(scenario), .best = PLANNING_NONE};
    if ((out->serves && !targets_add_service(true, &with.targets, why)) ||
        (options->study.store == NULL && (own = store_open(NULL, true, why)) == NULL)) {
        return false;
    }
    out->targets = with.targets;
    if (own != NULL) {
        store_spare_detail(own);
    }
    with.study.store = own != NULL ? own : options->study.store;
    bool good = advice_run_all(scenario, &with, out, why);
    store_close(own);
    return good;
}

void advice_release(struct advice *advice)
{
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        trial_release(&advice->trials[i]);
    }
    planning_release(&advice->systems);
    *advice = (struct advice){.best = PLANNING_NONE};
}

/* ---- what was found ---- */

const struct search *advice_trial_search(const struct advice_trial *trial)
{
    return &trial->planning.searches[0];
}

/* Among the systems it may have been run to the full precision of its figures. */
const struct search *advice_plain(const struct advice *advice)
{
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        if (strcmp(search->candidate->system, PLAIN_SYSTEM) == 0 && search->grid.count > 0) {
            return search;
        }
    }
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

bool advice_starts(const struct search *search)
{
    return search->candidate->traits.starts;
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
