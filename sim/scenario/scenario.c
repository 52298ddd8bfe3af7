/* Merges files and overrides, and enumerates the points of a sweep. */
#include "scenario/scenario.h"

#include "base/array.h"
#include "base/named.h"
#include "base/version.h"
#include "policy/policy.h"
#include "scenario/resolve.h"
#include "scenario/resolve_parallel.h"
#include "scenario/resolve_requests.h"
#include "scenario/scenario_layers.h"
#include "scenario/scenario_meant.h"
#include "scenario/scenario_names.h"
#include "serve/requests/arrivals.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define MOST_POINTS 1000000u
#define POLICY "mechanisms.policy"

static const char *const prompt_words[] = {"context", "none", NULL};
static const char *const output_words[] = {"none", NULL};
static const char *const batch_words[] = {"max", NULL};
static const char *const steps_words[] = {"all", NULL};
static const char *const room_words[] = {"none", NULL};
static const char *const warmup_words[] = {"auto", NULL};

const struct scenario_key scenario_keys[] = {
    {"model", "llama-3-8b",
     "name or Hugging Face id of a shipped model, folder with a config.json, or its path",
     .shape = SCENARIO_NAME, .named = &named_model},
    {"config", "{sliding_window: 4096}",
     "keys in place of those of the model's config.json; also model.KEY=VALUE in an override",
     .shape = SCENARIO_CONFIG},
    {"hardware", "a40", "machine, or {gpu: a40, link: pcie5-x16, host: epyc-9654}",
     .shape = SCENARIO_MACHINE},
    {"system", "retroinfer", "preset of scenarios/systems, or a path", .shape = SCENARIO_NAME,
     .named = &named_system},
    {"trace", "smollm2-135m",
     "decode trace or trace profile, by name or path; ensemble: the recordings of three small "
     "models; or assumed:hit=93%,spread=5%",
     .shape = SCENARIO_TRACE},
    {"context", "131072",
     "tokens per sequence; 128K is 131072; default with a prompt: prompt + output / 2",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .positive = true},
    {"contexts", "{4K: 1, 128K: 2}",
     "instead of 'context': number of sequences, or share of the batch, by context; or a list with "
     "one per sequence",
     .shape = SCENARIO_CONTEXTS},
    {"prompt", "1920",
     "tokens per sequence that prefill computes; or context: all before half the output",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .words = prompt_words, .positive = true},
    {"output", "128", "tokens generated after the prompt; adds e2e_tokens_per_s",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .words = output_words, .positive = true},
    {"batch", "1", "sequences, or max: as many as fit", .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT,
     .words = batch_words, .positive = true},
    {"steps", "32", "steps to report; default: all of the trace", .shape = SCENARIO_WHOLE,
     .unit = UNIT_COUNT, .words = steps_words, .positive = true},
    {"warmup", "auto", "steps replayed before them; default: half of the trace",
     .shape = SCENARIO_WHOLE, .unit = UNIT_COUNT, .words = warmup_words},
    {"seed", "1", "seed of random arrivals, generated traces and the spread of assumed ones",
     .shape = SCENARIO_WHOLE},
    {"order", "batch", "batch, or sequential: one unit after the other", .shape = SCENARIO_WORD,
     .words = policy_orders},
    {"tensor_parallel", "1", "GPUs that split each layer", .shape = SCENARIO_WHOLE,
     .positive = true},
    {"data_parallel", "1", "ranks with sequences of their own, which share the experts of a model",
     .shape = SCENARIO_WHOLE, .positive = true},
    {"expert_parallel", "1", "groups of GPUs that have a part of the experts each",
     .shape = SCENARIO_WHOLE, .positive = true},
    {"pipeline_parallel", "1", "stages of layers, each on GPUs of its own", .shape = SCENARIO_WHOLE,
     .positive = true},
    {"decode_context_parallel", "1",
     "parts of a sequence's tokens, each on GPUs with equal KV heads", .shape = SCENARIO_WHOLE,
     .positive = true},
    {"expert_exchange", "all-gather", "how ranks share experts: all-gather or all-to-all of tokens",
     .shape = SCENARIO_WORD, .words = parallel_exchanges},
    {"expert_skew", "0.5", "exponent of Zipf's law by which experts are chosen; 0: all alike",
     .shape = SCENARIO_NUMBER, .unit = UNIT_COUNT, .most = 10},
    {"dtype", "{weights: fp8, kv: fp8}",
     "bf16, fp8, int8, int4, mxfp4 or nvfp4; default: the model's", .shape = SCENARIO_DTYPES},
    {"drafts", "{count: 3, method: eagle3, acceptance: 70%}",
     "speculative decoding: tokens that a step drafts and verifies; default: none",
     .shape = SCENARIO_DRAFTS},
    {"hbm_usable", "90%", "share of HBM that may be used; default: the engine's, or 90%",
     .shape = SCENARIO_NUMBER, .unit = UNIT_SHARE, .positive = true, .most = 1},
    {"hbm_reserve", "2GiB", "HBM kept free within that share", .shape = SCENARIO_WHOLE,
     .unit = UNIT_BYTES},
    {"kv_pool_tokens", "41408", "tokens of KV in HBM, instead of what fits",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .words = room_words, .serving = true,
     .positive = true},
    {"host_memory", "256GiB",
     "host memory that may be taken whole; what a machine has is hardware.host.dram_capacity",
     .shape = SCENARIO_WHOLE, .unit = UNIT_BYTES, .words = room_words, .serving = true,
     .positive = true},
    {"disk_space", "1TB", "bytes of the machine's drives for prefixes; default: all",
     .shape = SCENARIO_WHOLE, .unit = UNIT_BYTES, .words = room_words, .serving = true,
     .positive = true},
    {"pool_space", "8TB", "bytes of the machine's pool for prefixes; default: all",
     .shape = SCENARIO_WHOLE, .unit = UNIT_BYTES, .words = room_words, .serving = true,
     .positive = true},
    {"workload", "requests.jsonl",
     "file of requests (Mooncake, Bailian, LLMServingSim, Azure, BurstGPT, vLLM, or what a "
     "benchmark kept), or synthetic:prompt=1000,output=200; "
     "replaces context and batch",
     .shape = SCENARIO_TEXT, .serving = true},
    {"rate", "2.5", "requests per second, drawn; default: the workload's own arrivals",
     .shape = SCENARIO_NUMBER, .serving = true, .positive = true},
    {"burstiness", "1", "shape of the gamma distribution of arrival gaps; 1: a Poisson process",
     .shape = SCENARIO_NUMBER, .serving = true, .positive = true},
    {"arrivals", "constant",
     "random, by 'rate' and 'burstiness'; constant: by 'rate', with equal gaps; at-once: all at the "
     "beginning",
     .shape = SCENARIO_WORD, .words = arrivals_names, .serving = true},
    {"warm_requests", "16",
     "requests of the workload that come first, warm the prefix cache, and count in no figure",
     .shape = SCENARIO_WHOLE, .serving = true, .positive = true},
    {"clients", "16", "clients that send their next request when the last one ends",
     .shape = SCENARIO_WHOLE, .serving = true, .positive = true},
    {"time_scale", "2", "factor by which arrival gaps are stretched", .shape = SCENARIO_NUMBER,
     .serving = true, .positive = true},
    {"limit", "1000", "use only the first requests of the workload", .shape = SCENARIO_WHOLE,
     .serving = true, .positive = true},
    {"hash_tokens", "16",
     "tokens of a hash in the workload, or of a chunk of its token ids; default: its format's",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .serving = true, .positive = true},
    {"timed", "no", "no: without a clock, only the prefixes found, request by request",
     .shape = SCENARIO_SWITCH, .serving = true},
    {"replicas", "4", "servers behind one router", .shape = SCENARIO_WHOLE, .serving = true,
     .positive = true},
    {"routing", "prefix",
     "round-robin; or prefix: to the server that saw most of the prompt; or, by the load of the "
     "moment, least-requests, two-choices, prefix-load or scores",
     .shape = SCENARIO_WORD, .words = routing_names, .serving = true},
    {"cache_threshold", "30%",
     "routing prefix-load: share of a prompt that a server must have seen to get it again",
     .shape = SCENARIO_NUMBER, .unit = UNIT_SHARE, .serving = true, .most = 1},
    {"balance_abs_threshold", "64",
     "routing prefix-load: requests by which servers may differ before load decides",
     .shape = SCENARIO_WHOLE, .serving = true},
    {"balance_rel_threshold", "1.5",
     "routing prefix-load: factor by which requests may differ, as well, before load decides",
     .shape = SCENARIO_NUMBER, .serving = true},
    {"engine", "vllm-0.19",
     "engine and version whose limits and memory a server has; default: the system's; or none",
     .shape = SCENARIO_ENGINE, .words = server_engine_names, .serving = true},
    {"compile", "warm",
     "torch.compile at a server's start: cold (an empty cache), warm, or eager: no graphs, either",
     .shape = SCENARIO_WORD, .words = server_compile_names, .serving = true},
    {"max_sequences", "256", "most sequences of a server's step; default: the engine's",
     .shape = SCENARIO_WHOLE, .serving = true, .positive = true},
    {"batched_tokens", "2048", "most tokens of a server's step; default: the engine's",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .serving = true, .positive = true},
    {"request_tokens", "32K",
     "most tokens of a request, prompt and output together, as vLLM's --max-model-len; the server "
     "refuses longer ones",
     .shape = SCENARIO_WHOLE, .unit = UNIT_TOKENS, .serving = true, .positive = true},
    {"slo", "{ttft_ms: 2000, tpot_ms: 60}", "objectives that goodput counts",
     .shape = SCENARIO_OBJECTIVES, .serving = true},
    {"mechanisms", "{sync: gpu}", "overrides of the system's mechanisms",
     .shape = SCENARIO_MECHANISMS},
    {"sweep", "{context: [32768, 131072]}", "keys with lists: one run for each combination",
     .shape = SCENARIO_SWEEP},
    {.name = NULL},
};

