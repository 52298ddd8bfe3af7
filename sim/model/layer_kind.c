/* One function for each kind and figure; the kinds are rows below. */
#include "model/layer_kind.h"

bool layer_slides(const struct model_layer *layer)
{
    const struct layer_kind *kind = &layer_kinds[layer->attention];
    return kind->heads && kind->local;
}

uint32_t layer_kv_heads(const struct model *model, const struct model_layer *layer)
{
    return layer->kv_heads > 0 ? layer->kv_heads : model->kv_heads;
}

uint32_t layer_key_dim(const struct model *model, const struct model_layer *layer)
{
    return layer->head_dim > 0 ? layer->head_dim : model->head_dim;
}

uint32_t layer_value_dim(const struct model *model, const struct model_layer *layer)
{
    return model->value_dim > 0 ? model->value_dim : layer_key_dim(model, layer);
}

static uint64_t heads_entry(const struct model *model, const struct model_layer *layer)
{
    uint64_t values = (uint64_t)layer_key_dim(model, layer) + layer_value_dim(model, layer);
    return whole_share(layer_kv_heads(model, layer), model->tensor_parallel) *
           dtype_bytes(model->kv, values);
}

/* Where the values stay in fp8 and an indexer selects, engines keep the rotated part in bf16 and
 * a scale of 32 bits for every 128 values: 656 bytes (FlashMLA's sparse kernels). */
static uint64_t latent_entry(const struct model *model, const struct model_layer *layer)
{
    (void)layer;
    bool mixed = model->index_heads > 0 && model->kv == DTYPE_FP8;
    return mixed ? model->kv_lora + model->kv_lora / 32 + 2 * (uint64_t)model->rope_dim
                 : dtype_bytes(model->kv, (uint64_t)model->kv_lora + model->rope_dim);
}

/* One vector is K and V. In fp8 the rotated part stays in bf16, and 64 values share a scale of 8
 * bits, in whole words: 584 bytes of 512 values. */
static uint64_t compressed_entry(const struct model *model, const struct model_layer *layer)
{
    uint64_t plain = (uint64_t)layer_key_dim(model, layer) - model->rope_dim;
    return model->kv == DTYPE_FP8 ? plain + 2 * (uint64_t)model->rope_dim + (plain / 64 + 7) / 8 * 8
                                  : dtype_bytes(model->kv, plain + model->rope_dim);
}

static uint64_t every_token(const struct model_layer *layer, uint64_t context)
{
    (void)layer;
    return context;
}

static uint64_t windowed(const struct model_layer *layer, uint64_t context)
{
    return layer->window < context ? layer->window : context;
}

static uint64_t compressed_entries(const struct model_layer *layer, uint64_t context)
{
    return windowed(layer, context) + (layer->ratio > 0 ? context / layer->ratio : 0);
}

/* The recurrent state, and what the convolution keeps of the last tokens' Q, K and V. */
static uint64_t linear_state(const struct model *model, const struct model_layer *layer)
{
    const struct model_linear *linear = &model->linear;
    (void)layer;
    uint64_t key = whole_share(linear->key_heads, model->tensor_parallel) * linear->key_dim;
    uint64_t value = whole_share(linear->value_heads, model->tensor_parallel) * linear->value_dim;
    uint64_t state = whole_product(whole_product(value, linear->key_dim), linear->state_bytes);
    uint64_t seen = whole_product(2 * key + value, linear->kernel - 1);
    return whole_sum(state, dtype_bytes(DTYPE_BF16, seen));
}

/* Of the tokens that no entry has yet, and of those of the entry before if it overlaps: what is
 * averaged and by which weights, in fp32. */
static uint64_t compressor_state(const struct model *model, const struct model_layer *layer)
{
    uint64_t parts = layer_selects(model, layer) ? 2 : 1;
    uint64_t values = parts * (layer_key_dim(model, layer) +
                               (layer_selects(model, layer) ? model->index_dim : 0));
    return 2 * sizeof(float) * whole_product(parts * layer->ratio, values);
}

/* ---- attention in a prompt ---- */

/* Pairs of tokens when each token sees the last `most` before it; half the square when it sees all. */
static double pairs(double tokens, double most)
{
    return tokens <= most ? tokens * tokens / 2 : most * most / 2 + (tokens - most) * most;
}

/* The delta rule in chunks: K Kᵀ, Q Kᵀ, and triangular products with K and V inside a chunk, and
 * three products with the state (arXiv:2412.06464). */
