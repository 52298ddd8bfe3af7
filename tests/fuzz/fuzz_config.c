/* Fuzzes config.json: a text is refused with a reason, or it is a model whose sizes and operators
 * agree with each other. */
#include "model/read/config.h"

#include <stdint.h>
#include <stdlib.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_layer(const struct model *model, uint32_t layer)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(model, layer, 1, 1000, operators);
    uint64_t read = 0;
    require(count > 0 && count <= MODEL_MOST_OPERATORS);
    for (size_t i = 0; i < count; i++) {
        require(operators[i].flops >= 0 && operators[i].rows >= 0);
        read += operators[i].weight_bytes;
    }
    if (layer < model->layer_count) {
        require(read <= model_layer_weight_bytes(model, layer));
        uint64_t kept = model_layer_tokens(model, layer, 1000);
        bool linear = model->layers[layer].attention == ATTENTION_LINEAR;
        require((kept > 0) == !linear && kept <= 1000);
        require((model_state_bytes(model, layer) > 0) == linear);
        require(model_layer_attended(model, layer, 1000) <= kept);
    }
}

static void check_model(const struct model *model)
{
    require(model->layer_count > 0 && model_query_heads(model) > 0 && model_kv_heads(model) > 0);
    require(model_kv_heads(model) <= model->kv_heads && model_kv_head_bytes(model) > 0);
    require(model_weight_bytes(model) > 0);
    require(model_kv_bytes(model, 1000) <= model_kv_bytes(model, 1001));
    require(model_prefill_flops(model, 100) > 0);
    for (uint32_t layer = 0; layer <= model->layer_count; layer++) {
        check_layer(model, layer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct model_options options = {
        .weights = -1, .kv = -1, .tensor_parallel = size % 3 == 0 ? 2 : 1};
    struct model model;
    struct error why = {.found = ""};
    if (model_parse((const char *)data, size, "fuzz", &options, NULL, 0, &model, &why)) {
        check_model(&model);
        model_release(&model);
    } else {
        require(why.found[0] != '\0' && model.layers == NULL);
    }
    return 0;
}
