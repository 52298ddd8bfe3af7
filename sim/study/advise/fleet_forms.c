/* The forms of a fleet: what can be a server, and which is better. */
#include "study/advise/fleet_size.h"

#include "core/array.h"
#include "core/named.h"
#include "core/node.h"
#include "core/text.h"
#include "model/sharding.h"
#include "predict/server/serving_memory.h"
#include "server/requests/requests.h"
#include "study/advise/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* GPUs of a server: 1, 2, 4, 8. */
enum { SPLITS = 4, MOST_WEIGHTS = 8 };

/* The shipped 4-bit variant. Else the type by its key: engines round weights to fp8 as they start. */
static bool fleet_weights_set(struct scenario *scenario, const char *weights, struct error *why)
{
    char variant[NAMED_SIZE], id[NAMED_SIZE];
    if (strcmp(weights, "int4") == 0 && advice_int4_variant(scenario, variant, id)) {
        return node_set(scenario->root, "model", id, why) &&
               node_set_text((struct node *)node_get(scenario->root, "model"), variant, why);
    }
    return node_set(scenario->root, "dtype.weights", weights, why);
}

/* ---- a form ---- */

static void fleet_forms_refuse(struct fleet_form *form, const struct error *why)
{
    text_copy(form->refused, sizeof form->refused, why->found);
    if (why->expected[0] != '\0') {
        text_append(form->refused, sizeof form->refused, " (expected: %s)", why->expected);
    }
}

/* A service answers all of its requests. */
static void check_longest(const struct requests *requests, const struct serving_memory *memory,
                          struct fleet_form *form)
{
    uint64_t room = prefix_longest(&memory->prefix);
    uint64_t longest = requests_most_tokens(requests);
    if (longest > room + 1) { /* the last token is not kept */
        snprintf(form->refused, sizeof form->refused,
                 "a server of %u GPU%s cannot hold a request of %" PRIu64
                 " tokens, weights in %s: its KV memory has room for %" PRIu64,
                 form->gpus, form->gpus > 1 ? "s" : "", longest, form->weights, room);
    }
}

/* Can one server be, and has it room? */
static void check_form(struct fleet_form *form, const struct run_context *runs)
{
    struct point point;
    struct serving_memory memory;
    struct error refused;
    if (!scenario_point(&form->scenario, 0, &point, &refused)) {
        fleet_forms_refuse(form, &refused);
        return;
    }
    form->price = point.setup.profile.price_per_hour;
    form->routing = advice_routing(&form->scenario);
    if (!serving_memory_plan(&point, runs, &memory, &refused)) {
        text_copy(form->refused, sizeof form->refused, refused.found);
    } else {
        check_longest(point.requests, &memory, form);
    }
    point_release(&point);
}

struct weights {
    char all[MOST_WEIGHTS][FLEET_WEIGHTS];
    uint32_t count;
    const char *own;
    uint32_t passes; /* ranks and stages of a server, each of as many GPUs */
    uint32_t most_ranks;
};

static bool fleet_form_share(struct fleet_form *form, uint32_t passes, struct error *why)
{
    if (form->ranks > 0) {
        return advice_set_ranks(&form->scenario, form->ranks, why);
    }
    return scenario_values_set(&form->scenario.values, "tensor_parallel", form->gpus / passes,
                               why) &&
           advice_keep_experts_whole(&form->scenario, why);
}

/* `form` has GPUs and ranks. */
static bool make_form(const struct candidate *candidate, const struct weights *weights,
                      uint32_t index, const struct fleet_options *options, struct fleet_form *form,
                      struct error *why)
{
    struct error refused;
    const char *type = weights->all[index];
    uint32_t gpus = form->gpus;
    form->candidate = candidate;
    form->routing = ROUTINGS;
    uint32_t most = (options->most_gpus > 0 ? options->most_gpus : FLEET_MOST_GPUS) / gpus;
    form->most_servers = most > 0 ? most : 1;
    snprintf(form->weights, sizeof form->weights, "%s", type);
    if (!scenario_copy(&candidate->scenario, &form->scenario, why)) {
        return false;
    }
    if ((strcmp(type, weights->own) != 0 && !fleet_weights_set(&form->scenario, type, &refused)) ||
        !fleet_form_share(form, weights->passes, &refused)) {
        fleet_forms_refuse(form, &refused);
    } else {
        check_form(form, options->study.runs);
    }
    return true;
}

