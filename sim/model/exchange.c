/* The exchanges of a layer: those of attention, those of its FFN, and the way to the next stage. */
#include "model/exchange.h"

#include "model/layer_kind.h"
#include "model/sharding.h"

struct exchanges {
    struct model_exchange *all;
    size_t count;
};

/* Nothing is exchanged with fewer than two GPUs. */
static void exchange_add(struct exchanges *to, enum exchange_kind kind, uint32_t gpus, double bytes)
{
    if (gpus > 1) {
        to->all[to->count++] = (struct model_exchange){kind, gpus, bytes};
    }
}

static double exchange_hidden_bytes(const struct model *model, uint64_t rows)
{
    return (double)model_activation_bytes(model) * (double)rows;
}

/* GPUs that a token visits, of `gpus` with as many experts each, if it chooses its experts without
 * preference: each GPU is left out with the probability that none of its experts is drawn. */
static double visited_gpus(const struct model_layer *layer, uint32_t gpus)
{
    double held = (double)layer->experts / gpus, left_out = 1;
    for (uint32_t i = 0; i < layer->experts_per_token; i++) {
        double others = layer->experts - held - i;
        left_out *= others > 0 ? others / (layer->experts - i) : 0;
    }
    return gpus * (1 - left_out);
}

static void add_experts(const struct model *model, const struct model_layer *layer,
                        struct model_rows rows, struct exchanges *to)
{
    uint32_t tensor = model->tensor_parallel, data = model->parallel.data;
    double own = exchange_hidden_bytes(model, rows.own),
           all = exchange_hidden_bytes(model, rows.all);
    if (model->parallel.all_to_all) {
        uint32_t gpus = model->parallel.experts;
        double sent = own / tensor * visited_gpus(layer, gpus);
        exchange_add(to, EXCHANGE_ALL_TO_ALL, gpus, sent);
        exchange_add(to, EXCHANGE_ALL_TO_ALL, gpus, sent);
        exchange_add(to, EXCHANGE_ALL_GATHER, tensor, own);
    } else {
        exchange_add(to, EXCHANGE_ALL_GATHER, data, all);
        exchange_add(to, EXCHANGE_REDUCE_SCATTER, data, all);
        exchange_add(to, EXCHANGE_ALL_REDUCE, tensor, own);
    }
}

/* Around attention, if GPUs divide the tokens. */
static void add_context(const struct model *model, uint32_t layer, uint64_t rows,
                        struct exchanges *to)
{
    const struct model_layer *at = &model->layers[layer];
    uint32_t parts = model_context_parts(model, layer);
    bool latent = at->attention == ATTENTION_MLA;
    uint64_t query = latent ? model->kv_lora + model->rope_dim : layer_key_dim(model, at);
    uint64_t result = latent ? model->kv_lora : layer_value_dim(model, at);
    double heads = (double)rows * model_query_heads(model) * parts;
    exchange_add(to, EXCHANGE_ALL_GATHER, parts, heads * (double)dtype_bytes(DTYPE_BF16, query));
    exchange_add(to, EXCHANGE_ALL_GATHER, parts, heads * parts * sizeof(float));
    exchange_add(to, EXCHANGE_REDUCE_SCATTER, parts,
                 heads * (double)dtype_bytes(DTYPE_BF16, result));
}

size_t model_exchanges(const struct model *model, uint32_t layer, struct model_rows rows,
                       struct model_exchange *out)
{
    struct exchanges to = {out, 0};
    if (layer == model->layer_count) { /* each GPU has the logits of a part of the vocabulary */
        double logits = (double)dtype_bytes(DTYPE_BF16, model->vocabulary) * (double)rows.own;
        exchange_add(&to, EXCHANGE_ALL_GATHER, model->tensor_parallel, logits);
        return to.count;
    }
    const struct model_layer *at = &model->layers[layer];
    bool last_of_stage = false;
    for (uint32_t stage = 1; stage < model->parallel.pipeline; stage++) {
        last_of_stage = last_of_stage || layer + 1 == model_stage_begin(model, stage);
    }
    double own = exchange_hidden_bytes(model, rows.own);
    add_context(model, layer, rows.own, &to);
    exchange_add(&to, EXCHANGE_ALL_REDUCE, model->tensor_parallel, own);
    if (at->routed) {
        add_experts(model, at, rows, &to);
    } else {
        exchange_add(&to, EXCHANGE_ALL_REDUCE, model->tensor_parallel, own);
    }
    exchange_add(&to, EXCHANGE_SEND, last_of_stage ? 2 : 1, own);
    return to.count;
}
