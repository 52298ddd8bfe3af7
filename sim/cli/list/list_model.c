/* `spillway list model`: one page for a model. What its layers keep, its weights, the KV of a
 * sequence, and, if an engine is named, how that engine divides its pool. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/list/list.h"
#include "core/node.h"
#include "core/text.h"
#include "core/units.h"
#include "model/layer_kind.h"
#include "model/sharding.h"
#include "model/parameters.h"
#include "predict/scenario/resolve.h"
#include "predict/scenario/scenario_set.h"
#include "predict/server/host_engine.h"
#include "tables/table.h"
#include "model/model.h"
#include "server/server_engine.h"
#include "tables/frame.h"

struct model_page {
    struct model model;
    uint32_t context_parallel; /* GPUs that share the tokens of layers that keep all */
    struct server_engine engine;
    bool hybrid, caches;      /* the engine frees windows; it caches prefixes */
    uint64_t length, batched; /* tokens: of the longest sequence, of a step */
    double pool;              /* bytes of KV on a GPU; 0: not stated */
    double windowed, slots;   /* SGLang: tokens of the window pool for each full one; states */
};

/* The tables of a model's page: its layers, its weights, and the KV of a sequence. */

enum { KEPT_CONTEXTS = 5 };
static const uint64_t contexts[KEPT_CONTEXTS] = {4096, 16384, 65536, 262144, 1048576};

/* ---- layers ---- */

enum { KIND, LAYER_NUMBER, HEADS, TOKEN, WINDOW, FIXED, KEEPS, LAYER_COLUMNS };
static const struct frame_column layer_columns[LAYER_COLUMNS] = {
    [KIND] = {.title = "layers", .key = "kind"},
    [LAYER_NUMBER] = {.title = "count", .key = "layers", .unit = UNIT_WHOLE},
    [HEADS] = {.title = "KV heads", .key = "kv_heads"},
    [TOKEN] = {.title = "bytes a token", .key = "token_bytes", .unit = UNIT_WHOLE},
    [WINDOW] = {.title = "window", .key = "window", .unit = UNIT_WHOLE},
    [FIXED] = {.title = "state", .key = "state_bytes", .unit = UNIT_BYTES},
    [KEEPS] = {.title = "a layer keeps", .key = "keeps", .wrap = true},
};

static bool same_kind(const struct model *model, uint32_t a, uint32_t b)
{
    const struct model_layer *one = &model->layers[a], *other = &model->layers[b];
    return one->attention == other->attention && one->window == other->window &&
           one->ratio == other->ratio && one->shares_kv == other->shares_kv &&
           model_kv_entry_bytes(model, a) == model_kv_entry_bytes(model, b) &&
           layer_index_entry(model, one) == layer_index_entry(model, other);
}

static bool seen_before(const struct model *model, uint32_t layer)
{
    for (uint32_t i = 0; i < layer; i++) {
        if (same_kind(model, i, layer)) {
            return true;
        }
    }
    return false;
}

static void put_kv_heads(const struct model *model, const struct model_layer *layer,
                         struct frame *frame)
{
    bool grouped = layer_kinds[layer->attention].heads;
    uint32_t key = layer_key_dim(model, layer), value = layer_value_dim(model, layer);
    if (layer->attention == ATTENTION_MLA) {
        frame_textf(frame, HEADS, "1 x %u", model->kv_lora + model->rope_dim);
    } else if (layer->attention == ATTENTION_COMPRESSED) {
        frame_textf(frame, HEADS, "1 x %u", key);
    } else if (grouped && key == value) {
        frame_textf(frame, HEADS, "%u x %u", layer_kv_heads(model, layer), key);
    } else if (grouped) {
        frame_textf(frame, HEADS, "%u x %u, %u", layer_kv_heads(model, layer), key, value);
    }
}

