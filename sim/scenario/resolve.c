/* Reads the keys of a scenario; a key comes after those that it needs. */
#include "scenario/resolve.h"

#include "base/named.h"
#include "decode/mechanism_value.h"
#include "decode/plan/mass.h"
#include "decode/time/pipeline.h"
#include "draft/draft_keys.h"
#include "model/parallel.h"
#include "policy/kinds.h"
#include "policy/plugin.h"
#include "scenario/contexts.h"
#include "scenario/resolve_band.h"
#include "scenario/resolve_parallel.h"
#include "scenario/resolve_trace.h"
#include "scenario/resolve_workload.h"
#include "scenario/scenario_keys.h"
#include "serve/server_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((uint64_t)1 << 53)
#define MOST_STEPS ((uint64_t)1 << 16) /* all are timed in one schedule */

static const struct node *required(const struct node *root, const char *key, const char *example,
                                   struct error *why)
{
    const struct node *node = node_said(root, key);
    if (node == NULL) {
        error_usage(why, NULL, 0, "'%s' is missing from the scenario", key);
        error_expect(why, "%s: %s, or --set %s=%s", key, example, key, example);
        return NULL;
    }
    return node;
}

static bool read_required_text(const struct node *root, const char *key, const char *example,
                               const struct node **node, const char **text, struct error *why)
{
    *node = required(root, key, example, why);
    return *node != NULL && node_text(root, key, text, why);
}

static bool resolve_read_dtype(const struct node *map, const char *key, int *out, struct error *why)
{
    const char *name = NULL;
    enum dtype dtype;
    if (!node_text(map, key, &name, why)) {
        return false;
    }
    if (name == NULL) {
        return true;
    }
    const struct node *node = node_get(map, key);
    if (!dtype_find(name, node->file, node->line, &dtype, why)) {
        return false;
    }
    *out = (int)dtype;
    return true;
}

/* Weights and KV have a type each, so one word could mean either. */
static bool check_dtype(const struct node *root, struct error *why)
{
    const struct node *dtype = node_said(root, "dtype");
    if (dtype == NULL || dtype->kind != NODE_SCALAR) {
        return true;
    }
    node_error(dtype, why, "'dtype' is '%.60s', for weights or for KV?", dtype->text);
    return error_expect(why, "dtype.weights=%.60s, or dtype.kv=%.60s, or both", dtype->text,
                        dtype->text);
}

static bool resolve_read_model(const struct node *root, struct files *files, struct setup *out,
                               struct error *why)
{
    static const char *const dtype_keys[] = {"weights", "kv", NULL};
    const struct node *dtype = node_get(root, "dtype"), *node;
    struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model_parallel parallel;
    const char *name;
    options.config = node_said(root, "config");
    if (options.config != NULL && options.config->kind != NODE_MAP) {
        return node_error(options.config, why, "'config' is no map") ||
               error_expect(why, "keys of config.json, such as {sliding_window: 4096}");
    }
    if (!read_required_text(root, "model", "llama-3-8b", &node, &name, why) ||
        !check_dtype(root, why) || !node_check_keys(dtype, dtype_keys, "dtype", why) ||
        !resolve_read_dtype(dtype, "weights", &options.weights, why) ||
        !resolve_read_dtype(dtype, "kv", &options.kv, why) ||
        !resolve_parallel(root, &options.tensor_parallel, &parallel, why)) {
        return false;
    }
    return model_load(files, name, &options, node->file, node->line, &out->model, why) &&
           model_share(&out->model, &parallel, node->file, node->line, why) &&
           drafts_read(node_said(root, "drafts"), files, &out->model, &out->drafts, why);
}

/* Where a version of an engine is given as the system, say how to write both. Returns false. */
static bool expect_engine(const char *name, struct error *why)
{
    struct server_engine_version engine;
    bool version = server_engine_read(name, &engine) && engine.id != SERVER_ENGINE_NONE;
    return version && why->nearest[0] != '\0'
               ? error_expect(why, "system: %s, and of a server engine: %s", why->nearest,
                              engine.name)
               : false;
}