/* ---- all of them ---- */

/* Fails where no form can be, such as for a workload that is misspelt. */
static bool read_weights(const struct candidate *candidate, const char *typed, struct weights *out,
                         struct error *why)
{
    const char *item;
    size_t length;
    enum dtype unused;
    struct point point;
    if (!scenario_point(&candidate->scenario, 0, &point, why)) {
        return false;
    }
    *out = (struct weights){
        .own = dtype_name(point.setup.model.weights),
        .passes = model_passes(&point.setup.model),
        .most_ranks = candidate->traits.tiers ? 0 : advice_most_ranks(&candidate->scenario)};
    point_release(&point);
    typed = typed != NULL ? typed : out->own;
    while (text_item(&typed, &item, &length)) {
        char type[FLEET_WEIGHTS];
        if (out->count == MOST_WEIGHTS || length == 0 || length >= FLEET_WEIGHTS) {
            error_usage(why, "--weights", 0, "'%.*s' is no type of weights", (int)length, item);
            return error_expect(why, "types separated by commas, such as bf16,fp8,int4");
        }
        snprintf(type, sizeof type, "%.*s", (int)length, item);
        if (!dtype_find(type, "--weights", 0, &unused, why)) {
            return false;
        }
        memcpy(out->all[out->count], type, sizeof type);
        uint32_t same = 0;
        while (strcmp(out->all[same], type) != 0) {
            same++;
        }
        out->count += same == out->count;
    }
    return true;
}

/* The last form behind another router. The first is asked before the other: in turn, unless it knows prompts. */
static bool add_twin(struct fleet_size *out, struct error *why)
{
    struct fleet_form *form = &out->forms[out->count - 1], *twin = &out->forms[out->count++];
    *twin = *form;
    twin->twin = true;
    bool knows = form->routing == ADVICE_ROUTER;
    *(knows ? &twin->routing : &form->routing) = ROUTE_ROUND_ROBIN;
    return scenario_copy(&form->scenario, &twin->scenario, why);
}

static bool add_forms(const struct candidate *candidate, const struct fleet_options *options,
                      struct fleet_size *out, struct error *why)
{
    struct weights weights;
    bool good = read_weights(candidate, options->weights, &weights, why);
    for (uint32_t i = 0; good && i < weights.count * SPLITS; i++) {
        uint32_t gpus = 1U << i % SPLITS;
        bool shared = gpus % weights.passes == 0; /* among ranks and stages */
        bool fits = shared && (options->most_gpus == 0 || gpus <= options->most_gpus);
        uint32_t kinds = fits ? gpus > 1 && gpus <= weights.most_ranks ? 2 : 1 : 0;
        for (uint32_t kind = 0; good && kind < kinds; kind++) {
            struct fleet_form *form = &out->forms[out->count++];
            *form = (struct fleet_form){.gpus = gpus, .ranks = kind > 0 ? gpus : 0};
            good = make_form(candidate, &weights, i / SPLITS, options, form, why) &&
                   (form->routing == ROUTINGS || form->most_servers == 1 || add_twin(out, why));
        }
    }
    return good;
}

/* Can a form be? Dollars cannot be compared with numbers of GPUs; a form that cannot be has no price. */
static bool check_forms(const struct fleet_size *fleet, struct error *why)
{
    const struct fleet_form *priced = NULL, *unpriced = NULL;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        if (form->refused[0] == '\0') {
            *(form->price > 0 ? &priced : &unpriced) = form;
        }
    }
    if (priced == NULL && unpriced == NULL) {
        return error_set(why, NULL, 0, "no server is possible: %s",
                         fleet->count > 0 ? fleet->forms[fleet->count - 1].refused
                                          : "every system is left out");
    }
    if (priced == NULL || unpriced == NULL) {
        return true;
    }
    error_usage(why, "--price", 0, "no price is known for '%s'", unpriced->candidate->machine);
    return error_expect(why, "a price for every machine, or for none");
}

