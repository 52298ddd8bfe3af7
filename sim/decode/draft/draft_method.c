#include "decode/draft/draft_method.h"

#include "model/layer_kind.h"
#include "model/whole.h"

const char *const draft_methods[] = {
    [DRAFT_NGRAM] = "ngram", [DRAFT_MODEL] = "model", [DRAFT_EAGLE3] = "eagle3",
    [DRAFT_MTP] = "mtp",     [DRAFT_METHODS] = NULL,
};

/* Words of EAGLE-3's head: "draft_vocab_size" of yuhuili/EAGLE3-LLaMA3.1-Instruct-8B and of the
 * heads that speculators and SpecForge train by default. */
enum { HEAD_WORDS = 32000 };

/* Layers of the target whose hidden states EAGLE-3 joins. */
enum { FUSED_LAYERS = 3 };

/* Width of a dense FFN, as a multiple of the hidden state, for a model that has experts alone:
 * assumed, Qwen3's. */
enum { DENSE_WIDTH = 3 };

/* The last layer that attends, without what it takes over from another layer. */
static struct model_layer attending_layer(const struct model *target)
{
    uint32_t last = target->layer_count - 1;
    while (last > 0 && (target->layers[last].attention == ATTENTION_LINEAR ||
                        target->layers[last].attention == ATTENTION_NONE)) {
        last--;
    }
    struct model_layer layer = target->layers[last];
    layer.shares_kv = layer.shares_index = false;
    return layer;
}

static uint32_t dense_width(const struct model *target)
{
    for (uint32_t l = 0; l < target->layer_count; l++) {
        if (!target->layers[l].routed && target->layers[l].ffn > 0) {
            return target->layers[l].ffn;
        }
    }
    return DENSE_WIDTH * target->hidden;
}

/* A model of one layer beside the target, on the GPUs of its last stage. */
static void single_layer(struct draft_network *network, const struct model *target)
{
    network->model = *target;
    network->layer = attending_layer(target);
    network->model.layers = &network->layer;
    network->model.layer_count = 1;
    network->model.importance = NULL;
    network->model.extras = (struct model_extras){0};
    network->model.parallel.pipeline = 1;
}

static void eagle3_init(struct draft_network *network, const struct model *target)
{
    single_layer(network, target);
    struct model *model = &network->model;
    struct model_layer *layer = &network->layer;
    bool grouped = layer->attention <= ATTENTION_CHUNKED;
    layer->attention = grouped ? ATTENTION_FULL : layer->attention;
    layer->window = grouped ? 0 : layer->window;
    layer->ffn = dense_width(target);
    layer->routed = false;
    layer->experts = layer->experts_per_token = layer->shared_experts = 0;
    model->weights = model->experts = DTYPE_BF16;
    model->layer_norms = 2;
    model->tied_embeddings = false;
    model->vocabulary = HEAD_WORDS < target->vocabulary ? HEAD_WORDS : target->vocabulary;
    network->fused = (uint64_t)FUSED_LAYERS * target->hidden;
    network->doubled_input = true;
    network->own_head = true;
}

static void mtp_init(struct draft_network *network, const struct model *target)
{
    single_layer(network, target);
    network->joined = 2 * (uint64_t)target->hidden;
}

void draft_network_init(struct draft_network *network, enum draft_method method,
                        const struct model *target, const struct model *own)
{
    *network = (struct draft_network){.joined = 0};
    switch (method) {
    case DRAFT_MODEL:
        network->model = *own;
        network->own_head = true;
        break;
    case DRAFT_EAGLE3:
        eagle3_init(network, target);
        break;
    case DRAFT_MTP:
        mtp_init(network, target);
        break;
    default:
        break;
    }
}

/* Q, K and V of a hidden state more. */
static uint64_t doubled_values(const struct draft_network *network)
{
    const struct model *model = &network->model;
    if (!network->doubled_input) {
        return 0;
    }
    uint64_t dim = layer_key_dim(model, &network->layer);
    uint64_t out = (model_query_heads(model) + 2ULL * model_kv_heads(model)) * dim;
    return whole_product(out, model->hidden);
}

uint64_t draft_network_projected(const struct draft_network *network, bool first)
{
    uint64_t width = network->joined + (first ? network->fused : 0);
    return whole_sum(whole_product(width, network->model.hidden), doubled_values(network));
}

/* The weights of a model of its own are all of its own. */
uint64_t draft_network_weight_bytes(const struct draft_network *network)
{
    const struct model *model = &network->model;
    if (model->layer_count != 1 || model->layers != &network->layer) {
        return model->layer_count > 0 ? model_weight_bytes(model) : 0;
    }
    uint64_t words = whole_share(model->vocabulary, model->tensor_parallel);
    uint64_t head = network->own_head ? whole_product(words, model->hidden) : 0;
    uint64_t values = whole_sum(draft_network_projected(network, true), head);
    return whole_sum(model_layer_weight_bytes(model, 0), dtype_bytes(DTYPE_BF16, values));
}

uint64_t draft_network_token_bytes(const struct draft_network *network)
{
    return model_kv_tokens_bytes(&network->model);
}
