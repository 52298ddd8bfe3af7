#include "study/advise/hire_parts.h"

#include "core/array.h"
#include "core/named.h"
#include "core/node.h"
#include "core/text.h"
#include "server/requests/requests.h"
#include "predict/server/serving_memory.h"
#include "study/advise/advice.h"
#include "study/advise/advice_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* GPUs of a server: 1, 2, 4, 8. */
enum { SPLITS = 4, MOST_WEIGHTS = 8 };

/* Shipped models whose weights are of a type end like this. Engines round weights to fp8 as they
 * start, so that fp8 takes no other checkpoint. */
static const struct {
    const char *weights, *suffix;
} variants[] = {{"int4", "-awq"}};

/* ---- weights ---- */

/* The type that the model's weights have. Fails where no form can be, such as for a workload that is
 * misspelt. */
static bool own_weights(const struct scenario *scenario, enum dtype *out, struct error *why)
{
    struct point point;
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    *out = point.setup.model.weights;
    point_release(&point);
    return true;
}

/* Make the model that of a shipped file, and the text that was typed one of its ids. */
static bool lay_id(struct scenario *scenario, const char *id, const char *canonical,
                   struct error *why)
{
    return node_set(scenario->root, "model", id, why) &&
           node_set_text((struct node *)node_get(scenario->root, "model"), canonical, why);
}

/* The shipped variant of the model with such weights, if it has an id of this model: another model of
 * the same shape is another model. Else the type by its key. */
static bool lay_weights(struct scenario *scenario, const char *weights, struct error *why)
{
    const struct node *model = node_get(scenario->root, "model");
    char name[NAMED_SIZE], variant[NAMED_SIZE], canonical[NAMED_SIZE], id[NAMED_SIZE];
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        bool named = model != NULL && model->kind == NODE_SCALAR &&
                     strcmp(variants[i].weights, weights) == 0 &&
                     named_canonical(&named_model, model->text, canonical);
        if (named && snprintf(name, sizeof name, "%.200s%s", canonical, variants[i].suffix) > 0 &&
            named_canonical(&named_model, name, variant) &&
            named_id_of(&named_model, variant, model->typed != NULL ? model->typed : canonical,
                        id)) {
            return lay_id(scenario, id, variant, why);
        }
    }
    return node_set(scenario->root, "dtype.weights", weights, why);
}

/* ---- a form ---- */

static void hire_forms_refuse(struct hire_form *form, const struct error *why)
{
    text_copy(form->refused, sizeof form->refused, why->found);
    if (why->expected[0] != '\0') {
        text_append(form->refused, sizeof form->refused, " (expected: %s)", why->expected);
    }
}

/* A service answers all of its requests. */
static void check_longest(const struct requests *requests, const struct serving_memory *memory,
                          struct hire_form *form)
{
    uint64_t room = memory->prefix.gpu_blocks * memory->prefix.block_tokens;
    uint64_t longest = requests_longest(requests);
    if (longest > room + 1) { /* the last token is not kept */
        snprintf(form->refused, sizeof form->refused,
                 "a server of %u GPU%s cannot hold a request of %" PRIu64
                 " tokens, weights in %s: its KV memory has room for %" PRIu64,
                 form->gpus, form->gpus > 1 ? "s" : "", longest, form->weights, room);
    }
}

/* Can one server be, and has it room? */
static void check_form(struct hire_form *form, const struct run_context *runs)
{
    struct point point;
    struct serving_memory memory;
    struct error refused;
    if (!scenario_point(&form->scenario, 0, &point, &refused)) {
        hire_forms_refuse(form, &refused);
        return;
    }
    form->price = point.setup.profile.price_per_hour;
    form->requests = point.requests->count;
    if (!serving_memory_plan(&point, runs, &memory, &refused)) {
        text_copy(form->refused, sizeof form->refused, refused.found);
    } else {
        check_longest(point.requests, &memory, form);
        if (!hire_host_read(&point, &memory, form, &refused)) {
            hire_forms_refuse(form, &refused);
        }
    }
    point_release(&point);
}

static bool make_form(const struct candidate *candidate, const char *weights, bool own,
                      uint32_t gpus, const struct hire_options *options, struct hire_form *form,
                      struct error *why)
{
    struct error refused;
    *form = (struct hire_form){.candidate = candidate, .gpus = gpus};
    uint32_t most = (options->most_gpus > 0 ? options->most_gpus : HIRE_MOST_GPUS) / gpus;
    form->most_servers = most > 0 ? most : 1;
    result_init(&form->lonely);
    snprintf(form->weights, sizeof form->weights, "%s", weights);
    if (!scenario_copy(&candidate->scenario, &form->scenario, why)) {
        return false;
    }
    if ((!own && !lay_weights(&form->scenario, weights, &refused)) ||
        !advice_set_number(&form->scenario, "tensor_parallel", gpus, &refused)) {
        hire_forms_refuse(form, &refused);
    } else {
        check_form(form, options->runs);
    }
    return true;
}

