/* Weights are counted from the operators that read them, of a copy of the model in bf16 on one GPU;
 * bytes from a copy in its own types. What one token uses is what a batch of one reads. */
#include "model/parameters.h"

#include "model/whole.h"

#include <string.h>

const char *const model_part_names[PART_COUNT] = {
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

static struct model alone(const struct model *model)
{
    struct model copy = *model;
    copy.tensor_parallel = 1;
    copy.parallel = (struct model_parallel){.data = 1, .experts = 1, .pipeline = 1};
    return copy;
}

static struct model plain(const struct model *model)
{
    struct model copy = alone(model);
    copy.weights = copy.experts = copy.narrow = DTYPE_BF16;
    return copy;
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

static void weigh_bytes(const struct model *model, uint32_t layer, struct model_part *parts)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, UINT64_MAX, 0, operators);
    for (size_t i = 0; i < count; i++) {
        enum dtype type = operators[i].matrix ? operators[i].weights : DTYPE_BF16;
        parts[part_of(&operators[i])].bytes[type] += operators[i].weight_bytes;
    }
}

void model_parts(const struct model *model, struct model_part parts[PART_COUNT])
{
    struct model own = alone(model), values = plain(model);
    uint64_t encoders = model->extras.encoders, rows = model->hidden;
    memset(parts, 0, PART_COUNT * sizeof *parts);
    for (uint32_t l = 0; l < model->layer_count; l++) {
        count_weights(&values, l, UINT64_MAX, false, parts);
        count_weights(&values, l, 1, true, parts);
        weigh_bytes(&own, l, parts);
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
    struct model_part parts[PART_COUNT];
    uint64_t sum = 0;
    model_parts(model, parts);
    for (size_t i = 0; i < PART_COUNT; i++) {
        sum = whole_sum(sum, parts[i].total);
    }
    return sum;
}