static void put_keeps(const struct model *model, const struct model_layer *layer,
                      struct frame *frame)
{
    uint64_t key = layer_index_entry(model, layer);
    if (layer->shares_kv) {
        frame_text(frame, KEEPS, "nothing: it reads the KV of an earlier layer");
    } else if (layer->ratio > 0) {
        frame_textf(frame, KEEPS, "a window, and an entry for %u tokens%s", layer->ratio,
                    key > 0 ? ", with a key of the indexer" : "");
    } else {
        frame_textf(frame, KEEPS, "%s%s", layer_kinds[layer->attention].keeps,
                    key > 0 ? ", and a key of the indexer" : "");
    }
}

static void put_layer(const struct model *model, uint32_t layer, struct frame *frame)
{
    const struct model_layer *at = &model->layers[layer];
    uint32_t count = 0;
    for (uint32_t i = layer; i < model->layer_count; i++) {
        count += same_kind(model, layer, i);
    }
    bool all = !layer_kinds[at->attention].local;
    uint64_t token = model_kv_token_bytes(model, layer) + (all ? layer_index_entry(model, at) : 0);
    uint64_t state = model_state_bytes(model, layer);
    frame_row(frame);
    frame_text(frame, KIND, layer_kinds[at->attention].name);
    frame_number(frame, LAYER_NUMBER, count);
    put_kv_heads(model, at, frame);
    frame_number(frame, TOKEN, token > 0 ? (double)token : NAN);
    frame_number(frame, WINDOW, at->window > 0 ? (double)at->window : NAN);
    frame_number(frame, FIXED, state > 0 ? (double)state : NAN);
    put_keeps(model, at, frame);
}

/* A row for each kind of layer; for each part of the weights; for each context. NULL without
 * memory. */
static struct frame *model_page_layers(const struct model_page *page, struct error *why)
{
    struct frame *frame = frame_create(layer_columns, LAYER_COLUMNS, why);
    for (uint32_t i = 0; frame != NULL && i < page->model.layer_count; i++) {
        if (!seen_before(&page->model, i)) {
            put_layer(&page->model, i, frame);
        }
    }
    return frame;
}

/* ---- weights ---- */

enum { PART, TOTAL, ACTIVE, BYTES, TYPES, PART_COLUMNS };
static const struct frame_column part_columns[PART_COLUMNS] = {
    [PART] = {.title = "weights", .key = "part"},
    [TOTAL] = {.title = "parameters", .key = "parameters", .unit = UNIT_WHOLE},
    [ACTIVE] = {.title = "of a token", .key = "active", .unit = UNIT_WHOLE},
    [BYTES] = {.title = "bytes", .key = "bytes", .unit = UNIT_BYTES},
    [TYPES] = {.title = "stored as", .key = "types", .wrap = true},
};

static void put_types(const struct model_part *part, struct frame *frame)
{
    char text[160] = "", bytes[32];
    for (int t = 0; t < DTYPE_COUNT; t++) {
        if (part->bytes[t] > 0) {
            text_append(text, sizeof text, "%s%s %s", text[0] != '\0' ? ", " : "",
                        dtype_name((enum dtype)t),
                        units_format((double)part->bytes[t], UNIT_BYTES, bytes, sizeof bytes));
        }
    }
    frame_text(frame, TYPES, text);
}

static void put_part(const char *name, const struct model_part *part, struct frame *frame)
{
    uint64_t bytes = 0;
    for (int t = 0; t < DTYPE_COUNT; t++) {
        bytes += part->bytes[t];
    }
    frame_row(frame);
    frame_text(frame, PART, name);
    frame_number(frame, TOTAL, (double)part->total);
    frame_number(frame, ACTIVE, (double)part->active);
    frame_number(frame, BYTES, (double)bytes);
    put_types(part, frame);
}

static struct frame *model_page_weights(const struct model_page *page, struct error *why)
{
    struct model_part parts[PART_COUNT], all = {0};
    struct frame *frame = frame_create(part_columns, PART_COLUMNS, why);
    model_parts(&page->model, parts);
    for (int i = 0; frame != NULL && i < PART_COUNT; i++) {
        if (parts[i].total > 0) {
            put_part(model_part_names[i], &parts[i], frame);
        }
        all.total += parts[i].total;
        all.active += parts[i].active;
        for (int t = 0; t < DTYPE_COUNT; t++) {
            all.bytes[t] += parts[i].bytes[t];
        }
    }
    put_part("all", &all, frame);
    return frame;
}

