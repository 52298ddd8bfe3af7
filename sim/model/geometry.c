/* Sizes of one GPU's share. Weights are added up from the operators that read them: both always agree. */
#include "model/layer_kind.h"
#include "model/sharding.h"

#include <string.h>

/* OPT's position table starts with two rows that no token uses. */
enum { UNUSED_POSITIONS = 2 };

uint32_t model_kv_heads(const struct model *model)
{
    return (uint32_t)whole_share(model->kv_heads, model->tensor_parallel);
}

uint32_t model_query_heads(const struct model *model)
{
    return model->query_heads / model->tensor_parallel;
}

double model_query_group(const struct model *model)
{
    return (double)model_query_heads(model) / model_kv_heads(model);
}

static bool layers_alike(const struct model_layer *a, const struct model_layer *b)
{
    return a->attention == b->attention && a->window == b->window && a->ratio == b->ratio &&
           a->kv_heads == b->kv_heads && a->head_dim == b->head_dim &&
           a->shares_kv == b->shares_kv && a->tied_value == b->tied_value &&
           a->unrotated == b->unrotated && a->routed == b->routed && a->ffn == b->ffn &&
           a->experts == b->experts && a->experts_per_token == b->experts_per_token &&
           a->shared_experts == b->shared_experts && a->shares_index == b->shares_index &&
           a->exempt == b->exempt;
}

bool model_layer_repeats(const struct model *model, uint32_t layer)
{
    return layer > 0 && layers_alike(&model->layers[layer - 1], &model->layers[layer]);
}

uint32_t model_layer_first(const struct model *model, uint32_t layer)
{
    uint32_t first = 0;
    while (!layers_alike(&model->layers[first], &model->layers[layer])) {
        first++;
    }
    return first;
}

static const struct layer_kind *geometry_kind_of(const struct model *model, uint32_t layer)
{
    return &layer_kinds[model->layers[layer].attention];
}

uint64_t model_kv_head_bytes(const struct model *model)
{
    const struct model_layer full = {.attention = ATTENTION_FULL};
    uint64_t values = 2 * (uint64_t)model->head_dim;
    if (model->kv_lora > 0) {
        return layer_kinds[ATTENTION_MLA].entry(model, &full);
    }
    values = model->value_dim > 0 ? (uint64_t)model->head_dim + model->value_dim : values;
    return dtype_bytes(model->kv, values);
}

uint64_t model_kept_token_bytes(const struct model *model)
{
    return model_kv_heads(model) * model_kv_head_bytes(model);
}

uint64_t model_kv_entry_bytes(const struct model *model, uint32_t layer)
{
    const struct layer_kind *kind = geometry_kind_of(model, layer);
    return kind->entry != NULL ? whole_share(kind->entry(model, &model->layers[layer]),
                                             model_context_parts(model, layer))
                               : 0;
}

uint64_t model_kv_token_bytes(const struct model *model, uint32_t layer)
{
    const struct model_layer *at = &model->layers[layer];
    if (at->attention == ATTENTION_COMPRESSED) {
        uint64_t entry = model_kv_entry_bytes(model, layer) + layer_index_entry(model, at);
        return at->ratio > 0 ? whole_share(entry, at->ratio) : 0;
    }
    return at->shares_kv ? 0 : model_kv_entry_bytes(model, layer);
}

uint64_t model_kv_tokens_bytes(const struct model *model)
{
    uint64_t bytes = 0;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        bytes = whole_sum(bytes, model_kv_token_bytes(model, layer));
    }
    return bytes;
}

bool model_layer_local(const struct model *model, uint32_t layer)
{
    return geometry_kind_of(model, layer)->local || model->layers[layer].shares_kv;
}

uint64_t model_state_bytes(const struct model *model, uint32_t layer)
{
    const struct layer_kind *kind = geometry_kind_of(model, layer);
    return kind->fixed != NULL ? kind->fixed(model, &model->layers[layer]) : 0;
}

uint64_t model_layer_tokens(const struct model *model, uint32_t layer, uint64_t context)
{
    return geometry_kind_of(model, layer)->entries(&model->layers[layer], context);
}

uint64_t model_layer_attended(const struct model *model, uint32_t layer, uint64_t context)
{
    const struct model_layer *at = &model->layers[layer];
    bool mean = at->attention == ATTENTION_CHUNKED && at->window < context;
    return mean ? ((uint64_t)at->window + 1) / 2 : model_layer_tokens(model, layer, context);
}

