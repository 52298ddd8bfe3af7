#include "predict/steps/step_launch.h"

#include "decode/cost/cost.h"
#include "model/operator.h"

#include <math.h>

/* Operators of a dense layer (model/operators_*.c): norm, qkv, rope, kv_write, attention, o, norm,
 * gate_up, activation, down. */
enum { DENSE_OPERATORS = 10 };

static double layer_kernels(const struct setup *setup, uint32_t layer)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    const struct model_rows rows = model_rows(&setup->model, 1);
    double count = (double)model_row_operators(&setup->model, layer, rows, 1, operators);
    uint64_t exchanges;
    cost_exchanges(setup, layer, rows, &exchanges);
    double dense = (double)setup->mechanisms.operators - DENSE_OPERATORS;
    return fmax(1, dense + count) + (double)exchanges;
}

double step_launch_ns(const struct setup *setup, struct trust *trust)
{
    double kernels = 0;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        kernels += layer_kernels(setup, layer);
    }
    return kernels / setup->model.parallel.pipeline * setup->mechanisms.launch_cost *
           profile_value(&setup->profile, CURVE_HOST_LAUNCH, 0, trust);
}
