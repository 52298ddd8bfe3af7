/* Heads and kinds of layers by the keys that a config has, for the families whose layers differ and
 * for architectures without a row. A family's own spelling of a fact is a further name of its key.
 *
 * Which layer is of which kind is said in one of these ways, the first that the config has: a list
 * of words ("layer_types", "layers_block_type"), a text of letters ("hybrid_override_pattern"), a
 * list of 0 and 1 ("hybrid_layer_pattern": 1 slides), numbers from 1 ("linear_attn_config"), the
 * tokens of an entry ("compress_ratios"), a period ("full_attention_interval",
 * "sliding_window_pattern"). Else every layer slides if "sliding_window" is a number, and none
 * does if it is not there. */
#include "model/read/indexer.h"
#include "model/read/layers.h"

#include <string.h>

static bool has_key(const struct fields *fields, const char *key)
{
    const json_t *value = json_object_get(fields->object, key);
    return value != NULL && !json_is_null(value);
}

static bool named_whole(const struct fields *fields, const char *const *names, int64_t fallback,
                        uint32_t *out, struct error *why)
{
    return field_whole(fields, field_first(fields, names), 0, SIZE_MOST, fallback, out, why);
}

/* ---- heads ---- */

/* The type in which an engine keeps a recurrent state: fp32 if the config says so. */
static bool read_state_type(const struct fields *fields, const char *state,
                            struct model_linear *linear, struct error *why)
{
    static const char *const names[] = {"mamba_ssm_dtype", "mamba_ssm_cache_dtype", NULL};
    if (!field_text(fields, field_first(fields, names), &state, why)) {
        return false;
    }
    linear->state_bytes = strcmp(state, "float32") == 0 ? 4 : 2;
    return true;
}