uint64_t model_layer_kv_bytes(const struct model *model, uint32_t layer, uint64_t context)
{
    const struct model_layer *at = &model->layers[layer];
    if (at->shares_kv) {
        return 0;
    }
    uint64_t entries = whole_product(model_layer_tokens(model, layer, context),
                                     model_kv_entry_bytes(model, layer));
    uint64_t keys = layer_selects(model, at)
                        ? whole_product(context / at->ratio, layer_index_entry(model, at))
                        : 0;
    return whole_sum(whole_sum(entries, keys), model_state_bytes(model, layer));
}

uint64_t model_kv_bytes(const struct model *model, uint64_t context)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bytes = whole_sum(bytes, model_layer_kv_bytes(model, i, context));
    }
    return bytes;
}

uint64_t model_index_bytes(const struct model *model, uint64_t context)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        const struct model_layer *at = &model->layers[i];
        uint64_t key = at->attention == ATTENTION_MLA ? layer_index_entry(model, at) : 0;
        bytes = whole_sum(bytes, whole_product(context, key));
    }
    return bytes;
}

uint64_t model_activation_bytes(const struct model *model)
{
    return dtype_bytes(DTYPE_BF16, model->hidden);
}

uint64_t model_matrix_bytes(const struct model *model, enum dtype dtype, uint64_t in, uint64_t out)
{
    const struct model_scales *scales = &model->scales;
    uint64_t values = whole_product(in, out);
    if (values == 0 || scales->bits == 0 || scales->dtype != dtype) {
        return dtype_bytes(dtype, values);
    }
    uint64_t groups = whole_product(scales->group > 0 ? whole_share(in, scales->group) : 1, out);
    uint64_t packed = dtype == DTYPE_INT4 ? whole_share(values, 2) : values;
    return whole_sum(packed,
                     whole_sum(whole_product(groups, scales->bits), in * scales->order) / 8);
}

uint64_t model_layer_weight_bytes(const struct model *model, uint32_t layer)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, UINT64_MAX, 0, operators);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes = whole_sum(bytes, operators[i].weight_bytes);
    }
    return bytes;
}

/* The GPUs that share the model split the embedding by words (VocabParallelEmbedding of vLLM and
 * SGLang); learned positions are not split. All rows are held although a step reads only a few. */
static uint64_t geometry_table_bytes(const struct model *model)
{
    uint64_t rows = whole_share(model->vocabulary, model->tensor_parallel);
    if (model->learned_positions) {
        rows += (uint64_t)model->trained_context + UNUSED_POSITIONS;
    }
    const struct model_extras *extras = &model->extras;
    uint64_t own = whole_product((uint64_t)extras->token_dim * model->layer_count,
                                 whole_share(extras->token_vocabulary, model->tensor_parallel));
    return dtype_bytes(DTYPE_BF16, whole_sum(whole_product(rows, model->hidden),
                                             whole_sum(own, extras->encoders)));
}

/* Norm and head. A tied head is the embedding, so it takes nothing where that is held. */
static uint64_t head_bytes(const struct model *model, bool beside_table)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, model->layer_count, 0, 0, operators);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bool head = strcmp(operators[i].name, "head") == 0;
        bool in_table = head && model->tied_embeddings && beside_table;
        bytes = whole_sum(bytes, in_table ? 0 : operators[i].weight_bytes);
    }
    return bytes;
}

uint64_t model_edge_weight_bytes(const struct model *model)
{
    return whole_sum(geometry_table_bytes(model), head_bytes(model, true));
}

