/* The keys of a version in a file of engines/ (its README.md says what they mean). */
#include "core/array.h"
#include "core/node_fields.h"
#include "server/server_engine_read.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- keys ---- */

/* Bounds of what a step can have, and of times. */
#define COUNTED .most = UINT32_MAX
#define TOKENS .unit = UNIT_TOKENS, .most = UINT32_MAX
#define TIME .unit = UNIT_NS, .most = 3600000000000

static const char *const memory_words[] = {"share", "measured", "rest", NULL};
static const char *const sampler_words[] = {"none", "sort", "triton", "flashinfer", NULL};
static const char *const kind_words[] = {"pinned", "shared", NULL};
static const char *const rounding_words[] = {
    "exact", "pages", "powers-of-two", "each-pool", "first-of-latents", NULL};

static const struct node_field gpu_fields[] = {
    NODE_FIELD("from", REAL, server_engine_gpus, from, .unit = UNIT_BYTES),
    NODE_FIELD("except", TEXT, server_engine_gpus, except),
    NODE_FIELD("max_sequences", WHOLE, server_engine_gpus, sequences, COUNTED),
    NODE_FIELD("batched_tokens", WHOLE, server_engine_gpus, batched_tokens, TOKENS),
    NODE_FIELD("graphs", WHOLE, server_engine_gpus, graphs, COUNTED),
    NODE_FIELD("graphs_of_4", WHOLE, server_engine_gpus, graphs_of_4, COUNTED),
    {.key = NULL}};
static const struct node_field size_fields[] = {
    NODE_FIELD("to", WHOLE, server_engine_sizes, to, COUNTED),
    NODE_FIELD("step", WHOLE, server_engine_sizes, step, COUNTED),
    {.key = NULL}};
static const struct node_field reserved_fields[] = {
    NODE_FIELD("fixed", REAL, server_engine_reserved, fixed, .unit = UNIT_BYTES),
    NODE_FIELD("token", REAL, server_engine_reserved, token, .unit = UNIT_BYTES),
    NODE_FIELD("tokens", WHOLE, server_engine_reserved, tokens, TOKENS),
    NODE_FIELD("graph", REAL, server_engine_reserved, graph, .unit = UNIT_BYTES),
    NODE_FIELD("gpu", REAL, server_engine_reserved, gpu, .unit = UNIT_BYTES),
    NODE_FIELD("above", REAL, server_engine_reserved, above, .unit = UNIT_BYTES),
    NODE_FIELD("least", REAL, server_engine_reserved, least, .unit = UNIT_BYTES),
    {.key = NULL}};
static const struct node_field runner_fields[] = {
    NODE_FIELD("sampler", WORD, server_engine_runner, sampler, .words = sampler_words),
    NODE_FIELD("takes_graphs", YES, server_engine_runner, takes_graphs),
    NODE_FIELD("kept_buffers", YES, server_engine_runner, kept_buffers),
    {.key = NULL}};
static const struct node_field group_fields[] = {
    NODE_FIELD("block", WHOLE, server_engine_groups, block, TOKENS),
    NODE_FIELD("latents", WHOLE, server_engine_groups, latents, TOKENS),
    NODE_FIELD("alignment", WHOLE, server_engine_groups, alignment, TOKENS),
    NODE_FIELD("steps", WHOLE, server_engine_groups, steps, COUNTED),
    NODE_FIELD("alike", REAL, server_engine_groups, alike),
    NODE_FIELD("states_full", YES, server_engine_groups, states_full),
    {.key = NULL}};
static const struct node_field pool_fields[] = {
    NODE_FIELD("windows", REAL, server_engine_pools, windows),
    NODE_FIELD("states", REAL, server_engine_pools, states),
    NODE_FIELD("slots", WHOLE, server_engine_pools, slots, COUNTED),
    {.key = NULL}};
