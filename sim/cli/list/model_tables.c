/* The tables of a model's page: its layers, its weights, and the KV of a sequence. */
#include "cli/list/model_page.h"

#include "core/text.h"
#include "core/units.h"
#include "model/layer_kind.h"
#include "model/parallel.h"
#include "model/parameters.h"

#include <math.h>

enum { KEPT_CONTEXTS = 5 };
static const uint64_t contexts[KEPT_CONTEXTS] = {4096, 16384, 65536, 262144, 1048576};

/* ---- layers ---- */

enum { KIND, LAYERS, HEADS, TOKEN, WINDOW, FIXED, KEEPS, LAYER_COLUMNS };
static const struct frame_column layer_columns[LAYER_COLUMNS] = {
    [KIND] = {.title = "layers", .key = "kind"},
    [LAYERS] = {.title = "count", .key = "layers", .unit = UNIT_WHOLE},
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
    frame_number(frame, LAYERS, count);
    put_kv_heads(model, at, frame);
    frame_number(frame, TOKEN, token > 0 ? (double)token : NAN);
    frame_number(frame, WINDOW, at->window > 0 ? (double)at->window : NAN);
    frame_number(frame, FIXED, state > 0 ? (double)state : NAN);
    put_keeps(model, at, frame);
}

struct frame *model_page_layers(const struct model_page *page, struct error *why)
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

struct frame *model_page_weights(const struct model_page *page, struct error *why)
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

struct frame *model_page_kept(const struct model_page *page, struct error *why)
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
