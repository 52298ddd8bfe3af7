/* Resolves the keys of a scenario; a key comes after those that it needs. */
#include "predict/scenario/resolve.h"

#include "decode/mechanism_values.h"
#include "decode/plan/mass.h"
#include "model/sharding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No mechanism uses a network. One that was measured is the machine's, and not a wish. */
static bool check_places(const struct profile *profile, struct error *why)
{
    const struct node *stated = node_get(profile->node, "network");
    bool measured = profile_states(profile, CURVE_NETWORK_BANDWIDTH) &&
                    profile->curves[CURVE_NETWORK_BANDWIDTH].basis == BASIS_MEASURED;
    if (stated == NULL || measured) {
        return true;
    }
    node_error(stated, why,
               "the machine has a 'network', but no mechanism sends KV to another server");
    return error_expect(why, "a machine without 'network'");
}

/* A scenario can give prefixes no more of a tier below host memory than the machine has. */
static bool check_rooms(const struct scenario *scenario, const struct setup *setup,
                        struct error *why)
{
    char text[32];
    for (int tier = TIER_HOST + 1; tier < TIER_COUNT; tier++) {
        const struct tier_kind *kind = &tier_kinds[tier];
        bool both = setup->room[tier] > 0 && profile_states(&setup->profile, kind->capacity);
        double has =
            both ? profile_value(&setup->profile, kind->capacity, 0, TRUST_UNSEEN) : INFINITY;
        if ((double)setup->room[tier] > has) {
            scenario_error(scenario, kind->room, why, "'%s' is more than the machine's %s has",
                           kind->room, kind->title);
            return error_expect(why, "at most %s",
                                units_format(has, UNIT_BYTES, text, sizeof text));
        }
    }
    return true;
}

static bool check_gpus(const struct scenario *scenario, const struct setup *setup,
                       struct error *why)
{
    uint64_t there = setup->profile.gpus, asked = model_gpus(&setup->model);
    if (there == 0 || asked <= there) {
        return true;
    }
    scenario_error(scenario, "hardware", why,
                   "the model is spread over %llu GPUs, but the machine has %llu",
                   (unsigned long long)asked, (unsigned long long)there);
    return error_expect(why, "at most %llu, or a larger hardware.gpus", (unsigned long long)there);
}

/* What offloading fetches is of whole KV heads, and a prompt's exchanges are others. */
static bool check_context_parts(const struct scenario *scenario, const struct setup *setup,
                                struct error *why)
{
    const char *beside = scenario_states(scenario, "workload")   ? "'workload'"
                         : scenario_states(scenario, "prompt")   ? "'prompt'"
                         : mechanisms_offload(setup->mechanisms) ? "a system that offloads KV"
                                                                 : NULL;
    if (setup->model.parallel.context <= 1 || beside == NULL) {
        return true;
    }
    scenario_error(scenario, "decode_context_parallel", why, "decode_context_parallel with %s",
                   beside);
    return error_expect(why, "decode steps alone, of a system that keeps all KV in HBM: a context "
                             "and a batch, with vllm");
}

static bool check_parts(const struct scenario *scenario, const struct setup *setup,
                        struct error *why)
{
    if (!check_context_parts(scenario, setup, why)) {
        return false;
    }
    if (setup->model.parallel.pipeline > 1 && mechanisms_stream_weights(setup->mechanisms)) {
        scenario_error(scenario, "pipeline_parallel", why,
                       "the stages of a pipeline do not stream weights from host memory");
        return error_expect(why, "pipeline_parallel: 1, or mechanisms.weights=100%%");
    }
    return check_gpus(scenario, setup, why);
}

static const char *drafts_refused(const struct point *point)
{
    const struct setup *setup = &point->setup;
    const struct mechanisms *m = setup->mechanisms;
    if (!mechanisms_offload(m)) {
        return NULL;
    }
    bool compares = m->policy->needs_queries && m->policy != &policy_qsac;
    return compares                 ? "a plug-in that compares queries"
           : m->policy->chooses_own ? "a policy that chooses by itself"
           : m->attention == ATTEND_HYBRID || mechanisms_cpu_selects(m) ? "attention on both sides"
           : m->selection_margin > 0                                    ? "a selection margin"
           : setup_asks_trace(setup) && setup->trace == NULL            ? "an assumed hit ratio"
                                                                        : NULL;
}

/* Said before the rest of them is asked for. */
static bool check_served_drafts(const struct scenario *scenario, struct error *why)
{
    const struct node *count = node_find(scenario->root, "drafts.count");
    if (!scenario_serves(scenario) || count == NULL || count->kind != NODE_SCALAR ||
        strcmp(count->text, "0") == 0) {
        return true;
    }
    node_error(count, why, "a server that drafts (speculative decoding) is not computed");
    return error_expect(why, "--set drafts=none, the server without drafts; or, for its decode "
                             "steps with them, 'batch', 'context' and 'drafts.acceptance' in place "
                             "of 'workload'");
}