/* ---- KV of a sequence ---- */

enum { CONTEXT, KEPT, INDEX, GPU, STEP, KEPT_COLUMNS };
static const struct frame_column kept_columns[KEPT_COLUMNS] = {
    [CONTEXT] = {.title = "a sequence of", .key = "context"},
    [KEPT] = {.title = "KV and states", .key = "kv_bytes", .unit = UNIT_BYTES},
    [INDEX] = {.title = "keys of the indexer",
               .key = "index_bytes",
               .unit = UNIT_BYTES,
               .optional = true},
    [GPU] = {.title = "on each GPU", .key = "gpu_bytes", .unit = UNIT_BYTES, .optional = true},
    [STEP] = {.title = "bytes a token there",
              .key = "token_bytes",
              .unit = UNIT_WHOLE,
              .wrap = true},
};

/* Tokens of layers that keep all are divided among the GPUs of context parallelism, a token each in
 * turn; windows, states and the keys of an indexer are not. */
static double kept_bytes(const struct model *model, uint32_t parts, uint64_t context)
{
    double bytes = (double)model_index_bytes(model, context);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        uint64_t own = model_layer_local(model, i) ? context : (context + parts - 1) / parts;
        bytes += (double)model_layer_kv_bytes(model, i, own);
    }
    return bytes / model->parallel.pipeline;
}

static struct frame *model_page_kept(const struct model_page *page, struct error *why)
{
    struct frame *frame = frame_create(kept_columns, KEPT_COLUMNS, why);
    struct model whole = page->model;
    uint32_t gpus = model_gpus(&page->model);
    whole.tensor_parallel = 1;
    whole.parallel = (struct model_parallel){.data = 1, .experts = 1, .pipeline = 1};
    for (int i = 0; frame != NULL && i < KEPT_CONTEXTS; i++) {
        uint64_t context = contexts[i], index = model_index_bytes(&whole, context);
        double kept = (double)model_kv_bytes(&whole, context);
        double own = kept_bytes(&page->model, page->context_parallel, context);
        double next = kept_bytes(&page->model, page->context_parallel, context + 1024);
        frame_row(frame);
        frame_textf(frame, CONTEXT, context < 1048576 ? "%lluK" : "1M",
                    (unsigned long long)context / 1024);
        frame_number(frame, KEPT, kept);
        frame_number(frame, INDEX, index > 0 ? (double)index : NAN);
        frame_number(frame, GPU, gpus > 1 ? own : NAN);
        frame_number(frame, STEP, (next - own) / 1024);
    }
    return frame;
}

/* ---- what is asked ---- */

static const char *const page_keys[] = {"config",          "dtype",
                                        "tensor_parallel", "data_parallel",
                                        "expert_parallel", "pipeline_parallel",
                                        "expert_exchange", "expert_skew",
                                        "engine",          "context",
                                        "batched_tokens",  "kv_pool",
                                        "hybrid_kv",       "prefix_caching",
                                        "swa_full_ratio",  "decode_context_parallel",
                                        "state_slots",     NULL};

static bool page_read_set(struct node *root, const char *set, struct error *why)
{
    const char *equals = strchr(set, '=');
    char path[256];
    if (equals == NULL || equals == set) {
        error_usage(why, "--set", 0, "invalid override '%.200s'", set);
        return error_expect(why, "KEY=VALUE, such as tensor_parallel=8 or model.head_dim=64");
    }
    int length = (int)(equals - set);
    const char *prefix = scenario_config_prefix(set, &length);
    snprintf(path, sizeof path, "%s%.*s", prefix, length, equals - length);
    return node_set(root, path, equals + 1, why);
}

