/* `spillway list model`: what a model's layers keep, weights, KV, and how an engine divides its pool. */

#include <math.h>
#include <string.h>

#include "cli/list/list.h"
#include "core/text.h"
#include "model/layer_kind.h"
#include "model/sharding.h"
#include "predict/scenario/resolve.h"
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

/* How many of the layers [from, to) are of the kind of `layer`. */
static uint32_t count_alike(const struct model *model, uint32_t layer, uint32_t from, uint32_t to)
{
    const struct model_layer *own = &model->layers[layer];
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct model_layer *other = &model->layers[i];
        count += own->attention == other->attention && own->window == other->window &&
                 own->ratio == other->ratio && own->shares_kv == other->shares_kv &&
                 model_kv_entry_bytes(model, i) == model_kv_entry_bytes(model, layer) &&
                 layer_index_entry(model, own) == layer_index_entry(model, other);
    }
    return count;
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

/* A row for each kind of layer; for each part of the weights; for each context. NULL without memory. */
static struct frame *model_page_layers(const struct model_page *page, struct error *why)
{
    struct frame *frame = frame_create(layer_columns, LAYER_COLUMNS, why);
    for (uint32_t i = 0; frame != NULL && i < page->model.layer_count; i++) {
        if (count_alike(&page->model, i, 0, i) == 0) {
            const struct model_layer *at = &page->model.layers[i];
            bool all = !layer_kinds[at->attention].local;
            uint64_t token = model_kv_token_bytes(&page->model, i) +
                             (all ? layer_index_entry(&page->model, at) : 0);
            uint64_t state = model_state_bytes(&page->model, i);
            frame_row(frame);
            frame_text(frame, KIND, layer_kinds[at->attention].name);
            frame_number(frame, LAYER_NUMBER,
                         count_alike(&page->model, i, i, page->model.layer_count));
            put_kv_heads(&page->model, at, frame);
            frame_number(frame, TOKEN, token > 0 ? (double)token : NAN);
            frame_number(frame, WINDOW, at->window > 0 ? (double)at->window : NAN);
            frame_number(frame, FIXED, state > 0 ? (double)state : NAN);
            uint64_t key = layer_index_entry(&page->model, at);
            if (at->shares_kv) {
                frame_text(frame, KEEPS, "nothing: it reads the KV of an earlier layer");
            } else if (at->ratio > 0) {
                frame_textf(frame, KEEPS, "a window, and an entry for %u tokens%s", at->ratio,
                            key > 0 ? ", with a key of the indexer" : "");
            } else {
                frame_textf(frame, KEEPS, "%s%s", layer_kinds[at->attention].keeps,
                            key > 0 ? ", and a key of the indexer" : "");
            }
        }
    }
    return frame;
}

enum { PART, TOTAL, ACTIVE, BYTES, TYPES, PART_COLUMNS };
static const struct frame_column part_columns[PART_COLUMNS] = {
    [PART] = {.title = "weights", .key = "part"},
    [TOTAL] = {.title = "parameters", .key = "parameters", .unit = UNIT_WHOLE},
    [ACTIVE] = {.title = "of a token", .key = "active", .unit = UNIT_WHOLE},
    [BYTES] = {.title = "bytes", .key = "bytes", .unit = UNIT_BYTES},
    [TYPES] = {.title = "stored as", .key = "types", .wrap = true},
};

static void put_part(const char *name, const struct model_part *part, struct frame *frame)
{
    uint64_t bytes = 0;
    char types[160] = "", text[32];
    for (int t = 0; t < DTYPE_COUNT; t++) {
        bytes += part->bytes[t];
        if (part->bytes[t] > 0) {
            text_append(types, sizeof types, "%s%s %s", types[0] != '\0' ? ", " : "",
                        dtype_name((enum dtype)t),
                        units_format((double)part->bytes[t], UNIT_BYTES, text, sizeof text));
        }
    }
    frame_row(frame);
    frame_text(frame, PART, name);
    frame_number(frame, TOTAL, (double)part->total);
    frame_number(frame, ACTIVE, (double)part->active);
    frame_number(frame, BYTES, (double)bytes);
    frame_text(frame, TYPES, types);
}