static bool read_system(const struct node *root, struct files *files, struct node **merged,
                        struct setup *out, struct error *why)
{
    const struct node *node;
    const char *name;
    if (!read_required_text(root, "system", "retroinfer", &node, &name, why)) {
        return false;
    }
    return system_load(files, name, node, node_get(root, "mechanisms"), &out->mechanisms,
                       &out->system, merged, why) ||
           expect_engine(name, why);
}

/* A whole number of at least `least`. */
static bool resolve_read_whole(const struct node *root, const char *key, enum unit unit,
                               uint64_t least, uint64_t most, uint64_t *out, struct error *why)
{
    if (!node_whole(root, key, unit, most, out, why)) {
        return false;
    }
    if (*out < least) {
        node_error(node_get(root, key), why, "'%s' of %llu is too small", key,
                   (unsigned long long)*out);
        return error_expect(why, "a whole number from %llu to %llu", (unsigned long long)least,
                            (unsigned long long)most);
    }
    return true;
}

/* The same, or a word that stands for `meant`. If the key is absent, `*out` stays. */
static bool read_word_or_whole(const struct node *root, const char *key, const char *word,
                               int64_t meant, uint64_t least, uint64_t most, int64_t *out,
                               struct error *why)
{
    const struct node *node = node_get(root, key);
    uint64_t value = 0;
    if (node == NULL || node->kind == NODE_NULL) {
        return true;
    }
    if (node->kind == NODE_SCALAR && strcmp(node->text, word) == 0) {
        *out = meant;
        return true;
    }
    if (!resolve_read_whole(root, key, UNIT_COUNT, least, most, &value, why)) {
        return error_expect(why, "a whole number from %llu to %llu, or %s",
                            (unsigned long long)least, (unsigned long long)most, word);
    }
    *out = (int64_t)value;
    return true;
}

static bool read_order(const struct node *root, struct setup *out, struct error *why)
{
    int order = POLICY_BATCH;
    bool good = node_word(root, "order", policy_orders, &order, why);
    out->order = (enum policy_order)order;
    return good;
}

static bool says_none(const struct node *root, const char *key)
{
    const struct node *node = node_said(root, key);
    return node == NULL || (node->kind == NODE_SCALAR && strcmp(node->text, "none") == 0);
}

/* Tokens of a sequence. If the key is absent or none, `*out` stays. */
static bool resolve_read_tokens(const struct node *root, const char *key, uint64_t *out,
                                struct error *why)
{
    return says_none(root, key) ||
           resolve_read_whole(root, key, UNIT_TOKENS, 1, CONTEXTS_LONGEST / 2, out, why);
}

/* Room that replaces `given`. If the key is absent or none, `*out` stays 0; so the user may not set
 * 0. */
static bool read_room(const struct node *root, const char *key, enum unit unit, const char *given,
                      uint64_t *out, struct error *why)
{
    if (says_none(root, key)) {
        return true;
    }
    if (!node_whole(root, key, unit, MOST_BYTES, out, why)) {
        return false;
    }
    return *out > 0 || (node_error(node_get(root, key), why, "'%s' must not be 0", key),
                        error_expect(why, "more than 0, or none: %s", given));
}

#define BATCH_UNSAID (-1)

/* Read `prompt` and `output`. `*of_context`: each prompt follows from its context. */
static bool resolve_read_request(const struct node *root, struct setup *out, bool *of_context,
                                 struct error *why)
{
    const struct node *node = node_get(root, "prompt");
    *of_context = node != NULL && node->kind == NODE_SCALAR && strcmp(node->text, "context") == 0;
    if ((!*of_context && !resolve_read_tokens(root, "prompt", &out->prompt, why)) ||
        !resolve_read_tokens(root, "output", &out->output, why)) {
        return false;
    }
    if (out->output > 0 && out->prompt == 0 && !*of_context) {
        node_error(node_get(root, "output"), why, "'output' needs 'prompt', which is missing");
        return error_expect(why, "'prompt' as well, such as prompt: 1920");
    }
    return true;
}

/* Read `context` and `batch`, or `contexts`. Decode of a request attends to prompt + 1 to prompt +
 * output tokens, so the default of the context is their mean. */