/* KV of drafts is kept until they are verified: it must fit in the window of a sequence that is offloaded. */
static bool check_drafts(const struct scenario *scenario, const struct point *point,
                         struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct node *node = node_find(scenario->root, "drafts.count");
    const char *refused = setup->drafts.count > 0 ? drafts_refused(point) : NULL;
    uint64_t count = setup->drafts.count, window = setup_recent(setup);
    if (refused != NULL) {
        node_error(node, why, "drafts with %s are not computed", refused);
        return error_expect(why, "a single run of a system that fetches what it selects, or that "
                                 "keeps its KV in HBM");
    }
    if (mechanisms_offload(setup->mechanisms) && window > 0 && count >= window) {
        node_error(node, why, "%llu drafts do not fit a window of %llu tokens",
                   (unsigned long long)count, (unsigned long long)window);
        return error_expect(why, "a 'count' below %llu, or a larger mechanisms.recent",
                            (unsigned long long)window);
    }
    return true;
}

/* What prompts of a server write to a disk, and read from it, is not timed. */
static bool check_disk(const struct scenario *scenario, const struct point *point,
                       struct error *why)
{
    if (!point_serves(point) || !mechanisms_use_disk(point->setup.mechanisms)) {
        return true;
    }
    const char *key = point->setup.mechanisms->disk_kv > 0 ? "disk_kv" : "disk_weights";
    const struct node *stated = node_get(node_get(scenario->root, "mechanisms"), key);
    node_error(stated != NULL ? stated : node_get(scenario->root, "system"), why,
               "a server's steps with '%s' are not computed", key);
    return error_expect(why, "a batch of decode steps, without 'workload'");
}

/* Selecting by attention mass needs measured masses. */
static bool check_scores(const struct node *merged, const struct setup *setup, struct error *why)
{
    if (setup->mechanisms->selection_margin == 0 || mass_is_measured(setup)) {
        return true;
    }
    node_key_error(merged, "selection_margin", why,
                   "'selection_margin' compares attention masses; those of trace '%.100s' are %s",
                   setup->trace_name,
                   setup->trace != NULL ? "generated or assumed, not measured" : "absent");
    return error_expect(why, "a recorded trace, such as trace: smollm2-135m, or a margin of 0");
}

/* Give a value its canonical spelling. Numbers are normalised, but a name that reads as a number stays. The
 * path of a profile becomes relative to the working directory instead of to the file that contains it. */
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

static bool respell(struct node *node, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < node->count; i++) {
        struct node *child = node->children[i];
        good = respell(child, why) && (child->kind != NODE_SCALAR || respell_value(child, why));
    }
    return good;
}

static bool put_rewritten(struct node *all, const char *path, const struct node *said,
                          struct error *why)
{
    struct node *copy = node_copy(said, why);
    bool good = copy != NULL && respell(copy, why) && node_put(all, path, copy, why);
    node_destroy(copy);
    return good;
}

/* Write every mechanism in canonical spelling, and those of a policy's parameters that are set. */
static bool put_mechanisms(struct node *all, const struct mechanisms *mechanisms,
                           const struct node *merged, struct error *why)
{
    bool good = node_set(all, "mechanisms", "{}", why);
    for (const struct mechanism_key *key = mechanism_keys; good && key->name != NULL; key++) {
        const struct node *said = node_get(merged, key->name);
        char path[64], *text = NULL;
        snprintf(path, sizeof path, "mechanisms.%s", key->name);
        if (key->type == MECHANISM_POLICY && said != NULL && said->kind == NODE_MAP) {
            const char *name = mechanisms->policy->name; /* that of a plug-in is as typed */
            good = put_rewritten(all, path, said, why) &&
                   (plugin_is_named(name) || node_set(all, "mechanisms.policy.name", name, why));
            continue;
        }
        good =
            (text = mechanism_text(key, mechanisms, why)) != NULL && node_set(all, path, text, why);
        free(text);
    }
    return good;
}

/* Write `scenario` of the point, and of a server `decode_scenario`. A pool of KV is written in tokens. With
 * several contexts, each has its own prompt: "context". A trace that the user gave stays as it is, and the
 * default is written as a plain name.
 *   mechanisms  as they were read; the point's may have been replaced by the model's own
 *   merged      those of preset and user */
