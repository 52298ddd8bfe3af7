/* Reads the keys of a scenario; a key comes after those that it needs. */
#include "predict/scenario/resolve.h"

#include "decode/draft/draft_keys.h"
#include "model/parallel.h"
#include "policy/policy.h"
#include "predict/scenario/resolve_band.h"
#include "predict/scenario/resolve_canonical.h"
#include "predict/scenario/resolve_check.h"
#include "predict/scenario/contexts.h"
#include "predict/scenario/resolve_trace.h"
#include "predict/scenario/resolve_workload.h"
#include "predict/scenario/scenario_keys.h"
#include "server/server_engine.h"

#include <stdio.h>

static bool read_required_text(const struct node *root, const char *key, const char *example,
                               const struct node **node, const char **text, struct error *why)
{
    *node = resolve_required(root, key, example, why);
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
    const struct node *dtype = node_stated(root, "dtype");
    if (dtype == NULL || dtype->kind != NODE_SCALAR) {
        return true;
    }
    node_error(dtype, why, "'dtype' is '%.60s', for weights or for KV?", dtype->text);
    return error_expect(why, "dtype.weights=%.60s, or dtype.kv=%.60s, or both", dtype->text,
                        dtype->text);
}

bool resolve_gpus(const struct node *root, struct scenario_gpus *out, struct error *why)
{
    enum { MOST_GPUS = 1024 }; /* counts of a server's step stay far below 2^32 */
    *out = (struct scenario_gpus){.tensor = 1,
                                  .parts = {.data = 1, .experts = 1, .pipeline = 1, .context = 1}};
    if (!scenario_keys_read(root, SCENARIO_GPUS, out, why)) {
        return false;
    }
    uint64_t gpus = (uint64_t)out->tensor * out->parts.data * out->parts.pipeline;
    if (gpus <= MOST_GPUS) {
        return true;
    }
    node_key_error(root, "model", why, "the model is spread over %llu GPUs",
                   (unsigned long long)gpus);
    return error_expect(why, "at most %d: tensor_parallel x data_parallel x pipeline_parallel",
                        MOST_GPUS);
}

static bool resolve_read_model(const struct node *root, struct files *files, struct setup *out,
                               struct error *why)
{
    static const char *const dtype_keys[] = {"weights", "kv", NULL};
    const struct node *dtype = node_get(root, "dtype"), *node;
    struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct scenario_gpus gpus;
    const char *name;
    options.config = node_stated(root, "config");
    if (options.config != NULL && options.config->kind != NODE_MAP) {
        return node_error(options.config, why, "'config' is no map") ||
               error_expect(why, "keys of config.json, such as {sliding_window: 4096}");
    }
    if (!read_required_text(root, "model", "llama-3-8b", &node, &name, why) ||
        !check_dtype(root, why) || !node_check_keys(dtype, dtype_keys, "dtype", why) ||
        !resolve_read_dtype(dtype, "weights", &options.weights, why) ||
        !resolve_read_dtype(dtype, "kv", &options.kv, why) || !resolve_gpus(root, &gpus, why)) {
        return false;
    }
    options.tensor_parallel = gpus.tensor;
    return model_load(files, name, &options, node->file, node->line, &out->model, why) &&
           model_share(&out->model, &gpus.parts, node->file, node->line, why) &&
           drafts_read(node_stated(root, "drafts"), files, &out->model, &out->drafts, why);
}

/* Where a version of an engine is given as the system, say how to write both. Returns false. */
static bool expect_engine(const char *name, struct error *why)
{
    struct server_engine engine;
    struct error unread;
    bool version = server_engine_find(name, NULL, 0, &engine, &unread) && engine.row != NULL;
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

/* Check that the profile has all curves that the pipeline will read. */
static bool read_hardware(const struct node *root, struct point *out, struct error *why)
{
    enum curve_id needed[CURVE_COUNT];
    const struct node *node = resolve_required(root, "hardware", "a40", why);
    char needed_by[96];
    if (node == NULL ||
        !profile_load(sources_files(out->sources), node, &out->setup.profile, why) ||
        !resolve_check_machine(root, &out->setup, why)) {
        return false;
    }
    snprintf(needed_by, sizeof needed_by, "system '%s'", out->setup.system.name);
    return profile_require(&out->setup.profile, needed, point_curves(out, needed), needed_by, why);
}

static bool resolve_merged(const struct node *root, struct node **merged, struct point *out,
                           struct error *why)
{
    struct setup *setup = &out->setup;
    struct files *files = sources_files(out->sources);
    if (!resolve_read_model(root, files, setup, why) ||
        !read_system(root, files, merged, setup, why) || !resolve_size(root, setup, why)) {
        return false;
    }
    const struct mechanisms said = setup->mechanisms;
    setup_resolve_native(setup);
    if (!resolve_workload(root, out, why) || !read_hardware(root, out, why)) {
        return false;
    }
    resolve_engine(root, out);
    return resolve_bands(out, why) && resolve_trace(root, out->sources, out, why) &&
           resolve_check_point(root, *merged, out, why) &&
           resolve_canonical(root, &said, *merged, out, why);
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