static bool read_contexts(const struct node *root, struct setup *out, struct error *why)
{
    int64_t batch = BATCH_UNSAID;
    if (!read_word_or_whole(root, "batch", "max", SETUP_BATCH_MAX, 1, CONTEXTS_MOST_BATCH, &batch,
                            why)) {
        return false;
    }
    if (contexts_said(root)) {
        return contexts_read(root, batch, out, why);
    }
    out->batch = batch == BATCH_UNSAID ? 1 : (uint32_t)batch;
    out->context = out->prompt + (out->output + 1) / 2;
    return (out->prompt > 0 || required(root, "context", "131072", why) != NULL) &&
           resolve_read_whole(root, "context", UNIT_TOKENS, 1, CONTEXTS_LONGEST, &out->context,
                              why);
}

/* The prompt of a sequence that reaches `context` in the middle of its output. */
static bool find_prompt(const struct node *root, uint64_t context, const struct setup *setup,
                        uint64_t *prompt, struct error *why)
{
    uint64_t half = (setup->output + 1) / 2;
    if (context <= half) {
        node_error(node_get(root, "output"), why,
                   "a context of %llu tokens leaves no prompt before half of an output of %llu",
                   (unsigned long long)context, (unsigned long long)setup->output);
        return error_expect(why, "an output of less than %llu", (unsigned long long)(2 * context));
    }
    *prompt = context - half;
    return true;
}

static bool find_prompts(const struct node *root, struct setup *out, struct error *why)
{
    if (out->cohorts == NULL) {
        return find_prompt(root, out->context, out, &out->prompt, why);
    }
    for (uint32_t i = 0; i < out->cohort_count; i++) {
        struct setup_cohort *cohort = &out->cohorts[i];
        if (!find_prompt(root, cohort->context, out, &cohort->prompt, why)) {
            return false;
        }
    }
    return find_prompt(root, out->context, out, &out->prompt, why);
}

static bool check_prompts(const struct node *root, const struct setup *setup, struct error *why)
{
    struct setup_cohort longest = setup_cohort(setup, setup_cohort_count(setup) - 1);
    uint64_t last = longest.prompt + setup->output;
    if (setup->prompt > 0 && setup->cohorts != NULL && longest.prompt == 0) {
        node_error(node_get(root, "prompt"), why,
                   "'contexts' differ, so their sequences cannot have the same prompt");
        return error_expect(why, "prompt: context, which is all tokens before half the output");
    }
    if (longest.prompt > 0 && setup->model.learned_positions &&
        last > setup->model.trained_context) {
        node_error(node_get(root, "prompt"), why,
                   "'%s' has learned positions and cannot run %llu tokens", setup->model.name,
                   (unsigned long long)last);
        return error_expect(why, "'prompt' and 'output' that add up to at most %u",
                            setup->model.trained_context);
    }
    if (setup->context < setup->prompt) {
        const struct node *context = node_get(root, "context");
        node_error(context != NULL ? context : node_get(root, "contexts"), why,
                   "a context of %llu tokens is shorter than the prompt",
                   (unsigned long long)setup->context);
        return error_expect(why, "at least the prompt's %llu", (unsigned long long)setup->prompt);
    }
    return true;
}

static bool resolve_read_size(const struct node *root, struct setup *out, struct error *why)
{
    int64_t steps = SETUP_STEPS_ALL, warmup = SETUP_WARMUP_AUTO;
    bool of_context;
    out->seed = SETUP_SEED;
    if (!resolve_read_request(root, out, &of_context, why) || !read_contexts(root, out, why) ||
        (of_context && !find_prompts(root, out, why)) || !check_prompts(root, out, why) ||
        !read_word_or_whole(root, "steps", "all", SETUP_STEPS_ALL, 1, MOST_STEPS, &steps, why) ||
        !read_word_or_whole(root, "warmup", "auto", SETUP_WARMUP_AUTO, 0, UINT32_MAX, &warmup,
                            why) ||
        !node_whole(root, "seed", UNIT_COUNT, MOST_BYTES, &out->seed, why) ||
        !read_room(root, "kv_pool_tokens", UNIT_TOKENS, "what fits", &out->kv_pool_tokens, why)) {
        return false;
    }
    out->steps = (uint32_t)steps;
    out->warmup = warmup;
    return true;
}