static bool resolve_canonical(const struct scenario *scenario, const struct mechanisms *mechanisms,
                              const struct node *merged, struct point *out, struct error *why)
{
    const struct setup *setup = &out->setup;
    const struct model *model = &setup->model;
    const struct scenario_gpus gpus = {model->tensor_parallel, model->parallel};
    const struct scenario_values *values = &scenario->values;
    const struct node *drafts =
        setup->drafts.count > 0 ? node_stated(scenario->root, "drafts") : NULL;
    bool serves = point_serves(out);
    struct node *all = node_copy(scenario->root, why);
    bool good =
        all != NULL && node_set(all, "sweep", "", why) &&
        node_set(all, "dtype.weights", dtype_name(model->weights), why) &&
        node_set(all, "dtype.kv", dtype_name(model->kv), why) &&
        scenario_keys_write(all, values, SCENARIO_GPUS, &gpus, why) &&
        put_mechanisms(all, mechanisms, merged, why) &&
        put_rewritten(all, "hardware", node_get(scenario->root, "hardware"), why) &&
        scenario_keys_write(all, values, SCENARIO_SETUP, setup, why) &&
        contexts_put(all, setup, why) &&
        (setup->cohorts == NULL || setup->prompt == 0 || node_set(all, "prompt", "context", why)) &&
        (node_stated(all, "trace") != NULL || node_set(all, "trace", setup->trace_name, why)) &&
        (drafts == NULL || put_rewritten(all, "drafts", drafts, why)) &&
        drafts_put(all, &setup->drafts, why) &&
        ((!serves && out->engine.row == NULL) || node_set(all, "engine", out->engine.name, why)) &&
        (!serves || scenario_keys_write(all, values, SCENARIO_WORKLOAD, &out->workload, why));
    if (good) {
        node_remove(all, "kv_pool_blocks");
        node_remove(all, "kv_pool");
    }
    out->scenario = good ? node_canonical(all, why) : NULL;
    good = out->scenario != NULL;
    if (good && serves) { /* when requests arrive, and what is kept, changes no step */
        for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
            good = good && (!key->serving || node_set(all, key->name, "", why));
        }
        out->decode_scenario = good ? node_canonical(all, why) : NULL;
        good = out->decode_scenario != NULL;
    }
    node_destroy(all);
    return good;
}

static bool read_required_text(const struct scenario *scenario, const char *key,
                               const char *example, const struct node **node, const char **text,
                               struct error *why)
{
    *node = node_stated(scenario->root, key);
    return *node != NULL ? node_text(scenario->root, key, text, why)
                         : resolve_missing(key, example, why);
}

static bool resolve_read_dtype(const struct node *map, const char *key, int *out, struct error *why)
{
    const struct node *node = node_stated(map, key);
    const char *name = NULL;
    enum dtype dtype;
    if (!node_text(map, key, &name, why) ||
        (name != NULL && !dtype_find(name, node->file, node->line, &dtype, why))) {
        return false;
    }
    *out = name != NULL ? (int)dtype : *out;
    return true;
}

/* How GPUs share the model; without these keys there is one. */
static bool resolve_gpus(const struct scenario *scenario, struct scenario_gpus *out,
                         struct error *why)
{
    enum { MOST_GPUS = 1024 }; /* counts of a server's step stay far below 2^32 */
    *out = (struct scenario_gpus){.tensor = 1,
                                  .parts = {.data = 1, .experts = 1, .pipeline = 1, .context = 1}};
    scenario_values_fill(&scenario->values, SCENARIO_GPUS, out);
    uint64_t gpus = (uint64_t)out->tensor * out->parts.data * out->parts.pipeline;
    if (gpus <= MOST_GPUS) {
        return true;
    }
    scenario_error(scenario, "model", why, "the model is spread over %llu GPUs",
                   (unsigned long long)gpus);
    return error_expect(why, "at most %d: tensor_parallel x data_parallel x pipeline_parallel",
                        MOST_GPUS);
}

bool resolve_model_options(const struct scenario *scenario, struct model_options *options,
                           struct scenario_gpus *gpus, struct error *why)
{
    static const char *const dtype_keys[] = {"weights", "kv", NULL};
    const struct node *dtype = node_get(scenario->root, "dtype");
    *options = (struct model_options){.weights = -1, .kv = -1};
    options->config = node_stated(scenario->root, "config");
    if (options->config != NULL && options->config->kind != NODE_MAP) {
        return node_error(options->config, why, "'config' is no map") ||
               error_expect(why, "keys of config.json, such as {sliding_window: 4096}");
    }
    if (!node_check_keys(dtype, NAMES(dtype_keys), "dtype", why) ||
        !resolve_read_dtype(dtype, "weights", &options->weights, why) ||
        !resolve_read_dtype(dtype, "kv", &options->kv, why) || !resolve_gpus(scenario, gpus, why)) {
        return false;
    }
    options->tensor_parallel = gpus->tensor;
    return true;
}