const struct scenario_key *scenario_key_find(const char *name, size_t length)
{
    const struct scenario_key *key = scenario_keys;
    while (key->name != NULL &&
           (strlen(key->name) != length || strncmp(key->name, name, length) != 0)) {
        key++;
    }
    return key->name != NULL ? key : NULL;
}

/* Several values stand under `sweep`, and only contexts are a list themselves. */
static bool check_lists(const struct node *root, struct error *why)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct node *child = root->children[i];
        const struct scenario_key *key = scenario_key_find(child->key, strlen(child->key));
        assert(key != NULL); /* unknown keys were refused */
        if (child->kind == NODE_LIST && key->shape != SCENARIO_CONTEXTS &&
            key->shape != SCENARIO_SWEEP) {
            node_error(child, why, "'%s' is a list", child->key);
            return error_expect(why,
                                "a single value; or, to run each, the list as sweep.%s=[...] or "
                                "under 'sweep:' in a file",
                                child->key);
        }
    }
    return true;
}

static bool scenario_check_keys(const struct node *root, struct error *why)
{
    const char *keys[64];
    size_t count = 0;
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        keys[count++] = key->name;
    }
    keys[count] = NULL;
    if (node_check_keys(root, keys, "scenario", why)) {
        return check_lists(root, why);
    }
    size_t at = 0;
    while (at < root->count &&
           scenario_key_find(root->children[at]->key, strlen(root->children[at]->key)) != NULL) {
        at++;
    }
    const char *meant = at < root->count ? scenario_key_meant(root->children[at]->key) : NULL;
    if (meant != NULL) {
        error_nearest(why, meant);
        error_expect(why, "%s, ...", meant);
    }
    return error_rest(why, "spillway simulate --help");
}

