/* Which layers attend to a window or a chunk only, or keep a state instead of KV. It is said in one of these
 * ways, the first that the config has: a list of words ("layer_types", "layers_block_type"), a text of
 * letters ("hybrid_override_pattern"), a list of 0 and 1 ("hybrid_layer_pattern": 1 slides), numbers from 1
 * ("linear_attn_config"), the tokens of an entry ("compress_ratios"), a period ("full_attention_interval",
 * "sliding_window_pattern", or the class's own). Else every layer slides if "sliding_window" is a number, and
 * none does if it is not there. */
#include "model/read/config.h"

#include <string.h>

/* A layer with a window or without attention is of its own kind, any other as heads_read() said. A window
 * that holds the trained context is none. False: a sliding layer without a window. */
static bool set_kind(struct model *model, uint32_t layer, enum attention_kind kind, uint32_t window)
{
    struct model_layer *at = &model->layers[layer];
    bool whole = model->trained_context > 0 && window >= model->trained_context;
    if (kind == ATTENTION_FULL || (kind == ATTENTION_SLIDING && whole)) {
        return true;
    }
    at->attention = kind;
    at->window = kind == ATTENTION_LINEAR ? 0 : window;
    return kind != ATTENTION_SLIDING || window > 0;
}

/* Words of "layer_types" and letters of Nemotron's pattern. "E", "-": an FFN alone. */
static const struct field_word words[] = {{"full_attention", ATTENTION_FULL},
                                          {"attention", ATTENTION_FULL},
                                          {"*", ATTENTION_FULL},
                                          {"sliding_attention", ATTENTION_SLIDING},
                                          {"chunked_attention", ATTENTION_CHUNKED},
                                          {"linear_attention", ATTENTION_LINEAR},
                                          {"mamba", ATTENTION_LINEAR},
                                          {"M", ATTENTION_LINEAR},
                                          {"moe", ATTENTION_NONE},
                                          {"E", ATTENTION_NONE},
                                          {"mlp", ATTENTION_NONE},
                                          {"-", ATTENTION_NONE},
                                          {NULL, 0}};

/* Of "hybrid_layer_pattern". */
static const struct field_word flags[] = {
    {"0", ATTENTION_FULL}, {"1", ATTENTION_SLIDING}, {NULL, 0}};

static bool no_window(const struct node *config, const char *key, struct error *why)
{
    field_error(config, "sliding_window", why, "is missing");
    return error_expect(why, "a whole number: '%s' has sliding layers", key);
}

static bool kinds_listed(const struct node *config, const char *key, uint32_t window,
                         struct model *model, struct error *why)
{
    static const char expected[] = "full_attention, sliding_attention, chunked_attention, "
                                   "linear_attention, mamba, moe or mlp";
    int kinds[LAYERS_MOST];
    bool flagged = strcmp(key, "hybrid_layer_pattern") == 0;
    if (!field_words(config, key, model->layer_count, flagged ? flags : words,
                     flagged ? "0 or 1" : expected, kinds, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (kinds[i] == ATTENTION_LINEAR && model->linear.value_heads == 0) {
            field_error(config, key, why, "has states in layer %u, but their sizes are missing", i);
            return error_expect(why, "linear_num_key_heads, linear_attn_config or "
                                     "mamba_num_heads, and what belongs to it");
        }
        if (!set_kind(model, i, (enum attention_kind)kinds[i], window)) {
            return no_window(config, key, why);
        }
    }
    return true;
}

/* Kimi's lists number layers from 1. */
static bool kinds_numbered(const struct node *config, const char *key, uint32_t window,
                           struct model *model, struct error *why)
{
    const struct node *list = node_get(node_get(config, key), "kda_layers");
    uint32_t number = 0;
    (void)window;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (!field_number(list->children[i], 1, model->layer_count, &number)) {
            field_error(config, key, why, "numbers a layer that is not there in 'kda_layers'");
            return error_expect(why, "whole numbers from 1 to %u", model->layer_count);
        }
        set_kind(model, number - 1, ATTENTION_LINEAR, 0);
    }
    return true;
}

/* The list may go on with the layers for multi-token prediction. */
static bool kinds_compressed(const struct node *config, const char *key, uint32_t window,
                             struct model *model, struct error *why)
{
    uint32_t ratios[LAYERS_MOST];
    if (!field_each(config, key, model->layer_count, SIZE_MOST, 0, ratios, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        set_kind(model, i, ATTENTION_COMPRESSED, window);
        model->layers[i].ratio = ratios[i];
    }
    return true;
}

/* Every n-th layer is full; of EXAONE's letters, "LLLG", the last. */
static bool kinds_periodic(const struct node *config, const char *key, uint32_t window,
                           struct model *model, struct error *why)
{
    const struct node *said = node_get(config, key);
    const char *text = said != NULL && said->kind == NODE_SCALAR ? said->text : "";
    uint32_t period = (uint32_t)strspn(text, "L") + 1;
    if ((period == 1 || strcmp(text + period - 1, "G") != 0) &&
        !field_whole(config, key, 1, LAYERS_MOST, FIELD_REQUIRED, &period, why)) {
        return false;
    }
    enum attention_kind others = model->linear.key_heads > 0 ? ATTENTION_LINEAR : ATTENTION_SLIDING;
    bool good = true;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        good = set_kind(model, i, (i + 1) % period == 0 ? ATTENTION_FULL : others, window) && good;
    }
    return good || no_window(config, key, why);
}

