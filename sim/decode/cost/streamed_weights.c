/* Weights are known by operator; half a layer is the sum of its operators. */
#include "decode/cost/streamed_weights.h"

/* The output projection belongs to the FFN's half, because it runs after the attention. */
double streamed_weight_bytes(const struct setup *setup, uint32_t layer, enum stage_half halves)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    if (setup->mechanisms.weights >= 1) {
        return 0;
    }
    double all = (double)model_layer_weight_bytes(&setup->model, layer), attention = 0;
    size_t count = model_operators(&setup->model, layer, 1, 1, operators);
    for (size_t i = 0; i < count; i++) {
        attention += operators[i].stage == MODEL_PRE ? (double)operators[i].weight_bytes : 0;
    }
    double bytes = halves == HALF_BOTH        ? all
                   : halves == HALF_ATTENTION ? attention
                                              : all - attention;
    return (1 - setup->mechanisms.weights) * bytes;
}