static bool read_kimi(const struct fields *fields, struct model_linear *linear, struct error *why)
{
    static const char key[] = "linear_attn_config";
    struct fields inside = {NULL, fields->file, key};
    if (!field_object(fields, key, &inside.object, why)) {
        return false;
    }
    linear->kind = LINEAR_KIMI;
    if (!field_whole(&inside, "num_heads", 1, HEADS_MOST, FIELD_REQUIRED, &linear->key_heads,
                     why) ||
        !field_whole(&inside, "head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &linear->key_dim, why) ||
        !field_whole(&inside, "short_conv_kernel_size", 1, HEADS_MOST, 4, &linear->kernel, why) ||
        !field_bool(&inside, "use_full_rank_gate", &linear->full_gate, why)) {
        return false;
    }
    linear->value_heads = linear->key_heads;
    linear->value_dim = linear->key_dim;
    return true;
}

static bool read_mamba(const struct fields *fields, struct model_linear *linear, struct error *why)
{
    static const char *const heads[] = {"mamba_num_heads", "mamba_n_heads", NULL};
    static const char *const dims[] = {"mamba_head_dim", "mamba_d_head", NULL};
    static const char *const states[] = {"ssm_state_size", "mamba_d_state", NULL};
    static const char *const groups[] = {"n_groups", "mamba_n_groups", NULL};
    static const char *const kernels[] = {"conv_kernel", "mamba_d_conv", NULL};
    linear->kind = LINEAR_MAMBA;
    return named_whole(fields, heads, FIELD_REQUIRED, &linear->value_heads, why) &&
           named_whole(fields, dims, FIELD_REQUIRED, &linear->value_dim, why) &&
           named_whole(fields, states, FIELD_REQUIRED, &linear->key_dim, why) &&
           named_whole(fields, groups, 1, &linear->key_heads, why) &&
           named_whole(fields, kernels, 4, &linear->kernel, why);
}

static bool read_delta(const struct fields *fields, struct model_linear *linear, struct error *why)
{
    return field_whole(fields, "linear_num_key_heads", 1, HEADS_MOST, FIELD_REQUIRED,
                       &linear->key_heads, why) &&
           field_whole(fields, "linear_num_value_heads", 1, HEADS_MOST, FIELD_REQUIRED,
                       &linear->value_heads, why) &&
           field_whole(fields, "linear_key_head_dim", 1, SIZE_MOST, FIELD_REQUIRED,
                       &linear->key_dim, why) &&
           field_whole(fields, "linear_value_head_dim", 1, SIZE_MOST, FIELD_REQUIRED,
                       &linear->value_dim, why) &&
           field_whole(fields, "linear_conv_kernel_dim", 1, HEADS_MOST, FIELD_REQUIRED,
                       &linear->kernel, why);
}

/* The form of linear layers is known by a key that it alone has, and with it the type of its state where
 * the config says none: vLLM keeps Kimi's and Nemotron-H's in fp32 (models/config.py), others in the
 * model's own type. */
static bool read_linear(const struct fields *fields, struct model *model, struct error *why)
{
    static const struct {
        const char *key;
        bool (*read)(const struct fields *fields, struct model_linear *linear, struct error *why);
        const char *state;
    } forms[] = {{"linear_num_key_heads", read_delta, ""},
                 {"linear_attn_config", read_kimi, "float32"},
                 {"mamba_num_heads", read_mamba, "float32"}, /* Nemotron-H */
                 {"mamba_n_heads", read_mamba, ""}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (has_key(fields, forms[i].key)) {
            return forms[i].read(fields, &model->linear, why) &&
                   read_state_type(fields, forms[i].state, &model->linear, why);
        }
    }
    return true;
}

/* DeepSeek-V4: one vector of a token for all heads, its rotated part inside. */
static bool read_compressed_heads(const struct fields *fields, struct model *model,
                                  struct error *why)
{
    model->kv_heads = 1;
    return field_whole(fields, "head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->head_dim, why) &&
           field_whole(fields, "qk_rope_head_dim", 1, model->head_dim, FIELD_REQUIRED,
                       &model->rope_dim, why) &&
           field_whole(fields, "q_lora_rank", 1, SIZE_MOST, FIELD_REQUIRED, &model->query_lora,
                       why) &&
           field_whole(fields, "index_n_heads", 1, HEADS_MOST, FIELD_REQUIRED, &model->index_heads,
                       why) &&
           field_whole(fields, "index_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->index_dim,
                       why) &&
           field_whole(fields, "index_topk", 1, SIZE_MOST, FIELD_REQUIRED, &model->index_topk,
                       why) &&
           field_whole(fields, "o_groups", 1, HEADS_MOST, FIELD_REQUIRED,
                       &model->extras.output_groups, why) &&
           field_whole(fields, "o_lora_rank", 1, SIZE_MOST, FIELD_REQUIRED,
                       &model->extras.output_lora, why) &&
           field_whole(fields, "hc_mult", 1, HEADS_MOST, 1, &model->extras.streams, why);
}

/* Full layers may have other heads than windows (Gemma 4), and V another width (MiMo). */
static bool read_grouped(const struct fields *fields, const struct architecture *kind,
                         struct model *model, struct error *why)
{
    uint32_t value, key;
    bool tied = false;
    if (!heads_grouped(fields, kind, model, why)) {
        return false;
    }
    key = model->head_dim;
    if (!field_bool(fields, "attention_k_eq_v", &tied, why) ||
        !field_whole(fields, "global_head_dim", 1, SIZE_MOST, key, &model->head_dim, why) ||
        (tied && !field_whole(fields, "num_global_key_value_heads", 1, HEADS_MOST, model->kv_heads,
                              &model->kv_heads, why)) ||
        !field_whole(fields, "v_head_dim", 1, SIZE_MOST, model->head_dim, &value, why)) {
        return false;
    }
    model->value_dim = value != model->head_dim ? value : 0;
    for (uint32_t i = 0; tied && i < model->layer_count; i++) {
        model->layers[i].tied_value = true;
    }
    return true;
}

bool heads_by_keys(const struct fields *fields, const struct architecture *kind,
                   struct model *model, struct error *why)
{
    if (!read_linear(fields, model, why)) {
        return false;
    }
    if (has_key(fields, "compress_ratios")) {
        model->extras.hyper_connections = true;
        return read_compressed_heads(fields, model, why);
    }
    return has_key(fields, "kv_lora_rank") ? heads_latent(fields, kind, model, why)
                                           : read_grouped(fields, kind, model, why);
}

/* ---- kinds ---- */

/* A layer that attends to a window or has no attention is of its own kind; any other keeps what
 * heads_by_keys() gave it, full or latent. */
static bool set_kind(struct model *model, uint32_t layer, enum attention_kind kind, uint32_t window)
{
    struct model_layer *at = &model->layers[layer];
    if (kind == ATTENTION_FULL) {
        return true;
    }
    at->attention = kind;
    at->window = window;
    return kind != ATTENTION_SLIDING || window > 0;
}

struct layer_word {
    const char *word, *letter;
    enum attention_kind kind;
};

/* Words of "layer_types" and letters of Nemotron's pattern. "E", "-": an FFN alone. */
static const struct layer_word words[] = {
    {"full_attention", "*", ATTENTION_FULL},
    {"attention", "*", ATTENTION_FULL},
    {"sliding_attention", "", ATTENTION_SLIDING},
    {"chunked_attention", "", ATTENTION_CHUNKED},
    {"linear_attention", "", ATTENTION_LINEAR},
    {"mamba", "M", ATTENTION_LINEAR},
    {"moe", "E", ATTENTION_NONE},
    {"mlp", "-", ATTENTION_NONE},
};

static bool set_by_word(const struct fields *fields, const char *key, const char *word,
                        uint32_t window, uint32_t layer, struct model *model, struct error *why)
{
    for (size_t i = 0; word != NULL && i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) == 0 || strcmp(words[i].letter, word) == 0) {
            if (words[i].kind == ATTENTION_LINEAR && model->linear.value_heads == 0) {
                field_error(fields, key, why, "has linear layers, whose sizes are missing");
                return error_expect(why, "linear_num_key_heads, linear_attn_config or "
                                         "mamba_num_heads, and what belongs to it");
            }
            return set_kind(model, layer, words[i].kind, window) ||
                   field_error(fields, "sliding_window", why, "is missing") ||
                   error_expect(why, "a whole number: '%s' has sliding layers", key);
        }
    }
    layers_wrong_word(fields, key, layer, word, why);
    return error_expect(why, "full_attention, sliding_attention, chunked_attention, "
                             "linear_attention, mamba, moe or mlp");
}