static struct node *read_sets(const char *const *sets, uint32_t count, struct error *why)
{
    struct node *root = node_map("--set", why);
    for (uint32_t i = 0; root != NULL && i < count; i++) {
        if (!page_read_set(root, sets[i], why)) {
            node_destroy(root);
            root = NULL;
        }
    }
    if (root != NULL && !node_check_keys(root, page_keys, "list model", why)) {
        node_destroy(root);
        root = NULL;
    }
    return root;
}

static bool read_dtype(const struct node *root, const char *key, int *out, struct error *why)
{
    const char *name = NULL;
    const struct node *map = node_get(root, "dtype");
    enum dtype dtype = DTYPE_BF16;
    if (!node_text(map, key, &name, why) ||
        (name != NULL && !dtype_find(name, "--set", 0, &dtype, why))) {
        return false;
    }
    *out = name != NULL ? (int)dtype : -1;
    return true;
}

static bool read_model(const struct scenario *asked, const char *name, struct model *out,
                       struct error *why)
{
    struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct scenario_gpus gpus;
    options.config = node_get(asked->root, "config");
    if (!read_dtype(asked->root, "weights", &options.weights, why) ||
        !read_dtype(asked->root, "kv", &options.kv, why) || !resolve_gpus(asked, &gpus, why)) {
        return false;
    }
    options.tensor_parallel = gpus.tensor;
    return model_load(NULL, name, &options, "--set", 0, out, why) &&
           model_share(out, &gpus.parts, "--set", 0, why);
}

/* The page and its pools divide the tokens themselves: entries stay whole. */
static void page_take_parts(struct model_page *page)
{
    page->context_parallel = page->model.parallel.context;
    page->model.parallel.context = 1;
}

static bool page_caches(const struct model_page *page)
{
    bool states = false;
    for (uint32_t i = 0; i < page->model.layer_count; i++) {
        states = states || page->model.layers[i].attention == ATTENTION_LINEAR;
    }
    return !states || page->engine.caches_states;
}

static bool page_read_engine(const struct scenario *asked, struct model_page *out,
                             struct error *why)
{
    const char *name = NULL;
    const struct node *root = asked->root;
    uint32_t usual = out->model.trained_context > 0 ? out->model.trained_context : 131072;
    out->hybrid = true;
    out->length = (uint64_t)scenario_stated(&asked->values, "context", usual);
    out->batched = (uint64_t)scenario_stated(&asked->values, "batched_tokens", 8192);
    out->pool = scenario_stated(&asked->values, "kv_pool", 0);
    if (!node_text(root, "engine", &name, why) ||
        (name != NULL && !server_engine_find(name, "--set", 0, &out->engine, why)) ||
        !node_bool(root, "hybrid_kv", &out->hybrid, why)) {
        return false;
    }
    out->windowed = out->engine.pools.windows;
    if (!node_quantity(root, "swa_full_ratio", UNIT_COUNT, &out->windowed, why) ||
        !node_quantity(root, "state_slots", UNIT_COUNT, &out->slots, why)) {
        return false;
    }
    page_take_parts(out);
    out->caches = page_caches(out);
    return node_bool(root, "prefix_caching", &out->caches, why);
}

/* ---- the page ---- */

static void say_shared(const struct model_page *page, FILE *out)
{
    const struct model *model = &page->model;
    char bytes[32];
    if (model_gpus(model) == 1) {
        return;
    }
    fprintf(out, "on %u GPUs", model_gpus(model));
    fprintf(out,
            " (tensor %u, data %u, experts %u, pipeline %u, context %u): weights of %s on the "
            "fullest\n",
            model->tensor_parallel, model->parallel.data, model->parallel.experts,
            model->parallel.pipeline, page->context_parallel,
            units_format((double)model_weight_bytes(model), UNIT_BYTES, bytes, sizeof bytes));
}