bool fleet_list_forms(const struct scenario *scenario, const struct fleet_options *options,
                      struct fleet_size *out, struct error *why)
{
    /* Prefixes stay on the GPU, or in host memory as well. */
    bool named = scenario_states(scenario, "system");
    const struct candidate_options candidates = {.systems =
                                                     named ? NULL : PLAIN_SYSTEM ",vllm-offload",
                                                 .machines = options->machines,
                                                 .prices = options->prices,
                                                 .unshared = advice_is_unshared(scenario)};
    if (!candidates_create(scenario, &candidates, &out->candidates, &out->candidate_count, why) ||
        (out->forms = array_zeroed((size_t)out->candidate_count * SPLITS * MOST_WEIGHTS * 4,
                                   sizeof *out->forms, why)) == NULL) {
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; good && i < out->candidate_count; i++) {
        good = out->candidates[i].left_out[0] != '\0' ||
               add_forms(&out->candidates[i], options, out, why);
    }
    return good && check_forms(out, why);
}

const struct fleet_form *fleet_single(const struct fleet_form *form)
{
    return form - form->twin;
}

/* ---- what was found ---- */

double fleet_cost(const struct fleet_form *form, uint32_t servers)
{
    return (double)servers * form->gpus * (form->price > 0 ? form->price : 1);
}

const struct result *fleet_holds(const struct fleet_form *form)
{
    return form->servers > 0 ? &form->runs[form->servers - 1] : NULL;
}

const struct result *fleet_misses(const struct fleet_form *form)
{
    return form->alone == ALONE_MISSES ? &fleet_single(form)->idle
           : form->fewer > 0           ? &form->runs[form->fewer - 1]
                                       : NULL;
}

bool fleet_is_sure(const struct fleet_size *fleet, const struct fleet_form *form)
{
    return form->servers > 0 &&
           (!fleet->is_stream || draws_asked(&form->draws[form->servers - 1]) == CAPACITY_DRAWS);
}

bool fleet_miss_is_sure(const struct fleet_size *fleet, const struct fleet_form *form)
{
    const struct result *misses = fleet_misses(form);
    return misses != NULL &&
           (fleet_miss_draws(form) != NULL || !fleet->is_stream || form->alone == ALONE_MISSES ||
            result_number(misses, COLUMN(queue_grows)) > 0);
}

const struct capacity_draws *fleet_miss_draws(const struct fleet_form *form)
{
    bool asked =
        form->alone != ALONE_MISSES && form->fewer > 0 && form->draws[form->fewer - 1].asked > 0;
    return asked ? &form->draws[form->fewer - 1] : NULL;
}

double fleet_short(const struct fleet_size *fleet, const struct fleet_form *form)
{
    const struct result *misses = fleet_misses(form);
    return misses != NULL ? targets_violation(&fleet->targets, misses) : INFINITY;
}

const struct fleet_form *fleet_next_below(const struct fleet_size *fleet,
                                          const struct fleet_form *best)
{
    const struct fleet_form *found = best->fewer > 0 ? best : NULL;
    uint32_t most = best->fewer * best->gpus;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        uint32_t gpus = form->fewer * form->gpus;
        if (form->candidate == best->candidate && strcmp(form->weights, best->weights) == 0 &&
            gpus > most && gpus < best->servers * best->gpus) {
            found = form;
            most = gpus;
        }
    }
    return found;
}

/* ---- of a machine ---- */

bool fleet_on_one_machine(const struct fleet_form *a, const struct fleet_form *b)
{
    return strcmp(a->candidate->machine, b->candidate->machine) == 0;
}

double fleet_found_on(const struct fleet_size *fleet, const struct fleet_form *form)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *other = &fleet->forms[i];
        if (fleet_on_one_machine(other, form) && other->servers > 0) {
            least = fmin(least, fleet_cost(other, other->servers));
        }
    }
    return least;
}