static const struct {
    const char *key;
    bool (*set)(const struct node *config, const char *key, uint32_t window, struct model *model,
                struct error *why);
} ways[] = {
    {"compress_ratios", kinds_compressed},
    {"layers_block_type", kinds_listed},
    {"layer_types", kinds_listed},
    {"hybrid_override_pattern", kinds_listed},
    {"hybrid_layer_pattern", kinds_listed},
    {"linear_attn_config", kinds_numbered},
    {"full_attention_interval", kinds_periodic},
    {"sliding_window_pattern", kinds_periodic},
    {"_sliding_window_pattern", kinds_periodic},
};

/* What the class says where the config has none of these keys: a period, or the first ones are full. */
static bool kinds_of_class(const struct node *config, const struct architecture *kind,
                           uint32_t window, struct model *model, struct error *why)
{
    uint32_t first = 0, period = kind->window_pattern;
    bool linear = model->linear.key_heads > 0 && period > 0;
    bool if_used = kind->windows == WINDOWS_IF_USED;
    if (model->linear.value_heads > 0 && period == 0) {
        error_input(why, config->file, 0, "sizes of linear layers, but no list of these layers");
        return error_expect(why, "'layer_types', with a word for each of the %u layers",
                            model->layer_count);
    }
    if ((if_used || node_stated(config, "use_sliding_window") != NULL) &&
        !field_whole(config, "max_window_layers", 0, SIZE_MOST, if_used ? FIELD_REQUIRED : 0,
                     &first, why)) {
        return false;
    }
    for (uint32_t i = first; i < model->layer_count && (window > 0 || linear); i++) {
        bool full = period > 0 && (i + 1) % period == 0;
        set_kind(model, i,
                 full     ? ATTENTION_FULL
                 : linear ? ATTENTION_LINEAR
                          : ATTENTION_SLIDING,
                 window);
    }
    return true;
}

/* Llama 4: layers with positions attend to their chunk, those without to everything. */
static bool read_chunks(const struct node *config, const struct architecture *kind,
                        struct model *model, struct error *why)
{
    static const char listed_key[] = "no_rope_layers";
    uint32_t size, step, rotated[LAYERS_MOST];
    const struct node *list;
    if (!field_whole(config, "attention_chunk_size", 1, SIZE_MOST, kind->window, &size, why) ||
        !field_whole(config, "no_rope_layer_interval", 1, SIZE_MOST, kind->window_pattern, &step,
                     why) ||
        !field_inside(config, listed_key, NODE_LIST, &list, why)) {
        return false;
    }
    bool listed = list != NULL && list->count > 0;
    if (listed && !field_each(config, listed_key, model->layer_count, 1, 1, rotated, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        model->layers[i].unrotated = listed ? rotated[i] == 0 : (i + 1) % step == 0;
        if (!model->layers[i].unrotated) {
            set_kind(model, i, ATTENTION_CHUNKED, size);
        }
    }
    return true;
}

/* What a sliding layer has of its own, and the last layers that read the KV of one before. */
static bool finish_layers(const struct node *config, struct model *model, struct error *why)
{
    static const char *const heads[] = {"swa_num_key_value_heads", "num_key_value_heads", NULL};
    static const char *const dims[] = {"swa_head_dim", "head_dim", NULL};
    uint32_t kv_heads, head_dim, shared;
    bool keeps = false;
    if (!field_whole(config, field_first(config, heads), 0, SIZE_MOST, model->kv_heads, &kv_heads,
                     why) ||
        !field_whole(config, field_first(config, dims), 0, SIZE_MOST, model->head_dim, &head_dim,
                     why) ||
        !field_whole(config, "num_kv_shared_layers", 0, model->layer_count - 1, 0, &shared, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct model_layer *at = &model->layers[i];
        bool slides = at->attention == ATTENTION_SLIDING;
        at->kv_heads = slides && kv_heads != model->kv_heads ? kv_heads : 0;
        at->head_dim = slides && head_dim != model->head_dim ? head_dim : 0;
        at->tied_value = at->tied_value && !slides;
        at->shares_kv = i >= model->layer_count - shared;
        keeps = keeps || (at->attention != ATTENTION_LINEAR && at->attention != ATTENTION_NONE);
    }
    return keeps || error_input(why, config->file, 0, "no layer has full attention") ||
           error_expect(why, "one at least: models without KV are not modelled");
}

bool windows_read(const struct node *config, const struct architecture *kind, struct model *model,
                  struct error *why)
{
    static const char window_key[] = "sliding_window";
    bool if_used = kind->windows == WINDOWS_IF_USED, slides = !if_used;
    uint32_t window;
    if (kind->windows == WINDOWS_NONE) {
        return true;
    }
    if (kind->windows == WINDOWS_CHUNKS) {
        return read_chunks(config, kind, model, why);
    }
    if (!node_bool(config, "use_sliding_window", &slides, why)) {
        return false;
    }
    if (if_used && !slides) {
        return true;
    }
    /* null is no window; an absent key the class's */
    const struct node *node = node_get(config, window_key);
    bool null = node != NULL && node->kind == NODE_NULL;
    int64_t absent = if_used ? FIELD_REQUIRED : (int64_t)kind->window;
    if (!field_whole(config, window_key, 1, SIZE_MOST, null ? 0 : absent, &window, why)) {
        return false;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (node_stated(config, ways[i].key) != NULL) {
            return ways[i].set(config, ways[i].key, window, model, why) &&
                   finish_layers(config, model, why);
        }
    }
    return kinds_of_class(config, kind, slides ? window : 0, model, why) &&
           finish_layers(config, model, why);
}