/* Turn a name where a map is allowed into {extends: name}, so that overrides can reach inside. */
static bool open_name(struct node *root, const char *path, const struct node *name,
                      struct error *why)
{
    if (name == NULL || name->kind != NODE_SCALAR) {
        return true;
    }
    struct node *map = node_parse("{extends: x}", 12, name->file, why);
    bool good =
        map != NULL && node_put(map, "extends", name, why) && node_put(root, path, map, why);
    node_destroy(map);
    return good;
}

/* Turn `hardware` and its parts into maps. */
static bool open_hardware(struct node *root, struct error *why)
{
    bool good = true;
    for (const struct machine_place *at = machine_places; good && at->path != NULL; at++) {
        good = open_name(root, at->path, node_find(root, at->path), why);
    }
    return good;
}

/* Lay `map`, whose names are open, over `root`. */
static bool lay_opened(struct node *root, const struct node *map, struct error *why)
{
    return policy_open(root, POLICY, map, why) && node_merge(root, map, why);
}

/* Lay `map` over `root`; its names are opened first. */
static bool scenario_lay_map(struct node *root, struct node *map, struct error *why)
{
    return scenario_check_keys(map, why) && open_hardware(map, why) &&
           scenario_spell_names(map, why) && lay_opened(root, map, why);
}

