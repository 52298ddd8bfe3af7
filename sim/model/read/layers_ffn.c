/* FFNs: dense ones, and which layers have experts. Layers start as dense ones. */
#include "model/read/layers.h"

#include <string.h>

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

void layers_set_ffn(struct model *model, uint32_t i, const struct model_layer *from)
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
        layers_set_ffn(model, i, &dense);
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
        layers_set_ffn(model, i, &routed);
    }
    return true;
}

/* Mark the layers that the list `key` names. */
static bool layers_ffn_read_layers(const struct fields *fields, const char *key, const json_t *list,
                                   uint32_t layer_count, bool *named, struct error *why)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        json_int_t layer = json_integer_value(entry);
        if (!json_is_integer(entry) || layer < 0 || layer >= layer_count) {
            field_error(fields, key, why, "lists an invalid layer");
            return error_expect(why, "whole numbers from 0 to %u", layer_count - 1);
        }
        named[layer] = true;
    }
    return true;
}

bool ffn_sparse_step(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    struct model_layer routed = {0};
    uint32_t step;
    const json_t *list;
    bool dense[LAYERS_MOST] = {false};
    if (!ffn_dense(fields, kind, model, why) ||
        !read_width(fields, "moe_intermediate_size", &routed.ffn, why) ||
        !read_experts(fields, "num_experts", &routed, why) ||
        !field_whole(fields, "decoder_sparse_step", 1, SIZE_MOST, 1, &step, why) ||
        !field_list(fields, "mlp_only_layers", &list, why) ||
        !layers_ffn_read_layers(fields, "mlp_only_layers", list, model->layer_count, dense, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (!dense[i] && (i + 1) % step == 0) {
            layers_set_ffn(model, i, &routed);
        }
    }
    return true;
}

/* "mlp_layer_types" says of each layer whether it has experts. */
static bool route_listed(const struct fields *fields, const json_t *types,
                         const struct model_layer *routed, struct model *model, struct error *why)
{
    if (!layers_each(fields, "mlp_layer_types", json_array_size(types), model, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        if (type != NULL && strcmp(type, "sparse") == 0) {
            layers_set_ffn(model, i, routed);
        } else if (type == NULL || strcmp(type, "dense") != 0) {
            layers_wrong_word(fields, "mlp_layer_types", i, type, why);
            return error_expect(why, "dense or sparse");
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
    const json_t *types;
    if (!field_list(fields, "mlp_layer_types", &types, why)) {
        return false;
    }
    if (types != NULL) {
        return route_listed(fields, types, &routed, model, why);
    }
    for (uint32_t i = first; i < model->layer_count; i++) {
        if (i % step == 0) {
            layers_set_ffn(model, i, &routed);
        }
    }
    return true;
}

/* Give the layers of "moe_layers" experts. */
static bool route_numbered(const struct fields *fields, const json_t *list,
                           const struct model_layer *routed, struct model *model, struct error *why)
{
    bool chosen[LAYERS_MOST] = {false};
    if (!layers_ffn_read_layers(fields, "moe_layers", list, model->layer_count, chosen, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (chosen[i]) {
            layers_set_ffn(model, i, routed);
        }
    }
    return true;
}

bool ffn_interleaved(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    struct model_layer dense = {0}, routed = {.shared_experts = 1};
    uint32_t step;
    const json_t *list;
    if (!read_width(fields, kind->ffn_key, &routed.ffn, why) ||
        !read_width(fields, "intermediate_size_mlp", &dense.ffn, why) ||
        !read_experts(fields, "num_local_experts", &routed, why) ||
        !field_whole(fields, "interleave_moe_layer_step", 1, SIZE_MOST, 1, &step, why) ||
        !field_list(fields, "moe_layers", &list, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        layers_set_ffn(model, i, list == NULL && (i + 1) % step == 0 ? &routed : &dense);
    }
    return list == NULL || route_numbered(fields, list, &routed, model, why);
}

/* A shared expert of n times the width of a routed one counts as n of them. */
bool ffn_sparse_shared(const struct fields *fields, const struct architecture *kind,
                       struct model *model, struct error *why)
{
    uint32_t width;
    if (!ffn_sparse_step(fields, kind, model, why) ||
        !read_width(fields, "shared_expert_intermediate_size", &width, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct model_layer *layer = &model->layers[i];
        if (layer->routed && width % layer->ffn != 0) {
            field_error(fields, "shared_expert_intermediate_size", why, "is %u", width);
            return error_expect(why, "a multiple of 'moe_intermediate_size'");
        }
        layer->shared_experts = layer->routed ? width / layer->ffn : 0;
    }
    return true;
}