static void say_title(const struct model_page *page, FILE *out)
{
    const struct model *model = &page->model;
    fprintf(
        out, "%s: %s%s, %u layers, weights in %s%s%s, KV in %s", model->name, model->architecture,
        model->known ? "" : " (unknown: read by its keys)", model->layer_count,
        dtype_name(model->weights), model->experts != model->weights ? ", experts in " : "",
        model->experts != model->weights ? dtype_name(model->experts) : "", dtype_name(model->kv));
    if (model->trained_context > 0) {
        fprintf(out, ", trained to %u tokens", model->trained_context);
    }
    fputc('\n', out);
    if (model->indexed > 0) {
        fprintf(out,
                "the index of its files has %" PRIu64 " parameters, its config.json %" PRIu64 "\n",
                model->indexed, model_parameters(model));
    }
}

static bool page_print_table(struct frame *frame, FILE *out, struct error *why)
{
    fputc('\n', out);
    bool ok = frame != NULL && frame_ok(frame, why) && frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    return ok;
}

static struct kv_limits page_limits(const struct model_page *page)
{
    struct kv_limits limits = kv_limits_of(&page->engine.groups, page->batched, page->caches);
    limits.hybrid = page->hybrid;
    limits.context = page->context_parallel;
    return limits;
}

static bool print_vllm(const struct model_page *page, FILE *out, struct error *why)
{
    struct kv_limits limits = page_limits(page);
    struct kv_groups groups;
    char text[320];
    if (!kv_groups_plan(&page->model, &limits, &groups, why) ||
        !page_print_table(kv_groups_frame(&groups, &limits, page->length, why), out, why)) {
        return false;
    }
    if (page->pool > 0) {
        kv_groups_say(&groups, &limits, page->pool, page->length, text, sizeof text);
        table_line("", text, out);
    }
    return true;
}

/* Pools for `page->length` tokens, or as SGLang divides the memory that is stated. */
static struct kv_pools page_pools(const struct model_page *page)
{
    double tokens = (double)page->length;
    struct kv_pools pools = {tokens, floor(tokens * page->windowed), page->slots, 1};
    if (page->pool > 0) {
        (void)kv_pools_divide(&page->model, &page->engine.pools, page->pool, &pools);
    }
    return pools;
}

static bool print_sglang(const struct model_page *page, FILE *out)
{
    struct kv_pools pools = page_pools(page);
    char text[320];
    kv_pools_say(&page->model, &pools, text, sizeof text);
    fputc('\n', out);
    table_line("", text, out);
    return true;
}

static bool print_page(const struct model_page *page, FILE *out, struct error *why)
{
    say_title(page, out);
    say_shared(page, out);
    return page_print_table(model_page_layers(page, why), out, why) &&
           page_print_table(model_page_weights(page, why), out, why) &&
           page_print_table(model_page_kept(page, why), out, why) &&
           (page->engine.pools.slots > 0    ? print_sglang(page, out)
            : page->engine.groups.block > 0 ? print_vllm(page, out, why)
                                            : true);
}

/* ---- for programs ---- */

enum {
    NAME,
    ARCHITECTURE,
    KNOWN,
    TRAINED,
    GPUS,
    HELD,
    LAYERS,
    WEIGHTS,
    KV,
    GROUPS,
    BLOCK,
    TAKEN,
    TOKENS,
    LONGEST,
    FULL,
    WINDOWS,
    STATES,
    FIELDS
};
static const struct frame_column fields[FIELDS] = {
    [NAME] = {.key = "model"},
    [ARCHITECTURE] = {.key = "architecture"},
    [KNOWN] = {.key = "known_architecture", .unit = UNIT_WHOLE},
    [TRAINED] = {.key = "trained_context", .unit = UNIT_WHOLE},
    [GPUS] = {.key = "gpus", .unit = UNIT_WHOLE},
    [HELD] = {.key = "weight_bytes", .unit = UNIT_WHOLE},
    [LAYERS] = {.key = "layers", .unit = UNIT_JSON},
    [WEIGHTS] = {.key = "weights", .unit = UNIT_JSON},
    [KV] = {.key = "kv", .unit = UNIT_JSON},
    [GROUPS] = {.key = "groups", .unit = UNIT_JSON, .sparse = true},
    [BLOCK] = {.key = "block_bytes", .unit = UNIT_WHOLE, .sparse = true},
    [TAKEN] = {.key = "sequence_bytes", .unit = UNIT_WHOLE, .sparse = true},
    [TOKENS] = {.key = "pool_tokens", .unit = UNIT_WHOLE, .sparse = true},
    [LONGEST] = {.key = "longest_sequence", .unit = UNIT_WHOLE, .sparse = true},
    [FULL] = {.key = "full_pool_bytes", .unit = UNIT_WHOLE, .sparse = true},
    [WINDOWS] = {.key = "window_pool_bytes", .unit = UNIT_WHOLE, .sparse = true},
    [STATES] = {.key = "state_pool_bytes", .unit = UNIT_WHOLE, .sparse = true},
};

