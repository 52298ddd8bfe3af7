/* FFNs by the keys that a config has, for the families whose layers differ and for architectures
 * without a row: dense, routed or none, layer by layer. */
#include "model/read/layers.h"

#include <string.h>

static const char *const counts[] = {"n_routed_experts", "num_experts", "num_local_experts", NULL};
static const char *const chosen[] = {"num_experts_per_tok", "num_experts_per_token",
                                     "top_k_experts", NULL};
static const char *const expert_widths[] = {"moe_intermediate_size", "expert_intermediate_size",
                                            "intermediate_size", NULL};
static const char *const dense_widths[] = {"dense_intermediate_size", "intermediate_size_mlp",
                                           "intermediate_size", NULL};
/* Granite's model without experts has the FFN that is shared in the others. */
static const char only_width[] = "shared_intermediate_size";
static const char *const shared_counts[] = {"n_shared_experts", "num_shared_experts", NULL};
static const char *const shared_widths[] = {"moe_shared_expert_intermediate_size",
                                            "shared_expert_intermediate_size",
                                            "shared_intermediate_size", NULL};

/* A shared expert of n times the width of a routed one counts as n of them. Gemma 4's experts have
 * the dense FFN beside them, which counts alike. */
static bool read_shared(const struct fields *fields, struct model_layer *routed, struct error *why)
{
    bool beside = false;
    uint32_t count, width;
    const char *key = field_first(fields, shared_widths);
    if (!field_named(fields, shared_counts, 0, EXPERTS_MOST, 0, &count, why) ||
        !field_bool(fields, "enable_moe_block", &beside, why)) {
        return false;
    }
    key = beside ? "intermediate_size" : key;
    if (!field_whole(fields, key, 0, SIZE_MOST, 0, &width, why)) {
        return false;
    }
    if (width % routed->ffn != 0) {
        field_error(fields, key, why, "is %u", width);
        return error_expect(why, "a multiple of the width of an expert, which is %u", routed->ffn);
    }
    routed->shared_experts = width > 0 ? width / routed->ffn * (count > 0 ? count : 1) : count;
    return true;
}

static bool read_routed(const struct fields *fields, struct model_layer *routed, struct error *why)
{
    if (!field_named(fields, counts, 0, EXPERTS_MOST, 0, &routed->experts, why)) {
        return false;
    }
    routed->routed = routed->experts > 0;
    return !routed->routed || (field_named(fields, chosen, 1, routed->experts, FIELD_REQUIRED,
                                           &routed->experts_per_token, why) &&
                               field_whole(fields, field_first(fields, expert_widths), 1, SIZE_MOST,
                                           FIELD_REQUIRED, &routed->ffn, why) &&
                               read_shared(fields, routed, why));
}

/* ---- which layers ---- */

static bool ffn_says(const struct fields *fields, const char *key, uint32_t layer, const char *word)
{
    const json_t *list = json_object_get(fields->object, key);
    const char *text = json_string_value(list);
    const char *entry = json_string_value(json_array_get(list, layer));
    return text != NULL ? strlen(text) > layer && text[layer] == word[0]
                        : entry != NULL && strcmp(entry, word) == 0;
}

/* Layers are blocks of one thing, with an FFN only if they are "moe", "mlp", "E" or "-", where some
 * layer is such a block. */
static bool is_block(const struct fields *fields, uint32_t layers)
{
    bool some = json_object_get(fields->object, "hybrid_override_pattern") != NULL;
    for (uint32_t i = 0; i < layers; i++) {
        some = some || ffn_says(fields, "layers_block_type", i, "moe") ||
               ffn_says(fields, "layers_block_type", i, "mlp");
    }
    return some;
}

/* Which layers have experts, if no list of words says it. */
struct ffn_routing {
    uint32_t first, step, freq[LAYERS_MOST];
    bool listed; /* in `freq` */
};

static bool read_routing(const struct fields *fields, const struct model *model,
                         struct ffn_routing *out, struct error *why)
{
    static const char *const steps[] = {"moe_layer_freq", "decoder_sparse_step",
                                        "interleave_moe_layer_step", NULL};
    const char *key = field_first(fields, steps);
    out->listed = json_is_array(json_object_get(fields->object, key));
    return (out->listed ? field_each(fields, key, model->layer_count, 1, 1, out->freq, why)
                        : field_whole(fields, key, 1, SIZE_MOST, 1, &out->step, why)) &&
           field_whole(fields, "first_k_dense_replace", 0, SIZE_MOST, 0, &out->first, why);
}

static bool is_routed(const struct fields *fields, const struct ffn_routing *routing,
                      uint32_t layer)
{
    if (json_object_get(fields->object, "mlp_layer_types") != NULL) {
        return ffn_says(fields, "mlp_layer_types", layer, "sparse");
    }
    return routing->listed ? routing->freq[layer] != 0
                           : layer >= routing->first && layer % routing->step == 0;
}

/* Of a model of blocks: NULL in a layer without an FFN. */
static const struct model_layer *ffn_block_of(const struct fields *fields, uint32_t layer,
                                              const struct model_layer *dense,
                                              const struct model_layer *routed)
{
    bool moe = ffn_says(fields, "hybrid_override_pattern", layer, "E") ||
               ffn_says(fields, "layers_block_type", layer, "moe");
    bool mlp = ffn_says(fields, "hybrid_override_pattern", layer, "-") ||
               ffn_says(fields, "layers_block_type", layer, "mlp");
    return moe ? routed : mlp ? dense : NULL;
}

/* The layers that share KV may have FFNs of twice the width (Gemma 4). */
static bool widen_shared(const struct fields *fields, struct model *model, struct error *why)
{
    bool wide = false;
    if (!field_bool(fields, "use_double_wide_mlp", &wide, why)) {
        return false;
    }
    for (uint32_t i = 0; wide && i < model->layer_count; i++) {
        model->layers[i].ffn *= model->layers[i].shares_kv ? 2 : 1;
    }
    return true;
}

bool ffn_by_keys(const struct fields *fields, const struct architecture *kind, struct model *model,
                 struct error *why)
{
    struct model_layer routed = {0};
    struct ffn_routing routing = {.step = 1};
    uint32_t widths[LAYERS_MOST];
    (void)kind;
    if (!read_routed(fields, &routed, why) || !read_routing(fields, model, &routing, why)) {
        return false;
    }
    bool only = !routed.routed && json_object_get(fields->object, only_width) != NULL;
    const char *key = only ? only_width : field_first(fields, dense_widths);
    if (!field_each(fields, key, model->layer_count, SIZE_MOST, 0, widths, why)) {
        return false;
    }
    bool blocks = is_block(fields, model->layer_count);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct model_layer dense = {.ffn = widths[i]};
        const struct model_layer *ffn = blocks ? ffn_block_of(fields, i, &dense, &routed)
                                        : routed.routed && is_routed(fields, &routing, i) ? &routed
                                                                                          : &dense;
        if (ffn != NULL && ffn->ffn == 0) {
            return field_error(fields, key, why, "is missing") ||
                   error_expect(why, "the width of the FFN of layer %u", i);
        }
        if (ffn != NULL) {
            layers_set_ffn(model, i, ffn);
        }
    }
    return widen_shared(fields, model, why);
}
