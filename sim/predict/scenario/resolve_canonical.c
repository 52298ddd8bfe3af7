#include "predict/scenario/resolve_canonical.h"

#include "core/named.h"
#include "decode/mechanisms.h"
#include "decode/draft/draft_keys.h"
#include "policy/plugin.h"
#include "predict/scenario/contexts.h"
#include "predict/scenario/scenario_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Give a value its canonical spelling. Numbers are normalised, but a name that reads as a number
 * stays. The path of a profile becomes relative to the working directory instead of to the file
 * that contains it. */
static bool respell_value(struct node *scalar, struct error *why)
{
    struct quantity quantity;
    char text[4096];
    const char *key = scalar->key != NULL ? scalar->key : "";
    if (strcmp(key, "extends") == 0) {
        return !named_by_path(scalar->text, "yaml") ||
               !named_from(scalar->text, scalar->file, text, sizeof text) ||
               node_set_text(scalar, text, why);
    }
    return strcmp(key, "name") == 0 || !quantity_parse(scalar->text, &quantity) ||
           node_set_text(scalar, units_write(quantity.value, quantity.unit, text, sizeof text),
                         why);
}

/* Give every value inside `node` its canonical spelling. */
static bool respell(struct node *node, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < node->count; i++) {
        struct node *child = node->children[i];
        good = respell(child, why) && (child->kind != NODE_SCALAR || respell_value(child, why));
    }
    return good;
}

/* Copy the user's value of `path`, in canonical spelling. */
static bool put_rewritten(struct node *all, const char *path, const struct node *said,
                          struct error *why)
{
    struct node *copy = node_copy(said, why);
    bool good = copy != NULL && respell(copy, why) && node_put(all, path, copy, why);
    node_destroy(copy);
    return good;
}

/* The user's parameters of a policy, under the policy's own name; that of a plug-in is as typed. */
static bool resolve_canonical_put_policy(struct node *all, const struct mechanisms *mechanisms,
                                         const struct node *said, struct error *why)
{
    const char *name = mechanisms->policy->name;
    return put_rewritten(all, "mechanisms.policy", said, why) &&
           (plugin_is_named(name) || node_set(all, "mechanisms.policy.name", name, why));
}

/* Write every mechanism in canonical spelling, whether the preset or the user set it; of a policy's
 * parameters those that are set. */
static bool put_mechanisms(struct node *all, const struct mechanisms *mechanisms,
                           const struct node *merged, struct error *why)
{
    bool good = node_set(all, "mechanisms", "{}", why);
    for (const struct mechanism_key *key = mechanism_keys; good && key->name != NULL; key++) {
        const struct node *said = node_get(merged, key->name);
        char path[64], *text = NULL;
        snprintf(path, sizeof path, "mechanisms.%s", key->name);
        good = key->type == MECHANISM_POLICY && said != NULL && said->kind == NODE_MAP
                   ? resolve_canonical_put_policy(all, mechanisms, said, why)
                   : (text = mechanism_text(key, mechanisms, why)) != NULL &&
                         node_set(all, path, text, why);
        free(text);
    }
    return good;
}

static bool put_model(struct node *all, const struct model *model, struct error *why)
{
    const struct scenario_gpus gpus = {model->tensor_parallel, model->parallel};
    return node_set(all, "dtype.weights", dtype_name(model->weights), why) &&
           node_set(all, "dtype.kv", dtype_name(model->kv), why) &&
           scenario_keys_write(all, SCENARIO_GPUS, &gpus, why);
}

/* A path that the user gave stays as it is. The default is written as a plain name. */
static bool put_trace(struct node *all, const struct setup *setup, struct error *why)
{
    return node_stated(all, "trace") != NULL || node_set(all, "trace", setup->trace_name, why);
}

/* With several contexts, each has its own prompt: "context". */
static bool put_setup(struct node *all, const struct setup *setup, struct error *why)
{
    return scenario_keys_write(all, SCENARIO_SETUP, setup, why) && contexts_put(all, setup, why) &&
           (setup->cohorts == NULL || setup->prompt == 0 ||
            node_set(all, "prompt", "context", why));
}

static bool put_workload(struct node *all, const struct workload *workload, struct error *why)
{
    static const char *const balance[] = {"cache_threshold", "balance_abs_threshold",
                                          "balance_rel_threshold"};
    bool good = scenario_keys_write(all, SCENARIO_WORKLOAD, workload, why) &&
                node_set(all, "engine", workload->engine.name, why) &&
                (workload->engine.memory != ENGINE_MEASURED ||
                 scenario_key_write(all, "compile", workload, why));
    for (int i = 0; good && i < 3 && workload->routing == ROUTE_PREFIX_LOAD; i++) {
        good = scenario_key_write(all, balance[i], workload, why);
    }
    return good;
}

static bool put_drafts(struct node *all, const struct setup *setup, struct error *why)
{
    const struct node *said = node_stated(all, "drafts");
    return (said == NULL || setup->drafts.count == 0 || put_rewritten(all, "drafts", said, why)) &&
           drafts_put(all, &setup->drafts, why);
}

/* Remove the keys that say when requests arrive and what is kept of them: they change no step. */
static bool drop_serving(struct node *all, struct error *why)
{
    bool good = true;
    for (const struct scenario_key *key = scenario_keys; good && key->name != NULL; key++) {
        good = !key->serving || node_set(all, key->name, "", why);
    }
    return good;
}

bool resolve_canonical(const struct node *root, const struct mechanisms *mechanisms,
                       const struct node *merged, struct point *out, struct error *why)
{
    const struct setup *setup = &out->setup;
    struct node *all = node_copy(root, why);
    bool good =
        all != NULL && node_set(all, "sweep", "", why) && put_model(all, &setup->model, why) &&
        put_mechanisms(all, mechanisms, merged, why) &&
        put_rewritten(all, "hardware", node_get(root, "hardware"), why) &&
        put_trace(all, setup, why) && put_setup(all, setup, why) && put_drafts(all, setup, why) &&
        (!point_serves(out) || put_workload(all, &out->workload, why));
    out->scenario = good ? node_canonical(all, why) : NULL;
    good = out->scenario != NULL;
    if (good && point_serves(out)) {
        out->decode_scenario = drop_serving(all, why) ? node_canonical(all, why) : NULL;
        good = out->decode_scenario != NULL;
    }
    node_destroy(all);
    return good;
}