static double delta_flops(const struct model *model, const struct model_layer *at, uint64_t tokens)
{
    (void)at;
    double heads = (double)whole_share(model->linear.value_heads, model->tensor_parallel);
    double key = model->linear.key_dim, value = model->linear.value_dim;
    double inside = MODEL_LINEAR_CHUNK * (3 * key + 2 * value), state = 3 * key * value;
    return 2 * (double)tokens * heads * (inside + state);
}

/* Of compressed layers: the window, and the entries of several tokens, all or those selected. */
static double compressed_flops(const struct model *model, const struct model_layer *at,
                               uint64_t count)
{
    double tokens = (double)count, ratio = at->ratio,
           dims = 4.0 * model_query_heads(model) * model->head_dim;
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

static double heads_token(const struct model *model, const struct model_layer *at)
{
    return 2.0 * ((double)layer_key_dim(model, at) + layer_value_dim(model, at));
}

static double heads_flops(const struct model *model, const struct model_layer *at, uint64_t tokens)
{
    double most = (double)layer_kinds[at->attention].entries(at, tokens);
    return pairs((double)tokens, most) * model_query_heads(model) * heads_token(model, at);
}

/* Each token sees those of its chunk. */
static double chunked_flops(const struct model *model, const struct model_layer *at,
                            uint64_t tokens)
{
    double size = at->window, rest = (double)(tokens % at->window);
    double seen = (double)(tokens / at->window) * size * size / 2 + rest * rest / 2;
    return seen * model_query_heads(model) * heads_token(model, at);
}

/* Heads are expanded, and their keys carry positions beside. */
static double latent_token(const struct model *model, const struct model_layer *at)
{
    (void)at;
    return 2.0 * (model->head_dim + model->rope_dim + model->value_dim);
}

static double latent_flops(const struct model *model, const struct model_layer *at, uint64_t count)
{
    double tokens = (double)count,
           dims = (double)model->head_dim + model->rope_dim + model->value_dim;
    double selected = model->index_topk > 0 ? model->index_topk : tokens;
    double index = at->shares_index ? 0 : 2.0 * model->index_heads * model->index_dim;
    return pairs(tokens, selected) * 2 * model_query_heads(model) * dims +
           pairs(tokens, tokens) * index;
}

static double compressed_token(const struct model *model, const struct model_layer *at)
{
    (void)at;
    return 4.0 * model->head_dim;
}

const struct layer_kind layer_kinds[ATTENTION_KINDS] = {
    [ATTENTION_FULL] = {"full", "K and V of every token", true, false, heads_entry, every_token,
                        NULL, heads_flops, heads_token},
    [ATTENTION_SLIDING] = {"sliding", "K and V of a window", true, true, heads_entry, windowed,
                           NULL, heads_flops, heads_token},
    [ATTENTION_CHUNKED] = {"chunked", "K and V of a chunk", true, true, heads_entry, windowed, NULL,
                           chunked_flops, heads_token},
    [ATTENTION_LINEAR] = {"linear", "a state", false, true, NULL, windowed, linear_state,
                          delta_flops, NULL},
    [ATTENTION_MLA] = {"latent", "a latent of every token", false, false, latent_entry, every_token,
                       NULL, latent_flops, latent_token},
    [ATTENTION_COMPRESSED] = {"compressed", "a window, and an entry of several tokens", false, true,
                              compressed_entry, compressed_entries, compressor_state,
                              compressed_flops, compressed_token},
    [ATTENTION_NONE] = {"none", "nothing: an FFN alone", false, true, NULL, windowed, NULL, NULL,
                        NULL},
};

static uint32_t smallest_ratio(const struct model *model)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        uint32_t ratio = model->layers[i].ratio;
        least = ratio > 0 && ratio < least ? ratio : least;
    }
    return least;
}

bool layer_selects(const struct model *model, const struct model_layer *layer)
{
    return layer->attention == ATTENTION_COMPRESSED && model->index_heads > 0 &&
           layer->ratio == smallest_ratio(model);
}

/* In fp8 a key has a scale of 32 bits (DeepSeek's DeepGEMM). */
uint64_t layer_index_entry(const struct model *model, const struct model_layer *layer)
{
    bool latent = layer->attention == ATTENTION_MLA && model->index_heads > 0;
    if (!layer_selects(model, layer) && (!latent || layer->shares_index)) {
        return 0;
    }
    uint64_t key = dtype_bytes(model->kv, model->index_dim);
    return model->kv == DTYPE_BF16 ? key : key + sizeof(float);
}