static const struct node_field path_fields[] = {
    NODE_FIELD("prompt_token", WHOLE, server_path, prompt_token_ns, TIME),
    NODE_FIELD("request", WHOLE, server_path, request_ns, TIME),
    NODE_FIELD("output_token", WHOLE, server_path, output_token_ns, TIME),
    NODE_FIELD("sequence", WHOLE, server_path, sequence_ns, TIME),
    NODE_FIELD("gap", WHOLE, server_path, gap_ns, TIME),
    NODE_FIELD("overlaps", YES, server_path, overlaps),
    NODE_FIELD("prompts_alone", YES, server_path, prompts_alone),
    NODE_FIELD("prompts_launched", YES, server_path, prompts_launched),
    NODE_FIELD("one_call", YES, server_path, one_call),
    NODE_FIELD("reserves", YES, server_path, reserves),
    NODE_FIELD("reserves_all", YES, server_path, reserves_all),
    NODE_FIELD("whole_prompts", YES, server_path, whole_prompts),
    {.key = NULL}};
static const struct node_field host_fields[] = {
    NODE_FIELD("of", TEXT, host_engine, engine),
    NODE_FIELD("versions", TEXT, host_engine, versions),
    NODE_FIELD("unit", REAL, host_engine, unit, .unit = UNIT_BYTES),
    NODE_FIELD("each", YES, host_engine, each),
    NODE_FIELD("whole", YES, host_engine, whole),
    NODE_FIELD("above_gpu", YES, host_engine, above_gpu),
    NODE_FIELD("memory", WORD, host_engine, kind, .words = kind_words),
    NODE_FIELD("rounding", WORD, host_engine, rounding, .words = rounding_words),
    NODE_FIELD("source", TEXT, host_engine, source),
    {.key = NULL}};

/* A version, and what of it is read by code of its own. */
struct version_read {
    struct server_engine engine;
    const struct node *gpus, *graphs, *dense, *host_memory;
    const char *extends; /* was followed before */
};
static const struct node_field version_fields[] = {
    NODE_FIELD("extends", TEXT, version_read, extends),
    NODE_FIELD("summary", TEXT, version_read, engine.summary),
    NODE_FIELD("source", TEXT, version_read, engine.source),
    NODE_FIELD("compared", YES, version_read, engine.compared),
    NODE_FIELD("gpus", NODE, version_read, gpus),
    NODE_FIELD("kv_memory", WORD, version_read, engine.memory, .words = memory_words),
    NODE_FIELD("usable", REAL, version_read, engine.usable, .unit = UNIT_SHARE),
    NODE_FIELD("reserved", MAP, version_read, engine.reserved, .inside = reserved_fields),
    NODE_FIELD("kernels", REAL, version_read, engine.kernel_bytes, .unit = UNIT_BYTES),
    NODE_FIELD("runner", MAP, version_read, engine.runner, .inside = runner_fields),
    NODE_FIELD("dense", NODE, version_read, dense),
    NODE_FIELD("graphs", NODE, version_read, graphs),
    NODE_FIELD("mxfp4_fp8", YES, version_read, engine.mxfp4_fp8),
    NODE_FIELD("caches_states", YES, version_read, engine.caches_states),
    NODE_FIELD("groups", MAP, version_read, engine.groups, .inside = group_fields),
    NODE_FIELD("pools", MAP, version_read, engine.pools, .inside = pool_fields),
    NODE_FIELD("path", MAP, version_read, engine.path, .inside = path_fields),
    NODE_FIELD("host_memory", NODE, version_read, host_memory),
    {.key = NULL}};

/* ---- reading a version ---- */

static bool read_host(const struct node *map, struct server_engine *out, struct error *why)
{
    if (map == NULL) {
        return true;
    }
    struct host_engine *all = array_zeroed(map->count, sizeof *all, why);
    bool good = all != NULL &&
                (map->kind == NODE_MAP || node_error(map, why, "'host_memory' is no map of flags"));
    for (size_t i = 0; good && i < map->count; i++) {
        const struct node *node = map->children[i];
        all[i].flag = node->key;
        good = node_fields_read(node, host_fields, node->key, &all[i], why);
        if (good && (all[i].unit == 0 || all[i].engine == NULL || all[i].versions == NULL ||
                     all[i].source == NULL)) {
            node_error(node, why, "'%s' is incomplete", node->key);
            good = error_expect(why, "unit, of, versions and source");
        }
    }
    if (!good) {
        free(all);
        return false;
    }
    out->host = all;
    out->host_count = map->count;
    return true;
}

