/* FLOPs of a prefill: the matrix products of the decode operators with one row per token, and
 * attention over the pairs (query, earlier token) that each layer sees. MLA attends with expanded
 * heads here, which is cheaper than the absorbed form when many queries share the expansion; the
 * expansion costs as much as the absorption. */
#include "model/layer_kind.h"
#include "model/whole.h"

/* Pairs of tokens when each token sees the last `most` tokens before it; half the square when it
 * sees all of them. */
static double pairs(double tokens, double most)
{
    return tokens <= most ? tokens * tokens / 2 : most * most / 2 + (tokens - most) * most;
}

/* The same when each token sees those of its chunk. */
static double chunk_pairs(uint64_t tokens, uint64_t chunk)
{
    double whole = (double)(tokens / chunk), size = (double)chunk, rest = (double)(tokens % chunk);
    return whole * size * size / 2 + rest * rest / 2;
}

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

/* The delta rule in chunks: K Kᵀ, Q Kᵀ, and triangular products with K and V inside a chunk, and
 * three products with the state (arXiv:2412.06464). */
static double delta_flops(const struct model *model, uint64_t tokens)
{
    double heads = (double)whole_share(model->linear.value_heads, model->tensor_parallel);
    double key = model->linear.key_dim, value = model->linear.value_dim;
    double inside = MODEL_LINEAR_CHUNK * (3 * key + 2 * value), state = 3 * key * value;
    return 2 * (double)tokens * heads * (inside + state);
}

/* Of compressed layers: the window, and the entries of several tokens, all or those selected. */
static double compressed_flops(const struct model *model, const struct model_layer *at,
                               double tokens)
{
    double ratio = at->ratio, dims = 4.0 * model_query_heads(model) * model->head_dim;
    bool selects = layer_selects(model, at);
    if (at->ratio == 0) {
        return pairs(tokens, at->window) * dims;
    }
    double chosen = selects ? model->index_topk : tokens;
    double beside = pairs(tokens / ratio, chosen) * ratio;
    double scores =
        selects ? tokens * tokens / 2 / ratio * 2 * model->index_heads * model->index_dim : 0;
    return (pairs(tokens, at->window) + beside) * dims + scores;
}

/* Of heads of K and V: those that a layer's tokens see. */
static double heads_flops(const struct model *model, const struct model_layer *at, uint64_t tokens,
                          double window)
{
    bool chunked = at->attention == ATTENTION_CHUNKED;
    double seen = chunked ? chunk_pairs(tokens, at->window) : pairs((double)tokens, window);
    double dims = (double)layer_key_dim(model, at) + layer_value_dim(model, at);
    return seen * 2 * model_query_heads(model) * dims;
}

static double latent_flops(const struct model *model, const struct model_layer *at, double tokens)
{
    double dims = (double)model->head_dim + model->rope_dim + model->value_dim;
    double selected = model->index_topk > 0 ? model->index_topk : tokens;
    double index = at->shares_index ? 0 : 2.0 * model->index_heads * model->index_dim;
    return pairs(tokens, selected) * 2 * model_query_heads(model) * dims +
           pairs(tokens, tokens) * index;
}

double model_prefill_attention_flops(const struct model *model, uint32_t layer, uint64_t tokens)
{
    const struct model_layer *at = &model->layers[layer];
    switch (at->attention) {
    case ATTENTION_LINEAR:
        return delta_flops(model, tokens);
    case ATTENTION_MLA:
        return latent_flops(model, at, (double)tokens);
    case ATTENTION_COMPRESSED:
        return compressed_flops(model, at, (double)tokens);
    case ATTENTION_NONE:
        return 0;
    default:
        return heads_flops(model, at, tokens, (double)model_layer_tokens(model, layer, tokens));
    }
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