/* ---- what is better ---- */

/* Times from arrival to the last token that differ by less are as good. */
static const double as_good = 1.05;

/* Times that few requests tell are off by this many such steps at times. */
static const double few_off = 2;

enum { COST, AMPLE, PLAIN, RANKS, IN_TURN, TAKES, ROUTER, SERVERS, COSTS };

/* What a form that holds the rate costs, most important part first: less is better. Times count by steps. */
static void costs_of(const struct fleet_form *form, double costs[COSTS])
{
    costs[COST] = fleet_cost(form, form->servers);
    costs[AMPLE] = !form->ample;
    costs[PLAIN] = strcmp(form->candidate->system, PLAIN_SYSTEM) != 0;
    costs[RANKS] = form->ranks > 0; /* whose error is unknown */
    costs[IN_TURN] = form->servers > 1 && form->routing == ROUTE_LEAST_REQUESTS;
    costs[TAKES] = floor(log(result_number(fleet_holds(form), COLUMN(e2e_ms))) / log(as_good));
    costs[ROUTER] = form->servers > 1 && form->routing == ADVICE_ROUTER;
    costs[SERVERS] = form->servers;
}

static bool is_cheaper(const struct fleet_form *a, const struct fleet_form *b)
{
    double x[COSTS], y[COSTS];
    costs_of(a, x);
    costs_of(b, y);
    return costs_are_less(x, y, COSTS);
}

bool fleet_may_lead(const struct fleet_form *form, const struct fleet_form *leader)
{
    double may[COSTS], leads[COSTS];
    costs_of(form, may);
    costs_of(leader, leads);
    may[AMPLE] = 0;
    may[TAKES] -= few_off;
    return may[COST] == leads[COST] && costs_are_less(may, leads, COSTS);
}

/* Of two forms that do not hold the rate, the one that was tried and comes nearer says more. */
static bool is_better_form(const struct fleet_size *fleet, const struct fleet_form *a,
                           const struct fleet_form *b)
{
    bool holds = a->servers > 0, other = b->servers > 0;
    double lacks = fleet_short(fleet, a), other_lacks = fleet_short(fleet, b);
    return holds != other         ? holds
           : holds                ? is_cheaper(a, b)
           : lacks != other_lacks ? lacks < other_lacks
                                  : a->gpus > b->gpus;
}

void fleet_size_choose(struct fleet_size *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct fleet_form *form = &fleet->forms[i];
        form->ample = form->servers > 0 && targets_ample(&fleet->targets, fleet_holds(form));
    }
    fleet->best = FLEET_NONE;
    for (uint32_t i = 0; i < fleet->count; i++) {
        bool better = fleet->best == FLEET_NONE ||
                      is_better_form(fleet, &fleet->forms[i], &fleet->forms[fleet->best]);
        fleet->best = fleet->forms[i].servers > 0 && better ? i : fleet->best;
    }
}

uint32_t fleet_best_on(const struct fleet_size *fleet, const char *machine)
{
    uint32_t best = FLEET_NONE;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        bool here = strcmp(form->candidate->machine, machine) == 0;
        best = here && (best == FLEET_NONE || is_better_form(fleet, form, &fleet->forms[best]))
                   ? i
                   : best;
    }
    return best;
}

/* The cost, as sure as that of its tokens. */
static void cost_figure(const struct fleet_form *form, struct tie_figure *out)
{
    double cost = fleet_cost(form, form->servers);
    tie_figure(fleet_holds(form), COLUMN(cost_per_million_tokens), out);
    double times = cost / out->value;
    bool priced = !isnan(times);
    out->timed = true;
    out->value = cost;
    out->least = priced ? out->least * times : cost;
    out->most = priced ? out->most * times : cost;
}

enum tie fleet_tie(const struct fleet_form *a, const struct fleet_form *b)
{
    struct tie_figure x, y;
    cost_figure(a, &x);
    cost_figure(b, &y);
    return figures_tie(&x, &y);
}
