/* Each reader fills only the fields of struct model that its keys decide. Layers start as dense
 * ones with full attention. */
#include "model/layers.h"

#include <string.h>

/* ---- heads ---- */

static bool check_groups(const struct fields *fields, const struct model *model, struct error *why)
{
    if (model->query_heads % model->kv_heads != 0) {
        field_error(fields, "num_attention_heads", why, "is %u, not a multiple of %u",
                    model->query_heads, model->kv_heads);
        return error_expect(why, "a multiple of 'num_key_value_heads'");
    }
    return true;
}

static bool split_hidden(const struct fields *fields, struct model *model, struct error *why)
{
    if (model->hidden % model->query_heads != 0) {
        field_error(fields, "hidden_size", why, "is %u, not a multiple of %u heads", model->hidden,
                    model->query_heads);
        return error_expect(why, "a multiple of 'num_attention_heads', or 'head_dim'");
    }
    model->head_dim = model->hidden / model->query_heads;
    return true;
}

bool heads_grouped(const struct fields *fields, const struct architecture *kind,
                   struct model *model, struct error *why)
{
    int64_t kv_heads = kind->kv_heads == FIELD_DERIVED ? model->query_heads : kind->kv_heads;
    return field_whole(fields, "num_key_value_heads", 1, HEADS_MOST, kv_heads, &model->kv_heads,
                       why) &&
           check_groups(fields, model, why) &&
           field_whole(fields, "head_dim", 1, SIZE_MOST, kind->head_dim, &model->head_dim, why) &&
           (model->head_dim != FIELD_DERIVED || split_hidden(fields, model, why));
}

bool heads_undivided(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    (void)kind;
    uint32_t embedded;
    if (!field_whole(fields, "word_embed_proj_dim", 1, SIZE_MOST, model->hidden, &embedded, why)) {
        return false;
    }
    if (embedded != model->hidden) {
        field_error(fields, "word_embed_proj_dim", why, "is %u, but 'hidden_size' is %u", embedded,
                    model->hidden);
        return error_expect(why, "equal sizes: projected embeddings are not modelled");
    }
    model->kv_heads = model->query_heads;
    return split_hidden(fields, model, why);
}

static bool read_indexer(const struct fields *fields, struct model *model, struct error *why)
{
    if (model->query_lora == 0) {
        return field_error(fields, "q_lora_rank", why, "is missing") ||
               error_expect(why, "the rank of the latent query, which the indexer reads");
    }
    return field_whole(fields, "index_n_heads", 1, HEADS_MOST, FIELD_REQUIRED, &model->index_heads,
                       why) &&
           field_whole(fields, "index_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->index_dim,
                       why) &&
           field_whole(fields, "index_topk", 1, SIZE_MOST, FIELD_REQUIRED, &model->index_topk, why);
}

bool heads_latent(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why)
{
    model->kv_heads = 1;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        model->layers[i].attention = ATTENTION_MLA;
    }
    return field_whole(fields, "kv_lora_rank", 1, SIZE_MOST, FIELD_REQUIRED, &model->kv_lora,
                       why) &&
           field_whole(fields, "q_lora_rank", 1, SIZE_MOST, 0, &model->query_lora, why) &&
           field_whole(fields, "qk_nope_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->head_dim,
                       why) &&
           field_whole(fields, "qk_rope_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->rope_dim,
                       why) &&
           field_whole(fields, "v_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->value_dim,
                       why) &&
           (!kind->indexer || read_indexer(fields, model, why));
}

/* ---- windows ---- */

static void slide(struct model *model, uint32_t layer, uint32_t window)
{
    model->layers[layer].attention = ATTENTION_SLIDING;
    model->layers[layer].window = window;
}

bool windows_none(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why)
{
    (void)fields;
    (void)kind;
    (void)model;
    (void)why;
    return true;
}

static bool slide_listed(const struct fields *fields, const json_t *types, uint32_t window,
                         struct model *model, struct error *why)
{
    if (json_array_size(types) != model->layer_count) {
        field_error(fields, "layer_types", why, "lists %zu layers", json_array_size(types));
        return error_expect(why, "%u layers, as in 'num_hidden_layers'", model->layer_count);
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        if (type != NULL && strcmp(type, "sliding_attention") == 0) {
            slide(model, i, window);
        } else if (type == NULL || strcmp(type, "full_attention") != 0) {
            field_error(fields, "layer_types", why, "has '%.60s' for layer %u",
                        type != NULL ? type : "no text", i);
            return error_expect(why, "full_attention or sliding_attention");
        }
    }
    return true;
}