/* ---- all of them ---- */

struct weights {
    char all[MOST_WEIGHTS][HIRE_WEIGHTS];
    uint32_t count;
    const char *own;
};

static bool hire_forms_is_listed(const struct weights *weights, const char *type)
{
    bool listed = false;
    for (uint32_t i = 0; i < weights->count; i++) {
        listed = listed || strcmp(weights->all[i], type) == 0;
    }
    return listed;
}

static bool read_weights(const struct candidate *candidate, const char *typed, struct weights *out,
                         struct error *why)
{
    const char *item;
    size_t length;
    enum dtype own, unused;
    if (!own_weights(&candidate->scenario, &own, why)) {
        return false;
    }
    *out = (struct weights){.own = dtype_name(own)};
    typed = typed != NULL ? typed : out->own;
    while (text_item(&typed, &item, &length)) {
        char type[HIRE_WEIGHTS];
        if (out->count == MOST_WEIGHTS || length == 0 || length >= HIRE_WEIGHTS) {
            error_usage(why, "--weights", 0, "'%.*s' is no type of weights", (int)length, item);
            return error_expect(why, "types separated by commas, such as bf16,fp8,int4");
        }
        snprintf(type, sizeof type, "%.*s", (int)length, item);
        if (!dtype_find(type, "--weights", 0, &unused, why)) {
            return false;
        }
        if (!hire_forms_is_listed(out, type)) {
            memcpy(out->all[out->count++], type, sizeof type);
        }
    }
    return true;
}

/* A hire's systems keep prefixes on the GPU, or in host memory as well; where no two prompts begin
 * alike, that is the same. */
static const char *systems_of(const struct scenario *scenario)
{
    const struct node *said = node_stated(scenario->root, "system");
    return said != NULL ? NULL : ADVICE_PLAIN ",vllm-offload";
}

static bool add_forms(const struct candidate *candidate, const struct hire_options *options,
                      struct hire *out, struct error *why)
{
    struct weights weights;
    bool good = read_weights(candidate, options->weights, &weights, why);
    for (uint32_t i = 0; good && i < weights.count * SPLITS; i++) {
        const char *type = weights.all[i / SPLITS];
        uint32_t gpus = 1U << i % SPLITS;
        if (options->most_gpus == 0 || gpus <= options->most_gpus) {
            good = make_form(candidate, type, strcmp(type, weights.own) == 0, gpus, options,
                             &out->forms[out->count++], why);
        }
    }
    return good;
}

static bool hire_forms_check_any(const struct hire *hire, struct error *why)
{
    for (uint32_t i = 0; i < hire->count; i++) {
        if (hire->forms[i].refused[0] == '\0') {
            return true;
        }
    }
    return error_set(why, NULL, 0, "no server is possible: %s",
                     hire->count > 0 ? hire->forms[hire->count - 1].refused
                                     : "every system is left out");
}

/* Dollars cannot be compared with numbers of GPUs. A form that cannot be has no price. */
static bool check_prices(const struct hire *hire, struct error *why)
{
    const struct hire_form *priced = NULL, *unpriced = NULL;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        if (form->refused[0] == '\0') {
            *(form->price > 0 ? &priced : &unpriced) = form;
        }
    }
    if (priced == NULL || unpriced == NULL) {
        return true;
    }
    error_usage(why, "--price", 0, "no price is known for '%s'", unpriced->candidate->machine);
    return error_expect(why, "a price for every machine, or for none");
}

bool hire_list_forms(const struct scenario *scenario, const struct hire_options *options,
                     struct hire *out, struct error *why)
{
    const struct candidate_options candidates = {.systems = systems_of(scenario),
                                                 .machines = options->machines,
                                                 .prices = options->prices,
                                                 .unshared = advice_is_unshared(scenario)};
    if (!candidates_create(scenario, &candidates, &out->candidates, &out->candidate_count, why) ||
        (out->forms = array_zeroed((size_t)out->candidate_count * SPLITS * MOST_WEIGHTS,
                                   sizeof *out->forms, why)) == NULL) {
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; good && i < out->candidate_count; i++) {
        good = out->candidates[i].left_out[0] != '\0' ||
               add_forms(&out->candidates[i], options, out, why);
    }
    return good && check_prices(out, why) && hire_forms_check_any(out, why);
}