static bool resolve_read_model(const struct scenario *scenario, struct files *files,
                               struct setup *out, struct error *why)
{
    const struct node *node;
    struct model_options options;
    struct scenario_gpus gpus;
    const char *name;
    return read_required_text(scenario, "model", "llama-3-8b", &node, &name, why) &&
           resolve_model_options(scenario, &options, &gpus, why) &&
           check_served_drafts(scenario, why) &&
           model_load(files, name, &options, node->file, node->line, &out->model, why) &&
           model_share(&out->model, &gpus.parts, node->file, node->line, why) &&
           drafts_read(node_stated(scenario->root, "drafts"), files, &out->model, &out->drafts,
                       why);
}

static bool read_system(const struct scenario *scenario, struct files *files, struct node **merged,
                        struct setup *out, struct error *why)
{
    const struct node *node;
    const char *name;
    if (!read_required_text(scenario, "system", "vllm", &node, &name, why)) {
        return false;
    }
    out->mechanisms = system_load(files, name, node, node_get(scenario->root, "mechanisms"),
                                  &out->system, merged, why);
    return out->mechanisms != NULL;
}

/* Check that the profile has all curves that the pipeline will read. */
static bool read_hardware(const struct scenario *scenario, struct point *out, struct error *why)
{
    enum curve_id needed[CURVE_COUNT];
    const struct node *node = node_stated(scenario->root, "hardware");
    char needed_by[96];
    if (node == NULL) {
        return resolve_missing("hardware", "a40", why);
    }
    if (!profile_load(sources_files(out->sources), node, &out->setup.profile, why) ||
        !check_places(&out->setup.profile, why) || !check_rooms(scenario, &out->setup, why) ||
        !check_parts(scenario, &out->setup, why)) {
        return false;
    }
    snprintf(needed_by, sizeof needed_by, "system '%s'", out->setup.system.name);
    return profile_require(&out->setup.profile, needed, point_curves(out, needed), needed_by, why);
}

/* Draw the importances that no table says, as point_view() does for each family; of one trace, a draw is one. */
static bool resolve_importance(struct files *files, struct point *point, struct error *why)
{
    static const char *const names[MODEL_DRAWS] = {"draw 1", "draw 2", "draw 3"};
    struct setup *setup = &point->setup;
    const struct mechanisms *m = setup->mechanisms;
    bool queries = m->policy != &policy_qsac || qsac_weighs_query_heads(m->policy_values);
    bool weighs = queries || qsac_weighs_kv_heads(m->policy_values);
    if (!m->policy->needs_queries || setup->model.kv_heads == 0 || !weighs) {
        return true;
    }
    bool good = model_draw_importance(files, setup->seed, 0, queries, &setup->model, why);
    bool drawn = setup->model.importance_drawn || setup->model.queries_drawn;
    bool alone = drawn && setup->trace != NULL && point->family_count == 0;
    for (uint32_t i = 0; good && alone && i < MODEL_DRAWS; i++) {
        point->families[i] = (struct point_family){names[i], trace_hold(setup->trace)};
        point->family_count = i + 1;
    }
    return good;
}

static bool resolve_merged(const struct scenario *scenario, struct node **merged, struct point *out,
                           struct error *why)
{
    struct setup *setup = &out->setup;
    struct files *files = sources_files(out->sources);
    if (!resolve_read_model(scenario, files, setup, why) ||
        !read_system(scenario, files, merged, setup, why) || !resolve_size(scenario, setup, why)) {
        return false;
    }
    const struct mechanisms said = *setup->mechanisms;
    setup_resolve_native(setup);
    if (!resolve_workload(scenario, out, why) || !read_hardware(scenario, out, why)) {
        return false;
    }
    setup->host_share = point_serves(out) ? point_host_share(out) : 0;
    return resolve_engine(scenario, out, why) && resolve_bands(out, why) &&
           resolve_trace(scenario, out, why) && resolve_importance(files, out, why) &&
           check_drafts(scenario, out, why) && check_disk(scenario, out, why) &&
           check_scores(*merged, setup, why) &&
           resolve_canonical(scenario, &said, *merged, out, why);
}

bool resolve_point(const struct scenario *scenario, struct point *out, struct error *why)
{
    struct node *merged = NULL;
    point_init(out);
    out->sources = sources_hold(scenario->sources);
    bool good = resolve_merged(scenario, &merged, out, why);
    node_destroy(merged);
    if (!good) {
        point_release(out);
    }
    return good;
}
