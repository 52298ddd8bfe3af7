#include "run/lacks.h"

#include "decode/cost/kernels.h"
#include "model/exchange.h"

#include <stdio.h>

static void note_products(const struct setup *setup, struct result *result)
{
    enum dtype weights = setup->model.weights;
    char note[KERNEL_NOTE];
    if (kernel_product_note(&setup->profile, weights, note)) {
        result_note(result, note);
    }
}

/* GPUs that take part in the largest exchange of the model. */
static uint32_t exchanging_gpus(const struct model *model)
{
    struct model_exchange exchanges[MODEL_MOST_EXCHANGES];
    uint32_t most = 0;
    for (uint32_t layer = 0; layer <= model->layer_count; layer++) {
        size_t count = model_exchanges(model, layer, model_rows(model, 1), exchanges);
        for (size_t i = 0; i < count; i++) {
            bool among = exchanges[i].kind != EXCHANGE_SEND;
            most = among && exchanges[i].gpus > most ? exchanges[i].gpus : most;
        }
    }
    return most;
}

static void note_gpus(const struct setup *setup, struct result *result)
{
    uint32_t gpus = exchanging_gpus(&setup->model);
    char note[160];
    if (gpus > KERNEL_NODE_GPUS) {
        snprintf(note, sizeof note,
                 "exchanges among %u GPUs are taken for those of %d: the machine's fabric joins no "
                 "more, and a network between machines is slower",
                 gpus, KERNEL_NODE_GPUS);
        result_note(result, note);
    }
}

void lacks_note(const struct setup *setup, struct result *result)
{
    note_products(setup, result);
    note_gpus(setup, result);
}