static bool read_memory(const struct node *root, struct setup *out, struct error *why)
{
    bool good = node_quantity(root, "hbm_usable", UNIT_SHARE, &out->hbm_usable, why) &&
                node_whole(root, "hbm_reserve", UNIT_BYTES, MOST_BYTES, &out->hbm_reserve, why);
    for (int tier = TIER_HOST; good && tier < TIER_COUNT; tier++) {
        good = read_room(root, tier_kinds[tier].room, UNIT_BYTES, "the profile's", &out->room[tier],
                         why);
    }
    if (!good) {
        return false;
    }
    return (out->hbm_usable > 0 && out->hbm_usable <= 1) ||
           (node_error(node_get(root, "hbm_usable"), why, "'hbm_usable' is not a share of HBM"),
            error_expect(why, "above 0 and at most 100%%"));
}

static bool is_measured(const struct profile *profile, enum curve_id id)
{
    return profile_states(profile, id) && profile->curves[id].basis == BASIS_MEASURED;
}

/* No mechanism uses a network. One that was measured is the machine's, and not a wish. */
static bool check_places(const struct profile *profile, struct error *why)
{
    const struct node *stated = node_get(profile->node, "network");
    if (stated != NULL && !is_measured(profile, CURVE_NETWORK_BANDWIDTH)) {
        node_error(stated, why,
                   "the machine has a 'network', but no mechanism sends KV to another server");
        return error_expect(why, "a machine without 'network'");
    }
    return true;
}

/* A scenario can give prefixes no more of a tier below host memory than the machine has. */
static bool check_rooms(const struct node *root, const struct setup *setup, struct error *why)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    char text[32];
    for (int tier = TIER_HOST + 1; tier < TIER_COUNT; tier++) {
        const struct tier_kind *kind = &tier_kinds[tier];
        bool both = setup->room[tier] > 0 && profile_states(&setup->profile, kind->capacity);
        double has = both ? profile_value(&setup->profile, kind->capacity, 0, &unseen) : INFINITY;
        if ((double)setup->room[tier] > has) {
            node_error(node_get(root, kind->room), why, "'%s' is more than the machine's %s has",
                       kind->room, kind->title);
            return error_expect(why, "at most %s",
                                units_format(has, UNIT_BYTES, text, sizeof text));
        }
    }
    return true;
}

/* Why the replay cannot verify drafts; NULL: it can. */
static const char *drafts_refused(const struct point *point)
{
    const struct setup *setup = &point->setup;
    const struct mechanisms *m = &setup->mechanisms;
    if (point_serves(point)) {
        return "a server's steps";
    }
    if (!mechanisms_offload(m)) {
        return NULL;
    }
    bool compares = m->policy->needs_queries && m->policy != &policy_qsac;
    return compares                                          ? "a plug-in that compares queries"
           : m->policy->chooses_own                          ? "a policy that chooses by itself"
           : m->attention != ATTEND_GPU                      ? "attention on the CPU"
           : m->selection_margin > 0                         ? "a selection margin"
           : setup_asks_trace(setup) && setup->trace == NULL ? "an assumed hit ratio"
                                                             : NULL;
}

/* The KV of drafts is kept until they are verified: it must fit in the window of a sequence whose
 * KV is offloaded. */
static bool check_drafts(const struct node *root, const struct point *point, struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct node *node = node_find(root, "drafts.count");
    const char *refused = setup->drafts.count > 0 ? drafts_refused(point) : NULL;
    uint64_t count = setup->drafts.count, window = setup_recent(setup);
    if (refused != NULL) {
        node_error(node, why, "drafts with %s are not computed", refused);
        return error_expect(why, "a single run of a system that fetches what it selects, or that "
                                 "keeps its KV in HBM");
    }
    if (mechanisms_offload(&setup->mechanisms) && window > 0 && count >= window) {
        node_error(node, why, "%llu drafts do not fit a window of %llu tokens",
                   (unsigned long long)count, (unsigned long long)window);
        return error_expect(why, "a 'count' below %llu, or a larger mechanisms.recent",
                            (unsigned long long)window);
    }
    return true;
}

