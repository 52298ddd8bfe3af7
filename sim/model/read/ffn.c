/* FFNs by the keys that a config has: dense, routed or none. A family's own spelling is a further name. */
#include "model/read/config.h"

#include <string.h>

static const char *const counts[] = {"n_routed_experts", "num_experts", "num_local_experts", NULL};
static const char *const chosen[] = {"num_experts_per_tok", "num_experts_per_token",
                                     "top_k_experts", NULL};
static const char *const expert_widths[] = {"moe_intermediate_size", "expert_intermediate_size",
                                            "intermediate_size", NULL};
static const char *const dense_widths[] = {"dense_intermediate_size", "intermediate_size_mlp",
                                           "intermediate_size", "ffn_dim", NULL};
/* Granite's model without experts has the FFN that is shared in the others. */
static const char only_width[] = "shared_intermediate_size";
static const char *const shared_counts[] = {"n_shared_experts", "num_shared_experts", NULL};
static const char *const shared_widths[] = {"moe_shared_expert_intermediate_size",
                                            "shared_expert_intermediate_size",
                                            "shared_intermediate_size", NULL};

/* A shared expert of n times the width of a routed one counts as n of them. Gemma 4's experts have
 * the dense FFN beside them, which counts alike. */
static bool read_shared(const struct node *config, const struct architecture *kind,
                        struct model_layer *routed, struct error *why)
{
    bool beside = false;
    uint32_t count, width;
    const char *key = field_first(config, shared_widths);
    if (!field_named(config, shared_counts, 0, EXPERTS_MOST, kind->shared_experts, &count, why) ||
        !node_bool(config, "enable_moe_block", &beside, why)) {
        return false;
    }
    key = beside ? "intermediate_size" : key;
    if (!field_whole(config, key, 0, SIZE_MOST, 0, &width, why)) {
        return false;
    }
    if (width % routed->ffn != 0) {
        field_error(config, key, why, "is %u", width);
        return error_expect(why, "a multiple of the width of an expert, which is %u", routed->ffn);
    }
    routed->shared_experts = width > 0 ? width / routed->ffn * (count > 0 ? count : 1) : count;
    return true;
}

static bool read_routed(const struct node *config, const struct architecture *kind,
                        struct model_layer *routed, struct error *why)
{
    if (!field_named(config, counts, 0, EXPERTS_MOST, 0, &routed->experts, why)) {
        return false;
    }
    routed->routed = routed->experts > 0;
    return !routed->routed || (field_named(config, chosen, 1, routed->experts, FIELD_REQUIRED,
                                           &routed->experts_per_token, why) &&
                               field_whole(config, field_first(config, expert_widths), 1, SIZE_MOST,
                                           FIELD_REQUIRED, &routed->ffn, why) &&
                               read_shared(config, kind, routed, why));
}

static bool ffn_says(const struct node *config, const char *key, uint32_t layer, const char *word)
{
    const struct node *list = node_stated(config, key);
    if (list == NULL || list->kind == NODE_SCALAR) {
        return list != NULL && strlen(list->text) > layer && list->text[layer] == word[0];
    }
    const char *entry = layer < list->count ? list->children[layer]->text : NULL;
    return entry != NULL && strcmp(entry, word) == 0;
}

static bool mark_layers(const struct node *config, const char *key, bool mark, uint32_t count,
                        bool *marks, struct error *why)
{
    const struct node *list;
    uint32_t layer = 0;
    if (!field_inside(config, key, NODE_LIST, &list, why)) {
        return false;
    }
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (!field_number(list->children[i], 0, count - 1, &layer)) {
            field_error(config, key, why, "lists an invalid layer");
            return error_expect(why, "whole numbers from 0 to %u", count - 1);
        }
        marks[layer] = mark;
    }
    return true;
}

/* Every n-th layer, the last of each n, or the first by "moe_layer_freq", which may also list the
 * layers; but not those before "first_k_dense_replace". */
static bool route_by_step(const struct node *config, uint32_t count, bool *routed,
                          struct error *why)
{
    static const char *const steps[] = {"moe_layer_freq", "decoder_sparse_step",
                                        "interleave_moe_layer_step", NULL};
    const char *key = field_first(config, steps);
    const struct node *list = node_stated(config, key);
    bool listed = list != NULL && list->kind == NODE_LIST;
    uint32_t first, step = 1, freq[LAYERS_MOST], phase = key == steps[0] ? 0 : 1;
    if (!(listed ? field_each(config, key, count, 1, 1, freq, why)
                 : field_whole(config, key, 1, SIZE_MOST, 1, &step, why)) ||
        !field_whole(config, "first_k_dense_replace", 0, SIZE_MOST, 0, &first, why)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        routed[i] = listed ? freq[i] != 0 : i >= first && (i + phase) % step == 0;
    }
    return true;
}

