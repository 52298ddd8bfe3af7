/* FLOPs of a prefill: the matrix products of the decode operators with one row per token, and
 * attention over the pairs (query, earlier token) that each layer sees. MLA attends with expanded
 * heads here, which is cheaper than the absorbed form when many queries share the expansion; the
 * expansion costs as much as the absorption. */
#include "model/layer_kind.h"

static double model_prefill_product_flops(const struct model *model, uint32_t layer, uint64_t rows)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, rows, 0, operators);
    double flops = 0;
    for (size_t i = 0; i < count; i++) {
        flops += operators[i].flops;
    }
    return flops;
}

double model_prefill_state_bytes(const struct model *model, uint32_t layer, uint64_t tokens)
{
    bool linear = model->layers[layer].attention == ATTENTION_LINEAR;
    double state = linear ? (double)model_state_bytes(model, layer) : 0;
    return 2.0 * state * (double)tokens / MODEL_LINEAR_CHUNK;
}

double model_prefill_attention_flops(const struct model *model, uint32_t layer, uint64_t tokens)
{
    const struct model_layer *at = &model->layers[layer];
    return layer_kinds[at->attention].prompt_flops(model, at, tokens);
}

double model_prefill_flops(const struct model *model, uint64_t tokens)
{
    double flops = tokens > 0 ? model_prefill_product_flops(model, model->layer_count, 1) : 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        flops += model_prefill_product_flops(model, i, tokens) +
                 model_prefill_attention_flops(model, i, tokens);
    }
    return flops;
}