static bool lay_file(struct node *root, const char *path, struct error *why)
{
    struct node *file = node_load(path, why);
    if (file == NULL) {
        return access(path, F_OK) == 0
                   ? false
                   : error_expect(why, "a file of YAML, or a key as --set %.100s",
                                  strchr(path, '=') != NULL ? path : "KEY=VALUE");
    }
    bool good = file->kind == NODE_MAP;
    if (!good) {
        error_set(why, path, 1, "not a scenario");
        error_expect(why, "a map with 'model', 'hardware', 'system' and 'context'");
    }
    good = good && scenario_check_keys(file, why) && open_hardware(file, why) &&
           scenario_spell_names(file, why) && layer_check(file, why) &&
           layer_end_sweeps(root, file, why) && lay_opened(root, file, why);
    node_destroy(file);
    return good;
}

/* A key of the sweep is a path, with its dots, and a single key of the map `sweep`. */
static bool lay_swept(struct node *root, const char *path, const char *values, struct error *why)
{
    size_t size = strlen(path) + strlen(values) + sizeof "{\"\": }";
    char *text = array_zeroed(size, 1, why);
    if (text == NULL) {
        return false;
    }
    snprintf(text, size, "{\"%s\": %s}", path, values);
    struct node *map = node_parse("{}", 2, "--set", why);
    bool good = map != NULL && node_set(map, "sweep", text, why) && node_merge(root, map, why);
    node_destroy(map);
    free(text);
    return good;
}

/* Is a map one value, whose parts only apply together? A figure of a machine is, and contexts. */
static bool is_one_value(const char *path, const struct node *map)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    return (key != NULL && key->shape == SCENARIO_CONTEXTS) || node_get(map, "value") != NULL ||
           node_get(map, "points") != NULL;
}

/* A map is laid over a map key by key, as one of a file would be, and so are a policy's name and
 * its parameters. Any other value replaces what is there. */
static bool lay_said(struct node *root, const char *path, const char *text, struct error *why)
{
    const struct node *there = node_find(root, path);
    bool is_map = there != NULL && there->kind == NODE_MAP && !is_one_value(path, there);
    bool inside = strncmp(path, POLICY ".", strlen(POLICY ".")) == 0;
    if (!is_map && !inside) {
        return node_set(root, path, text, why);
    }
    struct node *map = node_parse("{}", 2, "--set", why);
    bool good = map != NULL && node_set(map, path, text, why) &&
                policy_open(map, POLICY, root, why); /* parameters may be set before the name */
    if (good) {
        good = inside || node_find(map, path)->kind == NODE_MAP
                   ? open_hardware(map, why) && lay_opened(root, map, why)
                   : node_set(root, path, text, why);
    }
    node_destroy(map);
    return good;
}

/* Overrides are looked at before files are read: the second word of "--set model llama" would
 * otherwise be a file that is not there. */
static bool check_override(const char *override, struct error *why)
{
    const char *equals = strchr(override, '=');
    if (equals != NULL && equals != override) {
        return true;
    }
    error_usage(why, "--set", 0, "invalid override '%.200s'", override);
    return error_expect(why, "KEY=VALUE, such as batch=8 or mechanisms.sync=gpu");
}

/* A value that is no YAML says which one it is. */
static bool name_value(const char *key, struct error *why)
{
    return strncmp(why->found, "not YAML", strlen("not YAML")) != 0
               ? false
               : error_expect(why, "a value of '%.100s' in YAML, such as 128K, [8K, 16K] or {a: b}",
                              key);
}

/* Several values of a key with one are a sweep. Other texts may have commas: a workload, an assumed
 * hit ratio, a map or list. */
static bool scenario_check_single(const char *path, const char *text, struct error *why)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    bool many = key != NULL && key->shape == SCENARIO_CONTEXTS;
    if (many || strchr(text, ',') == NULL || text[strcspn(text, "[]{}:=/\"'")] != '\0') {
        return true;
    }
    bool swept = strncmp(path, "sweep.", strlen("sweep.")) == 0;
    error_usage(why, "--set", 0, "'%.100s' takes %s, not '%.100s'", path,
                swept ? "a list in brackets" : "one value", text);
    return error_expect(why, "--set '%s%.100s=[%.100s]' for a run with each", swept ? "" : "sweep.",
                        path, text);
}

/* "model.KEY" is a key of the model's config.json. */
const char *scenario_config_prefix(const char *override, int *length)
{
    int model = (int)strlen("model.");
    if (*length <= model || strncmp(override, "model.", (size_t)model) != 0) {
        return "";
    }
    *length -= model;
    return "config.";
}