/* Check that the profile has all curves that the pipeline will read. */
static bool read_hardware(const struct node *root, struct point *out, struct error *why)
{
    enum curve_id needed[CURVE_COUNT];
    const struct node *node = required(root, "hardware", "a40", why);
    char needed_by[96];
    if (node == NULL ||
        !profile_load(sources_files(out->sources), node, &out->setup.profile, why) ||
        !check_places(&out->setup.profile, why) || !check_rooms(root, &out->setup, why) ||
        !parallel_check(root, &out->setup, why)) {
        return false;
    }
    snprintf(needed_by, sizeof needed_by, "system '%s'", out->setup.system.name);
    return profile_require(&out->setup.profile, needed, point_curves(out, needed), needed_by, why);
}

/* What prompts of a server write to a disk, and read from it, is not timed. */
static bool check_disk(const struct node *root, const struct point *point, struct error *why)
{
    if (!point_serves(point) || !mechanisms_use_disk(&point->setup.mechanisms)) {
        return true;
    }
    const char *key = point->setup.mechanisms.disk_kv > 0 ? "disk_kv" : "disk_weights";
    const struct node *said = node_get(node_get(root, "mechanisms"), key);
    node_error(said != NULL ? said : node_get(root, "system"), why,
               "a server's steps with '%s' are not computed", key);
    return error_expect(why, "a batch of decode steps, without 'workload'");
}

/* Selecting by attention mass needs measured masses. */
static bool check_scores(const struct node *merged, const struct setup *setup, struct error *why)
{
    if (setup->mechanisms.selection_margin == 0 || mass_is_measured(setup)) {
        return true;
    }
    node_error(node_get(merged, "selection_margin"), why,
               "'selection_margin' compares attention masses; those of trace '%.100s' are %s",
               setup->trace_name,
               setup->trace != NULL ? "generated or assumed, not measured" : "absent");
    return error_expect(why, "a recorded trace, such as trace: smollm2-135m, or a margin of 0");
}

/* One key of the resolved scenario. */
static bool resolve_put(struct node *root, const char *key, const char *format,
                        unsigned long long value, struct error *why)
{
    char text[64];
    snprintf(text, sizeof text, format, value);
    return node_set(root, key, text, why);
}

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
static bool put_respelt(struct node *all, const char *path, const struct node *said,
                        struct error *why)
{
    struct node *copy = node_copy(said, why);
    bool good = copy != NULL && respell(copy, why) && node_put(all, path, copy, why);
    node_destroy(copy);
    return good;
}

/* The user's parameters of a policy, under the policy's own name; that of a plug-in is as typed. */
static bool resolve_put_policy(struct node *all, const struct mechanisms *mechanisms,
                               const struct node *said, struct error *why)
{
    const char *name = mechanisms->policy->name;
    return put_respelt(all, "mechanisms.policy", said, why) &&
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
                   ? resolve_put_policy(all, mechanisms, said, why)
                   : (text = mechanism_text(key, mechanisms, why)) != NULL &&
                         node_set(all, path, text, why);
        free(text);
    }
    return good;
}

static bool put_memory(struct node *all, const struct setup *setup, struct error *why)
{
    char usable[32];
    snprintf(usable, sizeof usable, "%.17g", setup->hbm_usable);
    bool good = node_set(all, "hbm_usable", usable, why) &&
                resolve_put(all, "hbm_reserve", "%lluB", setup->hbm_reserve, why) &&
                resolve_put(all, "kv_pool_tokens", setup->kv_pool_tokens == 0 ? "none" : "%llu",
                            setup->kv_pool_tokens, why);
    for (int tier = TIER_HOST; good && tier < TIER_COUNT; tier++) {
        uint64_t room = setup->room[tier];
        good = resolve_put(all, tier_kinds[tier].room, room == 0 ? "none" : "%lluB", room, why);
    }
    return good;
}

static bool put_model(struct node *all, const struct model *model, struct error *why)
{
    return node_set(all, "dtype.weights", dtype_name(model->weights), why) &&
           node_set(all, "dtype.kv", dtype_name(model->kv), why) &&
           resolve_put(all, "tensor_parallel", "%llu", model->tensor_parallel, why) &&
           parallel_put(all, &model->parallel, why);
}