static bool kinds_listed(const struct fields *fields, const char *key, uint32_t window,
                         struct model *model, struct error *why)
{
    const json_t *list = json_object_get(fields->object, key);
    const char *letters = json_string_value(list);
    size_t count = letters != NULL ? strlen(letters) : json_array_size(list);
    bool ok = layers_each(fields, key, count, model, why);
    for (uint32_t i = 0; ok && i < model->layer_count; i++) {
        const char letter[] = {letters != NULL ? letters[i] : '\0', '\0'};
        const char *word = letters != NULL ? letter : json_string_value(json_array_get(list, i));
        ok = set_by_word(fields, key, word, window, i, model, why);
    }
    return ok;
}

static bool kinds_flagged(const struct fields *fields, const char *key, uint32_t window,
                          struct model *model, struct error *why)
{
    uint32_t slides[LAYERS_MOST];
    if (!field_each(fields, key, model->layer_count, 1, 0, slides, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        set_kind(model, i, slides[i] != 0 ? ATTENTION_SLIDING : ATTENTION_FULL, window);
    }
    return true;
}

/* Kimi's lists number layers from 1. */
static bool kinds_numbered(const struct fields *fields, const char *key, uint32_t window,
                           struct model *model, struct error *why)
{
    const json_t *list = json_object_get(json_object_get(fields->object, key), "kda_layers");
    (void)window;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_int_t number = json_integer_value(json_array_get(list, i));
        if (number < 1 || number > model->layer_count) {
            field_error(fields, key, why, "numbers a layer that is not there in 'kda_layers'");
            return error_expect(why, "whole numbers from 1 to %u", model->layer_count);
        }
        set_kind(model, (uint32_t)number - 1, ATTENTION_LINEAR, 0);
    }
    return true;
}