static bool put_vllm(const struct model_page *page, struct frame *frame, struct error *why)
{
    struct kv_limits limits = page_limits(page);
    struct kv_groups groups;
    uint64_t pool = (uint64_t)page->pool;
    if (!kv_groups_plan(&page->model, &limits, &groups, why)) {
        return false;
    }
    uint64_t blocks = kv_groups_blocks(&groups, &limits, page->length);
    frame_take(frame, GROUPS, kv_groups_frame(&groups, &limits, page->length, why));
    frame_number(frame, BLOCK, (double)groups.block_bytes);
    frame_number(frame, TAKEN, (double)(blocks * groups.block_bytes));
    if (pool > 0) {
        frame_number(frame, TOKENS, (double)kv_groups_tokens(&groups, &limits, pool, page->length));
        frame_number(frame, LONGEST,
                     (double)kv_groups_longest(&groups, &limits, pool, page->length));
    }
    return true;
}

static bool put_page(const struct model_page *page, struct frame *frame, struct error *why)
{
    const struct model *model = &page->model;
    struct kv_pools pools = page_pools(page);
    frame_row(frame);
    frame_text(frame, NAME, model->name);
    frame_text(frame, ARCHITECTURE, model->architecture);
    frame_number(frame, KNOWN, model->known);
    frame_number(frame, TRAINED, model->trained_context > 0 ? (double)model->trained_context : NAN);
    frame_number(frame, GPUS, model_gpus(model));
    frame_number(frame, HELD, (double)model_weight_bytes(model));
    frame_take(frame, LAYERS, model_page_layers(page, why));
    frame_take(frame, WEIGHTS, model_page_weights(page, why));
    frame_take(frame, KV, model_page_kept(page, why));
    if (page->engine.pools.slots > 0) {
        frame_number(frame, FULL, kv_pools_full(model, pools.tokens));
        frame_number(frame, WINDOWS, kv_pools_window(model, pools.windowed));
        frame_number(frame, STATES, kv_pools_states(model, pools.slots));
    }
    return page->engine.groups.block == 0 || put_vllm(page, frame, why);
}

static bool print_json(const struct model_page *page, FILE *out, struct error *why)
{
    struct frame *frame = frame_create(fields, FIELDS, why);
    bool ok = frame != NULL && put_page(page, frame, why) && frame_ok(frame, why) &&
              frame_print_json(frame, out, why);
    frame_destroy(frame);
    return ok;
}

bool list_model_page(const char *name, const char *const *sets, uint32_t set_count, bool json,
                     struct error *why)
{
    struct model_page page = {.engine = {.row = NULL}};
    struct scenario asked = {.root = read_sets(sets, set_count, why)};
    bool ok = asked.root != NULL && scenario_values_take(&asked.values, asked.root, why) &&
              read_model(&asked, name, &page.model, why);
    if (ok) {
        ok = page_read_engine(&asked, &page, why) &&
             (json ? print_json : print_page)(&page, stdout, why);
        model_release(&page.model);
    }
    scenario_release(&asked);
    return ok;
}