static bool read_routing(const struct node *config, uint32_t count, bool *routed, struct error *why)
{
    static const struct field_word words[] = {{"dense", 0}, {"sparse", 1}, {NULL, 0}};
    static const char types[] = "mlp_layer_types";
    int sparse[LAYERS_MOST];
    if (node_stated(config, types) != NULL) {
        bool good = field_words(config, types, count, words, "dense or sparse", sparse, why);
        for (uint32_t i = 0; good && i < count; i++) {
            routed[i] = sparse[i] != 0;
        }
        return good;
    }
    return node_stated(config, "moe_layers") != NULL
               ? mark_layers(config, "moe_layers", true, count, routed, why)
               : route_by_step(config, count, routed, why) &&
                     mark_layers(config, "mlp_only_layers", false, count, routed, why);
}

/* Of a model whose layers are blocks of one thing: NULL in one that is no FFN. */
static const struct model_layer *ffn_block_of(const struct node *config, uint32_t layer,
                                              const struct model_layer *dense,
                                              const struct model_layer *routed)
{
    bool moe = ffn_says(config, "hybrid_override_pattern", layer, "E") ||
               ffn_says(config, "layers_block_type", layer, "moe");
    bool mlp = ffn_says(config, "hybrid_override_pattern", layer, "-") ||
               ffn_says(config, "layers_block_type", layer, "mlp");
    return moe ? routed : mlp ? dense : NULL;
}

/* The layers that share KV may have FFNs of twice the width (Gemma 4). */
static bool widen_shared(const struct node *config, struct model *model, struct error *why)
{
    bool wide = false;
    if (!node_bool(config, "use_double_wide_mlp", &wide, why)) {
        return false;
    }
    for (uint32_t i = 0; wide && i < model->layer_count; i++) {
        model->layers[i].ffn *= model->layers[i].shares_kv ? 2 : 1;
    }
    return true;
}

/* The widths of dense FFNs: those of `key`, or what the class has for a file without it. */
static bool read_widths(const struct node *config, const char *key, const struct architecture *kind,
                        const struct model *model, uint32_t *widths, struct error *why)
{
    uint32_t factor, parts = kind->ffn_parts > 0 ? kind->ffn_parts : 1;
    if (!field_whole(config, "expansion_ratio", 1, 64, kind->ffn_factor, &factor, why) ||
        !field_each(config, key, model->layer_count, SIZE_MOST, 0, widths, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        uint64_t own = (uint64_t)factor * model->hidden;
        widths[i] = widths[i] > 0 ? widths[i] / parts : (uint32_t)(own <= SIZE_MOST ? own : 0);
    }
    return true;
}

bool ffn_read(const struct node *config, const struct architecture *kind, struct model *model,
              struct error *why)
{
    struct model_layer experts = {0};
    bool routed[LAYERS_MOST] = {false};
    uint32_t widths[LAYERS_MOST];
    if (!read_routed(config, kind, &experts, why) ||
        (experts.routed && !read_routing(config, model->layer_count, routed, why))) {
        return false;
    }
    bool only = !experts.routed && node_get(config, only_width) != NULL;
    const char *key = only ? only_width : field_first(config, dense_widths);
    if (!read_widths(config, key, kind, model, widths, why)) {
        return false;
    }
    bool blocks = node_get(config, "hybrid_override_pattern") != NULL;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        blocks = blocks || model->layers[i].attention == ATTENTION_NONE;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct model_layer dense = {.ffn = widths[i]};
        const struct model_layer *ffn = blocks      ? ffn_block_of(config, i, &dense, &experts)
                                        : routed[i] ? &experts
                                                    : &dense;
        if (ffn != NULL && ffn->ffn == 0) {
            key = node_stated(config, key) != NULL ? key : "intermediate_size";
            return field_error(config, key, why, "is missing") ||
                   error_expect(why, "the width of the FFN of layer %u", i);
        }
        struct model_layer *layer = &model->layers[i];
        if (ffn != NULL) {
            layer->routed = ffn->routed;
            layer->ffn = ffn->ffn;
            layer->experts = ffn->experts;
            layer->experts_per_token = ffn->experts_per_token;
            layer->shared_experts = ffn->shared_experts;
        }
    }
    return widen_shared(config, model, why);
}
