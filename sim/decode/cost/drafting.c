/* The first pass has a row for each row of the verification, the others have one a sequence; each
 * ends with the head, for the last row of every sequence. */
#include "decode/cost/drafting.h"

#include "model/parallel.h"

static void drafting_network(const struct setup *setup, struct draft_network *network)
{
    const struct drafts *drafts = &setup->drafts;
    draft_network_init(network, drafts->method, &setup->model, drafts->model);
}

static bool has_network(const struct setup *setup)
{
    return setup->drafts.count > 0 && setup->drafts.method != DRAFT_NGRAM;
}

static void drafting_add(struct drafting *sum, struct kernel kernel, uint64_t kernels)
{
    sum->compute = kernel_then(sum->compute, kernel);
    sum->kernels += kernels;
}

static void add_exchanges(struct drafting *sum, const struct setup *own, uint32_t layer,
                          struct model_rows rows)
{
    uint64_t kernels;
    struct kernel kernel = cost_exchanges(own, layer, rows, &kernels);
    sum->exchanges = kernel_then(sum->exchanges, kernel);
    sum->exchanged += kernels;
}

static void drafting_add_layer(struct drafting *sum, const struct setup *own, uint32_t layer,
                               struct model_rows rows, uint64_t sequences)
{
    uint64_t attended = sequences * model_layer_attended(&own->model, layer, own->context);
    for (enum model_stage stage = 0; stage < MODEL_EDGE; stage++) {
        uint64_t kernels = cost_stage_kernels(&own->mechanisms, stage);
        drafting_add(sum, cost_row_stage(own, layer, stage, rows, attended, kernels), kernels);
    }
    add_exchanges(sum, own, layer, rows);
}

/* What joins hidden states and embeddings before the first layer, or in it. */
static void add_projection(struct drafting *sum, const struct setup *own,
                           const struct draft_network *network, bool first, uint64_t rows)
{
    double values = (double)draft_network_projected(network, first);
    if (values > 0) {
        double bytes = (double)dtype_bytes(DTYPE_BF16, 1) * values;
        drafting_add(sum,
                     kernel_product(&own->profile, 2.0 * (double)rows * values, (double)rows, bytes,
                                    DTYPE_BF16),
                     1);
    }
}

static void add_pass(struct drafting *sum, const struct setup *own,
                     const struct draft_network *network, bool first, uint64_t sequences)
{
    uint32_t queries = first ? setup_queries(own) : 1;
    struct model_rows rows = model_rows(&own->model, sequences * queries);
    rows.queries = queries;
    add_projection(sum, own, network, first, rows.own);
    for (uint32_t layer = 0; layer < own->model.layer_count; layer++) {
        drafting_add_layer(sum, own, layer, rows, sequences);
    }
    uint32_t edge = own->model.layer_count;
    drafting_add(sum, cost_stage(own, edge, MODEL_EDGE, sequences, 0, 1), 1);
    add_exchanges(sum, own, edge, model_rows(&own->model, sequences));
}

struct drafting drafting_cost(const struct setup *setup, uint64_t sequences)
{
    struct drafting sum = {kernel_none, kernel_none, 0, 0};
    struct draft_network network;
    if (!has_network(setup)) {
        return sum;
    }
    drafting_network(setup, &network);
    struct setup own = *setup;
    own.model = network.model;
    for (uint32_t pass = 0; pass < setup->drafts.count; pass++) {
        add_pass(&sum, &own, &network, pass == 0, sequences);
    }
    return sum;
}

uint64_t drafting_weight_bytes(const struct setup *setup)
{
    struct draft_network network;
    if (!has_network(setup)) {
        return 0;
    }
    drafting_network(setup, &network);
    return draft_network_weight_bytes(&network);
}

double drafting_kv_bytes(const struct setup *setup, uint64_t sequences)
{
    struct draft_network network;
    if (!has_network(setup)) {
        return 0;
    }
    drafting_network(setup, &network);
    uint64_t token = draft_network_token_bytes(&network);
    return (double)token * (double)setup->context * (double)sequences;
}