static bool lay_override(struct node *root, const char *override, struct error *why)
{
    const char *equals = strchr(override, '=');
    char path[256];
    int length = (int)(equals - override);
    if ((size_t)length >= sizeof path) {
        return error_usage(why, "--set", 0, "the key of '%.100s' is too long", override);
    }
    const char *prefix = scenario_config_prefix(override, &length);
    snprintf(path, sizeof path, "%s%.*s", prefix, length, equals - length);
    bool swept = strncmp(path, "sweep.", strlen("sweep.")) == 0;
    return scenario_check_single(path, equals + 1, why) &&
           ((swept ? lay_swept(root, path + strlen("sweep."), equals + 1, why)
                   : lay_said(root, path, equals + 1, why)) ||
            name_value(path, why)) &&
           scenario_check_keys(root, why) && open_hardware(root, why) &&
           scenario_spell_names(root, why);
}

static bool scenario_count_points(struct scenario *scenario, struct error *why)
{
    uint64_t points = 1;
    if (scenario->sweep != NULL && scenario->sweep->kind != NODE_MAP) {
        node_error(scenario->sweep, why, "'sweep' must be a map");
        return error_expect(why, "keys with lists, such as context: [32768, 131072]");
    }
    for (size_t i = 0; scenario->sweep != NULL && i < scenario->sweep->count; i++) {
        const struct node *list = scenario->sweep->children[i];
        if (strcmp(list->key, "sweep") == 0 || strncmp(list->key, "sweep.", 6) == 0) {
            return node_error(list, why, "a sweep cannot be swept");
        }
        if (list->kind != NODE_LIST || list->count == 0) {
            node_error(list, why, "'%s' in 'sweep' must be a list", list->key);
            return error_expect(why, "at least one value in [ ]");
        }
        points *= list->count;
        if (points > MOST_POINTS) {
            return node_error(list, why, "the sweep has more than %u points", MOST_POINTS);
        }
    }
    scenario->points = (uint32_t)points;
    return true;
}

/* All overrides are one layer. They are gathered first and then laid one by one, because an
 * override may also replace a map. */
static bool scenario_lay_overrides(struct node *root, const char *const *overrides, uint32_t count,
                                   struct error *why)
{
    struct node *layer = node_parse("{}", 2, "--set", why);
    bool good = layer != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        good = lay_override(layer, overrides[i], why);
    }
    good = good && layer_check(layer, why) && layer_end_sweeps(root, layer, why);
    for (uint32_t i = 0; good && i < count; i++) {
        good = lay_override(root, overrides[i], why);
    }
    node_destroy(layer);
    return good;
}

bool scenario_load(const char *const *files, uint32_t file_count, const char *const *overrides,
                   uint32_t override_count, struct scenario *out, struct error *why)
{
    *out = (struct scenario){0};
    if (file_count + override_count == 0) {
        error_usage(why, NULL, 0, "no scenario");
        return error_expect(why, "a file, or --set model=... hardware=... system=... context=...");
    }
    out->root = node_parse("{}", 2, "scenario", why);
    out->sources = sources_create(why);
    bool good = out->root != NULL && out->sources != NULL;
    for (uint32_t i = 0; good && i < override_count; i++) {
        good = check_override(overrides[i], why);
    }
    for (uint32_t i = 0; good && i < file_count; i++) {
        good = lay_file(out->root, files[i], why);
    }
    good = good && scenario_lay_overrides(out->root, overrides, override_count, why);
    if (good) {
        const struct node *sweep = node_said(out->root, "sweep");
        out->sweep = sweep != NULL ? node_copy(sweep, why) : NULL;
        good = (sweep == NULL || out->sweep != NULL) && scenario_count_points(out, why) &&
               scenario_check_names(out->sweep, why);
    }
    if (!good) {
        scenario_release(out);
    }
    return good;
}

void scenario_release(struct scenario *scenario)
{
    node_destroy(scenario->root);
    node_destroy(scenario->sweep);
    for (uint32_t i = 0; scenario->cases != NULL && i < scenario->points; i++) {
        node_destroy(scenario->cases[i]);
    }
    free(scenario->cases);
    sources_release(scenario->sources);
    *scenario = (struct scenario){0};
}

bool scenario_copy(const struct scenario *from, struct scenario *out, struct error *why)
{
    *out = (struct scenario){
        .root = node_copy(from->root, why), .points = 1, .sources = sources_hold(from->sources)};
    return out->root != NULL;
}