/* The list may go on with the layers for multi-token prediction. */
static bool kinds_compressed(const struct fields *fields, const char *key, uint32_t window,
                             struct model *model, struct error *why)
{
    uint32_t ratios[LAYERS_MOST];
    if (!field_each(fields, key, model->layer_count, SIZE_MOST, 0, ratios, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        set_kind(model, i, ATTENTION_COMPRESSED, window);
        model->layers[i].ratio = ratios[i];
    }
    return true;
}

/* Every n-th layer is full. */
static bool kinds_periodic(const struct fields *fields, const char *key, uint32_t window,
                           struct model *model, struct error *why)
{
    uint32_t period;
    if (!field_whole(fields, key, 1, LAYERS_MOST, FIELD_REQUIRED, &period, why)) {
        return false;
    }
    enum attention_kind others = model->linear.key_heads > 0 ? ATTENTION_LINEAR : ATTENTION_SLIDING;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        set_kind(model, i, (i + 1) % period == 0 ? ATTENTION_FULL : others, window);
    }
    return true;
}

static const struct {
    const char *key;
    bool (*set)(const struct fields *fields, const char *key, uint32_t window, struct model *model,
                struct error *why);
} ways[] = {
    {"compress_ratios", kinds_compressed},
    {"layers_block_type", kinds_listed},
    {"layer_types", kinds_listed},
    {"hybrid_override_pattern", kinds_listed},
    {"hybrid_layer_pattern", kinds_flagged},
    {"linear_attn_config", kinds_numbered},
    {"full_attention_interval", kinds_periodic},
    {"sliding_window_pattern", kinds_periodic},
    {"_sliding_window_pattern", kinds_periodic},
};

/* What a sliding layer has of its own, and the last layers that read the KV of one before. */
static bool finish_layers(const struct fields *fields, struct model *model, struct error *why)
{
    static const char *const heads[] = {"swa_num_key_value_heads", "num_key_value_heads", NULL};
    static const char *const dims[] = {"swa_head_dim", "head_dim", NULL};
    uint32_t kv_heads, head_dim, shared;
    if (!named_whole(fields, heads, model->kv_heads, &kv_heads, why) ||
        !named_whole(fields, dims, model->head_dim, &head_dim, why) ||
        !field_whole(fields, "num_kv_shared_layers", 0, model->layer_count - 1, 0, &shared, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct model_layer *at = &model->layers[i];
        bool slides = at->attention == ATTENTION_SLIDING;
        at->kv_heads = slides && kv_heads != model->kv_heads ? kv_heads : 0;
        at->head_dim = slides && head_dim != model->head_dim ? head_dim : 0;
        at->tied_value = at->tied_value && !slides;
        at->shares_kv = i >= model->layer_count - shared;
    }
    return true;
}

bool windows_by_keys(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    uint32_t window;
    bool slides = true, ok;
    if (!field_whole(fields, "sliding_window", 1, SIZE_MOST, kind->window, &window, why) ||
        !field_bool(fields, "use_sliding_window", &slides, why)) {
        return false;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (has_key(fields, ways[i].key)) {
            ok = ways[i].set(fields, ways[i].key, window, model, why);
            return ok && finish_layers(fields, model, why);
        }
    }
    for (uint32_t i = 0; i < model->layer_count && window > 0 && slides; i++) {
        bool full = kind->window_pattern > 0 && (i + 1) % kind->window_pattern == 0;
        set_kind(model, i, full ? ATTENTION_FULL : ATTENTION_SLIDING, window);
    }
    return finish_layers(fields, model, why);
}