static bool has_limits(const struct server_engine *engine)
{
    bool good = engine->gpu_count > 0 && engine->gpus[0].from == 0;
    for (uint32_t i = 0; i < engine->gpu_count; i++) {
        good = good && engine->gpus[i].sequences > 0 && engine->gpus[i].batched_tokens > 0;
    }
    return good;
}

static bool sizes_rise(const struct server_engine *engine)
{
    bool good = true;
    for (uint32_t i = 0; i < engine->size_count; i++) {
        const struct server_engine_sizes *size = &engine->sizes[i];
        good = good && size->step > 0 && (i == 0 || size->to > size[-1].to);
    }
    return good;
}

/* The first key without which, or with whose value, nothing can be computed; NULL if there is none.
 * `*expected` says what it should be. */
static const char *wrong_key(const struct server_engine *engine, const char **expected)
{
    const struct server_engine_groups *groups = &engine->groups;
    const struct {
        bool wrong;
        const char *key, *expected;
    } rules[] = {
        {engine->summary == NULL, "summary", "what is new in it, in a line"},
        {engine->source == NULL, "source", "the version and the files of its source, or the page"},
        {!has_limits(engine), "gpus",
         "rows of max_sequences and batched_tokens, the first one without 'from'"},
        {!sizes_rise(engine), "graphs", "rows such as {to: 256, step: 8}, whose 'to' rises"},
        {engine->usable > 1, "usable", "a share of at most 100%"},
        {groups->block > 0 && (groups->latents == 0 || groups->alignment == 0 ||
                               groups->steps == 0 || groups->alike < 1),
         "groups", "block, latents, alignment, steps, and alike of at least 1"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].wrong) {
            *expected = rules[i].expected;
            return rules[i].key;
        }
    }
    return NULL;
}

static bool check_engine(const struct node *own, const char *name,
                         const struct server_engine *engine, struct error *why)
{
    const char *expected, *key = wrong_key(engine, &expected);
    if (key == NULL) {
        return true;
    }
    node_key_error(own, key, why, "engine '%s' %s '%s'", name,
                   node_get(own, key) != NULL ? "has an invalid" : "lacks", key);
    return error_expect(why, "%s", expected);
}

/* A hash of what decides figures. */
static bool hash_content(const struct node *merged, uint64_t *out, struct error *why)
{
    static const char *const told[] = {"extends", "summary", "source"};
    struct node *copy = node_copy(merged, why);
    for (size_t i = 0; copy != NULL && i < sizeof told / sizeof *told; i++) {
        node_remove(copy, told[i]);
    }
    char *text = copy != NULL ? node_canonical(copy, why) : NULL;
    *out = text != NULL ? XXH64(text, strlen(text), 0) : 0;
    node_destroy(copy);
    free(text);
    return *out != 0;
}

bool server_engine_read(const struct node *own, const struct node *merged, const char *name,
                        struct server_engine *out, struct error *why)
{
    struct version_read all = {.engine.row = name};
    struct server_engine *engine = &all.engine;
    if (!node_fields_read(merged, version_fields, name, &all, why) ||
        !node_fields_list(all.gpus, gpu_fields, sizeof *engine->gpus, SERVER_ENGINE_GPUS,
                          engine->gpus, &engine->gpu_count, why) ||
        !node_fields_list(all.graphs, size_fields, sizeof *engine->sizes, SERVER_ENGINE_SIZES,
                          engine->sizes, &engine->size_count, why)) {
        return false;
    }
    engine->dense = engine->runner;
    if (!node_fields_read(all.dense, runner_fields, "dense", &engine->dense, why) ||
        !check_engine(own, name, engine, why) || !hash_content(merged, &engine->content, why) ||
        !read_host(all.host_memory, engine, why)) {
        return false;
    }
    *out = *engine;
    return true;
}