uint64_t model_weight_bytes(const struct model *model)
{
    uint64_t most = 0, layer = 0;
    for (uint32_t stage = 0; stage < model->parallel.pipeline; stage++) {
        /* The first stage has the embedding, the last one norm and head. */
        bool first = stage == 0, last = stage == model->parallel.pipeline - 1;
        uint64_t bytes =
            whole_sum(first ? geometry_table_bytes(model) : 0, last ? head_bytes(model, first) : 0);
        uint32_t end = model_stage_begin(model, stage + 1);
        for (uint32_t i = model_stage_begin(model, stage); i < end; i++) {
            layer = model_layer_repeats(model, i) ? layer : model_layer_weight_bytes(model, i);
            bytes = whole_sum(bytes, layer);
        }
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- parameters ---------------------------------------------------------------------------------
 *
 * Weights are counted from the operators that read them, of a copy of the model in bf16 on one GPU; bytes
 * from a copy in its own types. What one token uses is what a batch of one reads. */

const char *const model_part_names[MODEL_PARTS] = {
    [PART_EMBEDDING] = "embedding and head",
    [PART_MIXERS] = "attention and states",
    [PART_FFN] = "FFN",
    [PART_EXPERTS] = "experts",
    [PART_ENCODERS] = "encoders",
};

enum { BF16_BYTES = 2 };

/* Operators of an FFN; all others of a layer belong to its mixer. */
static enum model_part_id part_of(const struct model_operator *op)
{
    static const char *const ffn[] = {"gate_up", "up", "down", "shared_gate_up", "shared_down"};
    static const char *const experts[] = {"router", "experts_narrow", "experts_widen"};
    for (size_t i = 0; i < sizeof ffn / sizeof *ffn; i++) {
        if (strcmp(op->name, ffn[i]) == 0) {
            return PART_FFN;
        }
    }
    for (size_t i = 0; i < sizeof experts / sizeof *experts; i++) {
        if (strcmp(op->name, experts[i]) == 0) {
            return PART_EXPERTS;
        }
    }
    return op->grouped ? PART_EXPERTS : PART_MIXERS;
}

static void count_weights(const struct model *model, uint32_t layer, uint64_t batch, bool active,
                          struct model_part *parts)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, batch, 0, operators);
    for (size_t i = 0; i < count; i++) {
        struct model_part *part = &parts[part_of(&operators[i])];
        uint64_t values = operators[i].weight_bytes / BF16_BYTES;
        *(active ? &part->active : &part->total) += values;
    }
}

void model_parts(const struct model *model, struct model_part parts[MODEL_PARTS])
{
    struct model own = *model, values;
    uint64_t encoders = model->extras.encoders, rows = model->hidden;
    own.tensor_parallel = 1;
    own.parallel = (struct model_parallel){.data = 1, .experts = 1, .pipeline = 1};
    values = own;
    values.weights = values.experts = DTYPE_BF16;
    memset(parts, 0, MODEL_PARTS * sizeof *parts);
    for (uint32_t l = 0; l < model->layer_count; l++) {
        count_weights(&values, l, UINT64_MAX, false, parts);
        count_weights(&values, l, 1, true, parts);
        struct model_operator operators[MODEL_MOST_OPERATORS];
        size_t count = model_operators(&own, l, UINT64_MAX, 0, operators);
        for (size_t i = 0; i < count; i++) {
            enum dtype type = operators[i].matrix ? operators[i].weights : DTYPE_BF16;
            parts[part_of(&operators[i])].bytes[type] += operators[i].weight_bytes;
        }
    }
    struct model_part *edge = &parts[PART_EMBEDDING];
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(&values, model->layer_count, 1, 0, operators);
    for (size_t i = 0; i < count; i++) {
        edge->active += operators[i].weight_bytes / BF16_BYTES;
    }
    edge->active += model->tied_embeddings ? 0 : rows;
    edge->total = model_edge_weight_bytes(&values) / BF16_BYTES - encoders;
    uint64_t rest = model_edge_weight_bytes(&own) - encoders * BF16_BYTES;
    count = model_operators(&own, model->layer_count, 1, 0, operators);
    for (size_t i = 0; i < count; i++) {
        bool quantised = operators[i].matrix && operators[i].weights != DTYPE_BF16;
        edge->bytes[operators[i].weights] += quantised ? operators[i].weight_bytes : 0;
        rest -= quantised ? operators[i].weight_bytes : 0;
    }
    edge->bytes[DTYPE_BF16] = rest;
    parts[PART_ENCODERS] = (struct model_part){.total = encoders};
    parts[PART_ENCODERS].bytes[DTYPE_BF16] = encoders * BF16_BYTES;
}

uint64_t model_parameters(const struct model *model)
{
    struct model_part parts[MODEL_PARTS];
    uint64_t sum = 0;
    model_parts(model, parts);
    for (size_t i = 0; i < MODEL_PARTS; i++) {
        sum = whole_sum(sum, parts[i].total);
    }
    return sum;
}

/* ---- prefill ------------------------------------------------------------------------------------
 *
 * The matrix products of the decode operators with one row per token, and attention over the pairs (query,
 * earlier token) that each layer sees. MLA attends with expanded heads here, which is cheaper than the
 * absorbed form when many queries share the expansion; the expansion costs as much as the absorption. */

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
    const struct layer_kind *kind = geometry_kind_of(model, layer);
    return kind->prompt_flops != NULL ? kind->prompt_flops(model, &model->layers[layer], tokens)
                                      : 0;
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