bool scenario_hash(const struct scenario *scenario, char hash[17], struct error *why)
{
    char *text = node_canonical(scenario->root, why);
    if (text == NULL) {
        return false;
    }
    uint64_t all = XXH64(text, strlen(text), 0);
    all = XXH64(spillway_program, strlen(spillway_program), all);
    for (size_t i = 0; scenario->sweep != NULL && i < scenario->sweep->count; i++) {
        const char *key = scenario->sweep->children[i]->key;
        all = XXH64(key, strlen(key) + 1, all);
    }
    snprintf(hash, 17, "%016" PRIx64, all);
    free(text);
    return true;
}

/* Lay one swept value over `root`, as a file with that value would be: overrides inside a swept map
 * or machine apply at every point. */
static bool scenario_lay_value(struct node *root, const char *path, const struct node *value,
                               struct error *why)
{
    struct node *map = node_parse("{}", 2, value->file, why);
    bool good = map != NULL && node_put(map, path, value, why) && scenario_lay_map(root, map, why);
    node_destroy(map);
    return good;
}

static bool lay_case(struct node *root, const struct node *map, struct error *why)
{
    struct node *copy = node_copy(map, why);
    bool good = copy != NULL && scenario_lay_map(root, copy, why);
    node_destroy(copy);
    return good;
}

/* Lay the case, or the values of point `index`, in the order of the keys, the last one fastest. */
static bool lay_point(const struct scenario *scenario, uint32_t index, struct node *root,
                      struct error *why)
{
    uint32_t stride = scenario->points;
    if (scenario->cases != NULL) {
        return lay_case(root, scenario->cases[index], why);
    }
    for (size_t i = 0; scenario->sweep != NULL && i < scenario->sweep->count; i++) {
        const struct node *list = scenario->sweep->children[i];
        stride /= (uint32_t)list->count;
        if (!scenario_lay_value(root, list->key, list->children[index / stride % list->count],
                                why)) {
            return false;
        }
    }
    return true;
}

bool scenario_init(struct scenario *out, struct error *why)
{
    *out = (struct scenario){.root = node_parse("{}", 2, "scenario", why), .points = 1};
    return out->root != NULL;
}

bool scenario_lay(struct scenario *scenario, const struct node *map, struct error *why)
{
    bool good = lay_case(scenario->root, map, why);
    const struct node *sweep = node_get(scenario->root, "sweep");
    if (good && sweep != NULL) {
        good = node_error(sweep, why, "a single run cannot be swept");
    }
    return good;
}

bool scenario_sweep(struct scenario *scenario, const char *key, const char *values,
                    struct error *why)
{
    struct node *root = node_parse("{}", 2, "--set", why);
    bool good =
        root != NULL && lay_swept(root, key, values, why) && scenario_spell_names(root, why);
    const struct node *sweep = node_get(root, "sweep");
    if (good && scenario->sweep == NULL) {
        good = (scenario->sweep = node_copy(sweep, why)) != NULL;
    } else if (good) {
        good = node_merge(scenario->sweep, sweep, why);
    }
    node_destroy(root);
    return good && scenario_count_points(scenario, why) &&
           scenario_check_names(scenario->sweep, why);
}

bool scenario_add_case(struct scenario *scenario, const struct node *map, struct error *why)
{
    uint32_t count = scenario->cases == NULL ? 0 : scenario->points;
    struct node *copy = node_copy(map, why);
    if (copy == NULL || !array_reserve(&scenario->cases, &scenario->case_capacity, count + 1,
                                       sizeof(struct node *), why)) {
        node_destroy(copy);
        return false;
    }
    scenario->cases[count] = copy;
    scenario->points = count + 1;
    return true;
}

bool scenario_serves(const struct scenario *scenario)
{
    static const char *const keys[] = {"workload", "rate", "clients", "arrivals"};
    bool serves = false;
    for (int i = 0; i < 4; i++) {
        serves = serves || node_said(scenario->root, keys[i]) != NULL ||
                 node_get(scenario->sweep, keys[i]) != NULL;
    }
    return serves;
}

bool scenario_point(const struct scenario *scenario, uint32_t index, struct point *out,
                    struct error *why)
{
    struct sources *sources =
        scenario->sources != NULL ? sources_hold(scenario->sources) : sources_create(why);
    struct node *root = node_copy(scenario->root, why);
    bool good = root != NULL && sources != NULL && lay_point(scenario, index, root, why) &&
                requests_lay_context(root, sources, why) && resolve_point(root, sources, out, why);
    node_destroy(root);
    sources_release(sources);
    return good;
}
