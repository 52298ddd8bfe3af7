/* The exchanges of a layer, by what it is split over. */
#include "model/exchange.h"

static double hidden_bytes(const struct model *model, uint64_t rows)
{
    return (double)model_activation_bytes(model) * (double)rows;
}

size_t model_exchanges(const struct model *model, uint32_t layer, uint64_t rows,
                       struct model_exchange *out)
{
    (void)layer; /* attention and FFN of every layer are split alike */
    size_t count = 0;
    if (model->tensor_parallel > 1) {
        struct model_exchange sum = {EXCHANGE_ALL_REDUCE, model->tensor_parallel,
                                     hidden_bytes(model, rows)};
        out[count++] = sum;
        out[count++] = sum;
    }
    return count;
}