/* Every pattern-th layer attends to everything. Older files spell the key with an underscore. */
static bool slide_by_pattern(const struct fields *fields, uint32_t pattern, uint32_t window,
                             struct model *model, struct error *why)
{
    if (!field_whole(fields, "_sliding_window_pattern", 1, LAYERS_MOST, pattern, &pattern, why) ||
        !field_whole(fields, "sliding_window_pattern", 1, LAYERS_MOST, pattern, &pattern, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if ((i + 1) % pattern != 0) {
            slide(model, i, window);
        }
    }
    return true;
}

bool windows_listed(const struct fields *fields, const struct architecture *kind,
                    struct model *model, struct error *why)
{
    uint32_t window;
    const json_t *types;
    if (!field_whole(fields, "sliding_window", 1, SIZE_MOST, kind->window, &window, why) ||
        !field_list(fields, "layer_types", &types, why)) {
        return false;
    }
    return types != NULL ? slide_listed(fields, types, window, model, why)
                         : slide_by_pattern(fields, kind->window_pattern, window, model, why);
}

bool windows_above(const struct fields *fields, const struct architecture *kind,
                   struct model *model, struct error *why)
{
    bool sliding = false;
    uint32_t window, first;
    const json_t *types;
    if (!field_bool(fields, "use_sliding_window", &sliding, why)) {
        return false;
    }
    if (!sliding) {
        return true;
    }
    if (!field_whole(fields, "sliding_window", 1, SIZE_MOST, kind->window, &window, why) ||
        !field_list(fields, "layer_types", &types, why)) {
        return false;
    }
    if (types != NULL) {
        return slide_listed(fields, types, window, model, why);
    }
    if (!field_whole(fields, "max_window_layers", 0, SIZE_MOST, FIELD_REQUIRED, &first, why)) {
        return false;
    }
    for (uint32_t i = first; i < model->layer_count; i++) {
        slide(model, i, window);
    }
    return true;
}

/* ---- FFNs ---- */

static bool read_width(const struct fields *fields, const char *key, uint32_t *width,
                       struct error *why)
{
    return field_whole(fields, key, 1, SIZE_MOST, FIELD_REQUIRED, width, why);
}

static bool read_experts(const struct fields *fields, const char *key, struct model_layer *layer,
                         struct error *why)
{
    layer->routed = true;
    return field_whole(fields, key, 1, EXPERTS_MOST, FIELD_REQUIRED, &layer->experts, why) &&
           field_whole(fields, "num_experts_per_tok", 1, layer->experts, FIELD_REQUIRED,
                       &layer->experts_per_token, why);
}

/* Copy the FFN of `from` into layer `i`, which keeps its attention. */
static void set_ffn(struct model *model, uint32_t i, const struct model_layer *from)
{
    struct model_layer *layer = &model->layers[i];
    layer->routed = from->routed;
    layer->ffn = from->ffn;
    layer->experts = from->experts;
    layer->experts_per_token = from->experts_per_token;
    layer->shared_experts = from->shared_experts;
}

bool ffn_dense(const struct fields *fields, const struct architecture *kind, struct model *model,
               struct error *why)
{
    struct model_layer dense = {0};
    if (!read_width(fields, kind->ffn_key, &dense.ffn, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        set_ffn(model, i, &dense);
    }
    return true;
}

bool ffn_routed(const struct fields *fields, const struct architecture *kind, struct model *model,
                struct error *why)
{
    struct model_layer routed = {0};
    if (!read_width(fields, kind->ffn_key, &routed.ffn, why) ||
        !read_experts(fields, "num_local_experts", &routed, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        set_ffn(model, i, &routed);
    }
    return true;
}

/* Mark the layers that "mlp_only_layers" keeps dense. */
static bool read_dense_layers(const struct fields *fields, uint32_t layer_count, bool *dense,
                              struct error *why)
{
    const json_t *list;
    if (!field_list(fields, "mlp_only_layers", &list, why)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        json_int_t layer = json_integer_value(entry);
        if (!json_is_integer(entry) || layer < 0 || layer >= layer_count) {
            field_error(fields, "mlp_only_layers", why, "lists an invalid layer");
            return error_expect(why, "whole numbers from 0 to %u", layer_count - 1);
        }
        dense[layer] = true;
    }
    return true;
}

bool ffn_sparse_step(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    struct model_layer routed = {0};
    uint32_t step;
    bool dense[LAYERS_MOST] = {false};
    if (!ffn_dense(fields, kind, model, why) ||
        !read_width(fields, "moe_intermediate_size", &routed.ffn, why) ||
        !read_experts(fields, "num_experts", &routed, why) ||
        !field_whole(fields, "decoder_sparse_step", 1, SIZE_MOST, 1, &step, why) ||
        !read_dense_layers(fields, model->layer_count, dense, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (!dense[i] && (i + 1) % step == 0) {
            set_ffn(model, i, &routed);
        }
    }
    return true;
}

bool ffn_after_dense(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    struct model_layer routed = {0};
    uint32_t first, step;
    if (!ffn_dense(fields, kind, model, why) ||
        !read_width(fields, "moe_intermediate_size", &routed.ffn, why) ||
        !read_experts(fields, "n_routed_experts", &routed, why) ||
        !field_whole(fields, "n_shared_experts", 0, EXPERTS_MOST, FIELD_REQUIRED,
                     &routed.shared_experts, why) ||
        !field_whole(fields, "first_k_dense_replace", 0, SIZE_MOST, FIELD_REQUIRED, &first, why) ||
        !field_whole(fields, "moe_layer_freq", 1, SIZE_MOST, 1, &step, why)) {
        return false;
    }
    for (uint32_t i = first; i < model->layer_count; i++) {
        if (i % step == 0) {
            set_ffn(model, i, &routed);
        }
    }
    return true;
}