/* A path that the user gave stays as it is. The default is written as a plain name. */
static bool put_trace(struct node *all, const struct setup *setup, struct error *why)
{
    return node_said(all, "trace") != NULL || node_set(all, "trace", setup->trace_name, why);
}

/* With several contexts, each has its own prompt: "context". */
static bool put_prompt(struct node *all, const struct setup *setup, struct error *why)
{
    const char *format = setup->prompt == 0 ? "none" : setup->cohorts != NULL ? "context" : "%llu";
    return resolve_put(all, "prompt", format, setup->prompt, why);
}

static bool put_drafts(struct node *all, const struct setup *setup, struct error *why)
{
    const struct node *said = node_said(all, "drafts");
    return (said == NULL || setup->drafts.count == 0 || put_respelt(all, "drafts", said, why)) &&
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

/* The resolved scenario as canonical text. It sets every key, so that equal runs have equal texts,
 * and the text is a scenario that reproduces its run. */
static bool resolve_write_scenario(const struct node *root, const struct mechanisms *mechanisms,
                                   const struct node *merged, struct point *out, struct error *why)
{
    const struct setup *setup = &out->setup;
    struct node *all = node_copy(root, why);
    bool good =
        all != NULL && node_set(all, "sweep", "", why) && put_model(all, &setup->model, why) &&
        put_mechanisms(all, mechanisms, merged, why) &&
        put_respelt(all, "hardware", node_get(root, "hardware"), why) &&
        put_memory(all, setup, why) && put_trace(all, setup, why) &&
        workload_put(all, &out->workload, why) && contexts_put(all, setup, why) &&
        put_prompt(all, setup, why) && put_drafts(all, setup, why) &&
        resolve_put(all, "output", setup->output == 0 ? "none" : "%llu", setup->output, why) &&
        node_set(all, "order", policy_orders[setup->order], why) &&
        resolve_put(all, "seed", "%llu", setup->seed, why) &&
        resolve_put(all, "batch", setup->batch == SETUP_BATCH_MAX ? "max" : "%llu", setup->batch,
                    why) &&
        resolve_put(all, "steps", setup->steps == SETUP_STEPS_ALL ? "all" : "%llu", setup->steps,
                    why) &&
        resolve_put(all, "warmup", setup->warmup == SETUP_WARMUP_AUTO ? "auto" : "%llu",
                    (unsigned long long)setup->warmup, why);
    out->scenario = good ? node_canonical(all, why) : NULL;
    good = out->scenario != NULL;
    if (good && point_serves(out)) {
        out->decode_scenario = drop_serving(all, why) ? node_canonical(all, why) : NULL;
        good = out->decode_scenario != NULL;
    }
    node_destroy(all);
    return good;
}

static bool resolve_merged(const struct node *root, struct node **merged, struct point *out,
                           struct error *why)
{
    struct setup *setup = &out->setup;
    struct files *files = sources_files(out->sources);
    if (!resolve_read_model(root, files, setup, why) ||
        !read_system(root, files, merged, setup, why) || !read_order(root, setup, why) ||
        !resolve_read_size(root, setup, why)) {
        return false;
    }
    const struct mechanisms said = setup->mechanisms;
    setup_resolve_native(setup);
    if (!resolve_workload(root, out, why) || !read_memory(root, setup, why) ||
        !read_hardware(root, out, why)) {
        return false;
    }
    resolve_engine(root, out);
    return resolve_bands(out, why) && resolve_trace(root, out->sources, out, why) &&
           check_drafts(root, out, why) && check_disk(root, out, why) &&
           check_scores(*merged, setup, why) &&
           resolve_write_scenario(root, &said, *merged, out, why);
}

bool resolve_point(const struct node *root, struct sources *sources, struct point *out,
                   struct error *why)
{
    struct node *merged = NULL;
    point_init(out);
    out->sources = sources_hold(sources);
    bool good = resolve_merged(root, &merged, out, why);
    node_destroy(merged);
    if (!good) {
        point_release(out);
    }
    return good;
}