static struct frame *model_page_weights(const struct model_page *page, struct error *why)
{
    struct model_part parts[MODEL_PARTS], all = {0};
    struct frame *frame = frame_create(part_columns, PART_COLUMNS, why);
    model_parts(&page->model, parts);
    for (int i = 0; frame != NULL && i < MODEL_PARTS; i++) {
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

/* Context parallelism divides the tokens of layers that keep all; not windows, states, an indexer's keys. */
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

enum { GROUP, GROUP_COUNT, OF, PADDING, BLOCK_TOKENS, PAGE, TAKES, GROUP_COLUMNS };
static const struct frame_column group_columns[GROUP_COLUMNS] = {
    [GROUP] = {.title = "groups of layers", .key = "kind"},
    [GROUP_COUNT] = {.title = "groups", .key = "groups", .unit = UNIT_WHOLE},
    [OF] = {.title = "layers", .key = "layers", .unit = UNIT_WHOLE},
    [PADDING] = {.title = "padding", .key = "padding", .unit = UNIT_WHOLE},
    [BLOCK_TOKENS] = {.title = "tokens a block", .key = "block_tokens", .unit = UNIT_WHOLE},
    [PAGE] = {.title = "page", .key = "page_bytes", .unit = UNIT_WHOLE},
    [TAKES] = {.title = "blocks of a sequence",
               .key = "sequence_blocks",
               .unit = UNIT_WHOLE,
               .wrap = true},
};

/* A row for each kind of layer: its groups, and the blocks that a sequence of `length` tokens takes of them. */
static struct frame *model_page_groups(const struct kv_groups *groups,
                                       const struct kv_limits *limits, uint64_t length,
                                       struct error *why)
{
    struct frame *frame = frame_create(group_columns, GROUP_COLUMNS, why);
    for (uint32_t i = 0; frame != NULL && i < groups->count; i++) {
        const struct kv_group *kind = &groups->kinds[i];
        frame_row(frame);
        frame_textf(frame, GROUP, "%s%s", layer_kinds[kind->kind].name,
                    kind->index ? ", keys of the indexer" : "");
        frame_number(frame, GROUP_COUNT, kind->groups);
        frame_number(frame, OF, kind->layers);
        frame_number(frame, PADDING, kind->padding);
        frame_number(frame, BLOCK_TOKENS,
                     kind->kind == ATTENTION_LINEAR ? NAN : (double)kind->block);
        frame_number(frame, PAGE, (double)kind->page);
        frame_number(frame, TAKES, (double)(kind->groups * kv_group_blocks(kind, limits, length)));
    }
    return frame;
}

static const char *const page_keys[] = {"config",          "dtype",
                                        "tensor_parallel", "data_parallel",
                                        "expert_parallel", "pipeline_parallel",
                                        "expert_exchange", "expert_skew",
                                        "engine",          "context",
                                        "batched_tokens",  "kv_pool",
                                        "hybrid_kv",       "prefix_caching",
                                        "swa_full_ratio",  "decode_context_parallel",
                                        "state_slots",     NULL};

static bool read_sets(const char *const *sets, uint32_t count, struct node *root, struct error *why)
{
    for (uint32_t i = 0; root != NULL && i < count; i++) {
        const char *equals = strchr(sets[i], '=');
        char path[256];
        if (equals == NULL || equals == sets[i]) {
            error_usage(why, "--set", 0, "invalid override '%.200s'", sets[i]);
            return error_expect(why, "KEY=VALUE, such as tensor_parallel=8 or model.head_dim=64");
        }
        int length = (int)(equals - sets[i]);
        const char *prefix = scenario_config_prefix(sets[i], &length);
        snprintf(path, sizeof path, "%s%.*s", prefix, length, equals - length);
        if (!node_set(root, path, equals + 1, why)) {
            return false;
        }
    }
    return root != NULL && node_check_keys(root, NAMES(page_keys), "list model", why);
}

static bool page_read_engine(const struct scenario *asked, struct model_page *out,
                             struct error *why)
{
    const char *name = NULL;
    const struct node *root = asked->root;
    uint32_t usual = out->model.trained_context > 0 ? out->model.trained_context : 131072;
    out->hybrid = scenario_stated(&asked->values, "hybrid_kv", 1) != 0;
    out->length = (uint64_t)scenario_stated(&asked->values, "context", usual);
    out->batched = (uint64_t)scenario_stated(&asked->values, "batched_tokens", 8192);
    out->pool = scenario_stated(&asked->values, "kv_pool", 0);
    if (!node_text(root, "engine", &name, why) ||
        (name != NULL && !server_engine_find(name, "--set", 0, &out->engine, why))) {
        return false;
    }
    out->windowed = out->engine.pools.windows;
    if (!node_quantity(root, "swa_full_ratio", UNIT_COUNT, &out->windowed, why) ||
        !node_quantity(root, "state_slots", UNIT_COUNT, &out->slots, why)) {
        return false;
    }
    /* The page and its pools divide the tokens themselves: entries stay whole. */
    out->context_parallel = out->model.parallel.context;
    out->model.parallel.context = 1;
    out->caches = out->model.linear.key_heads == 0 || out->engine.caches_states;
    return node_bool(root, "prefix_caching", &out->caches, why);
}

#define LIST "tables/models.def"
#define ID(name) MODEL_##name
#define ARRAY fields
#include "tables/columns.h"

static struct kv_limits page_limits(const struct model_page *page)
{
    struct kv_limits limits = kv_limits_of(&page->engine.groups, page->batched, page->caches);
    limits.hybrid = page->hybrid;
    limits.context = page->context_parallel;
    return limits;
}

static bool put_vllm(const struct model_page *page, struct kv_groups *groups, struct frame *frame,
                     struct error *why)
{
    struct kv_limits limits = page_limits(page);
    uint64_t pool = (uint64_t)page->pool;
    if (!kv_groups_plan(&page->model, &limits, groups, why)) {
        return false;
    }
    uint64_t blocks = kv_groups_blocks(groups, &limits, page->length);
    frame_number(frame, MODEL_block_bytes, (double)groups->block_bytes);
    frame_number(frame, MODEL_sequence_bytes, (double)(blocks * groups->block_bytes));
    if (pool > 0) {
        frame_number(frame, MODEL_pool_tokens,
                     (double)kv_groups_tokens(groups, &limits, pool, page->length));
        frame_number(frame, MODEL_longest_sequence,
                     (double)kv_groups_longest(groups, &limits, pool, page->length));
    }
    return true;
}

static void page_put_model(const struct model *model, struct frame *frame)
{
    frame_row(frame);
    frame_text(frame, MODEL_model, model->name);
    frame_text(frame, MODEL_architecture, model->architecture);
    frame_number(frame, MODEL_known_architecture, model->known);
    frame_text(frame, MODEL_rules, model->known ? "rules of its own" : "its keys alone");
    frame_number(frame, MODEL_trained_context,
                 model->trained_context > 0 ? (double)model->trained_context : NAN);
    frame_number(frame, MODEL_gpus, model_gpus(model));
    frame_number(frame, MODEL_weight_bytes, (double)model_weight_bytes(model));
    frame_textf(frame, MODEL_weights_type, "%s%s%s", dtype_name(model->weights),
                model->experts != model->weights ? ", experts in " : "",
                model->experts != model->weights ? dtype_name(model->experts) : "");
    frame_text(frame, MODEL_kv_type, dtype_name(model->kv));
    frame_number(frame, MODEL_indexed_bytes, model->indexed > 0 ? (double)model->indexed : NAN);
}

/* A table of the page: a cell of the JSON object, or lines below the page's first. */
static bool add_table(struct frame *page, uint32_t column, struct frame *table, bool json,
                      struct error *why)
{
    if (json) {
        frame_take(page, column, table);
        return true;
    }
    putchar('\n');
    bool ok = table != NULL && frame_ok(table, why) && frame_print(table, NULL, stdout, why);
    frame_destroy(table);
    return ok;
}

static bool print_page(const struct model_page *page, bool json, struct error *why)
{
    struct frame *frame = frame_create(fields, MODEL_COUNT, why);
    struct kv_groups groups;
    struct kv_limits limits = page_limits(page);
    bool grouped = page->engine.pools.slots == 0 && page->engine.groups.block > 0;
    page_put_model(&page->model, frame);
    if (page->engine.pools.slots > 0) {
        /* Pools for `page->length` tokens, or as SGLang divides the memory that is stated. */
        double tokens = (double)page->length;
        struct kv_pools pools = {tokens, floor(tokens * page->windowed), page->slots, 1};
        if (page->pool > 0) {
            (void)kv_pools_divide(&page->model, &page->engine.pools, page->pool, &pools);
        }
        frame_number(frame, MODEL_full_pool_bytes, kv_pools_full(&page->model, pools.tokens));
        frame_number(frame, MODEL_window_pool_bytes, kv_pools_window(&page->model, pools.windowed));
        frame_number(frame, MODEL_state_pool_bytes, kv_pools_states(&page->model, pools.slots));
    }
    bool ok = frame != NULL && (!grouped || put_vllm(page, &groups, frame, why)) &&
              (json || frame_print_fields(frame, stdout, why)) &&
              add_table(frame, MODEL_layers, model_page_layers(page, why), json, why) &&
              add_table(frame, MODEL_weights, model_page_weights(page, why), json, why) &&
              add_table(frame, MODEL_kv, model_page_kept(page, why), json, why) &&
              (!grouped ||
               add_table(frame, MODEL_groups,
                         model_page_groups(&groups, &limits, page->length, why), json, why)) &&
              (!json || (frame_ok(frame, why) && frame_print_json(frame, stdout, why)));
    frame_destroy(frame);
    return ok;
}

bool list_model_page(const char *name, const char *const *sets, uint32_t set_count, bool json,
                     struct error *why)
{
    struct model_page page = {.engine = {.row = NULL}};
    struct model_options options;
    struct scenario_gpus gpus;
    struct scenario asked = {.root = node_map("--set", why)};
    bool ok = read_sets(sets, set_count, asked.root, why) &&
              scenario_values_take(&asked.values, asked.root, why) &&
              resolve_model_options(&asked, &options, &gpus, why) &&
              model_load(NULL, name, &options, "--set", 0, &page.model, why) &&
              model_share(&page.model, &gpus.parts, "--set", 0, why);
    if (ok) {
        ok = page_read_engine(&asked, &page, why) && print_page(&page, json, why);
        model_release(&page.model);
    }
    scenario_release(&asked);
    return ok;
}
