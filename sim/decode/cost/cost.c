/* Kernels of a setup: the operators of its model as kernels, and what its mechanisms make of copies. */

#include "decode/cost/cost.h"

#include <math.h>
#include <string.h>

#include "decode/mechanism_values.h"
#include "model/sharding.h"

struct kernel cost_at_least(const struct setup *setup, struct kernel kernel, uint64_t kernels)
{
    return kernel_spaced(&setup->profile, kernel, kernels,
                         setup->mechanisms->launch == LAUNCH_GRAPH);
}

static struct attention_work attention_work(const struct setup *setup,
                                            const struct model_operator *op, struct model_rows rows)
{
    uint64_t queries = rows.queries > 0 ? rows.queries : 1;
    const struct model *model = &setup->model;
    return (struct attention_work){
        .bytes = (double)(op->weight_bytes + op->data_bytes),
        .flops = op->flops,
        .rows = op->rows,
        .queries = queries,
        .pairs = (double)(rows.own / queries) * model_kv_heads(model),
        .kv = model->kv,
        .multiplied = model->weights,
        .latent = model->kv_lora > 0,
    };
}

static struct kernel cost_operator(const struct setup *setup, const struct model_operator *op,
                                   struct model_rows rows)
{
    double bytes = (double)(op->weight_bytes + op->data_bytes);
    if (op->stage == MODEL_ATTEND && op->matrix) {
        const struct attention_work work = attention_work(setup, op, rows);
        return kernel_attention(&setup->profile, &work);
    }
    if (!op->matrix || op->flops <= 0) {
        return op->stage == MODEL_ATTEND ? kernel_read(&setup->profile, bytes)
                                         : kernel_move(&setup->profile, bytes);
    }
    return op->grouped
               ? kernel_experts(&setup->profile, op->flops, op->rows, (double)op->weight_bytes,
                                (double)op->data_bytes, op->weights)
               : kernel_product(&setup->profile, op->flops, op->rows, bytes, op->weights);
}

struct kernel cost_row_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                             struct model_rows rows, uint64_t attended, uint64_t kernels)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_row_operators(&setup->model, layer, rows, attended, operators);
    struct kernel sum = kernel_none;
    uint64_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        if (operators[i].stage == stage) {
            sum = kernel_then(sum, cost_operator(setup, &operators[i], rows));
            listed +=
                stage == MODEL_ATTEND ? 2 : 1; /* it merges its parts, as its curves have it */
        }
    }
    uint64_t unfused = kernels > listed ? kernels - listed : 0;
    return kernel_then(cost_at_least(setup, sum, kernels - unfused),
                       cost_at_least(setup, kernel_none, unfused));
}

struct kernel cost_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                         uint64_t batch, uint64_t attended, uint64_t kernels)
{
    return cost_row_stage(setup, layer, stage, model_rows(&setup->model, batch), attended, kernels);
}

struct kernel cost_exchanges(const struct setup *setup, uint32_t layer, struct model_rows rows,
                             uint64_t *kernels)
{
    struct model_exchange exchanges[MODEL_MOST_EXCHANGES];
    size_t count = model_exchanges(&setup->model, layer, rows, exchanges);
    struct kernel sum = kernel_none;
    for (size_t i = 0; i < count; i++) {
        sum = kernel_then(sum, kernel_exchange(&setup->profile, exchanges[i].kind,
                                               exchanges[i].gpus, exchanges[i].bytes));
    }
    *kernels = count;
    return sum;
}

/* Of 40 kernels 15 run before attention, 5 in it and 20 after it: assumed for every system. */
uint64_t cost_stage_kernels(const struct mechanisms *m, enum model_stage stage)
{
    uint64_t operators = m->operators;
    uint64_t pre = operators < 3 ? 1 : 3 * operators / 8, attend = (operators + 7) / 8;
    switch (stage) {
    case MODEL_PRE:
        return pre;
    case MODEL_ATTEND:
        return attend;
    default:
        return operators > pre + attend ? operators - pre - attend : 1;
    }
}

double cost_copy_call(const struct setup *setup, bool pageable, double bytes, struct trust *trust)
{
    const struct profile *profile = &setup->profile;
    double ns = profile_value(profile, CURVE_HOST_COPY_CALL, 0, trust);
    return pageable ? ns + bytes * 1e9 / profile_value(profile, CURVE_HOST_PAGEABLE, 0, trust) : ns;
}

static double threads_of(uint64_t threads, double all)
{
    return threads == 0 ? all : fmin((double)threads, all);
}

double cost_threads(const struct setup *setup, uint64_t threads, struct trust *trust)
{
    return threads_of(threads, profile_value(&setup->profile, CURVE_HOST_CORES, 0, trust));
}

double cost_pool_threads(const struct setup *setup, struct trust *trust)
{
    const struct mechanisms *m = setup->mechanisms;
    enum curve_id id = m->pool_of == POOL_OF_NODE ? CURVE_HOST_NODE_THREADS : CURVE_HOST_CORES;
    double there = profile_value(&setup->profile, id, 0, trust);
    return threads_of(m->pool_threads, fmax(1, floor(there - (double)m->pool_spare)));
}

double cost_uplink_sharers(const struct setup *setup, struct trust *trust)
{
    uint32_t gpus = model_gpus(&setup->model);
    if (gpus == 1) {
        return 1;
    }
    double below = profile_value(&setup->profile, CURVE_LINK_GPUS_PER_UPLINK, 0, trust);
    return fmax(1, fmin(below, gpus));
}

double cost_transfer_rate(const struct setup *setup, struct trust *trust)
{
    const struct profile *profile = &setup->profile;
    const struct mechanisms *m = setup->mechanisms;
    double link =
        profile_value(profile, CURVE_LINK_IN, 0, trust) / cost_uplink_sharers(setup, trust);
    if (m->transfer == TRANSFER_SM_ZERO_COPY || m->transfer == TRANSFER_IN_PLACE) {
        return fmin(link, profile_value(profile, CURVE_LINK_ZERO_COPY, 0, trust));
    }
    if (m->transfer == TRANSFER_CPU_STORE) {
        double threads = cost_threads(setup, m->transfer_threads, trust);
        return fmin(link, profile_value(profile, CURVE_LINK_CPU_STORE, threads, trust));
    }
    return link;
}

/* The CTA of link.cta_in_flight: RetroInfer's gather kernel, by which it is measured. */
enum { LOADING_THREADS = 256, LOADING_LANE_BYTES = 8 };

/* Bytes that a CTA of the transfer keeps in flight: as many more as it loads at a time. */
static double cta_in_flight(const struct setup *setup, struct trust *trust)
{
    const struct mechanisms *m = setup->mechanisms;
    double loads = (double)m->transfer_cta_threads * (double)m->transfer_lane_bytes;
    return profile_value(&setup->profile, CURVE_LINK_CTA_IN_FLIGHT, 0, trust) * loads /
           (LOADING_THREADS * LOADING_LANE_BYTES);
}

double cost_transfer_head_rate(const struct setup *setup, struct trust *trust)
{
    const struct profile *profile = &setup->profile;
    const struct mechanisms *m = setup->mechanisms;
    if (m->transfer == TRANSFER_SM_ZERO_COPY) {
        return (double)m->transfer_ctas * cta_in_flight(setup, trust) * 1e9 /
               profile_value(profile, CURVE_LINK_ROUND_TRIP, 0, trust);
    }
    return INFINITY;
}

static bool keys_stay(const struct setup *setup)
{
    return setup->mechanisms->keys == KEYS_HBM && setup->model.kv_lora == 0;
}

static double key_bytes(const struct setup *setup)
{
    return (double)dtype_bytes(setup->model.kv, setup->model.head_dim);
}

double keys_host_share(const struct setup *setup)
{
    return keys_stay(setup) ? 1 - key_bytes(setup) / (double)model_kv_head_bytes(&setup->model) : 1;
}

double keys_buffer_share(const struct setup *setup)
{
    return mechanisms_remake_keys(setup->mechanisms) ? 1 : keys_host_share(setup);
}

/* Bytes of so many numbers of what stands for keys. */
static double keys_number_bytes(const struct setup *setup, double numbers)
{
    double bits = (double)setup->mechanisms->keys_bits;
    return numbers * (bits > 0 ? bits / 8 : key_bytes(setup) / setup->model.head_dim);
}

double keys_hbm_bytes(const struct setup *setup)
{
    double rank = (double)setup->mechanisms->keys_rank, dim = setup->model.head_dim;
    double each = rank > 0 ? rank / model_kv_heads(&setup->model) : dim;
    double numbers = (double)setup->context * each + rank * dim;
    return keys_stay(setup) ? keys_number_bytes(setup, numbers) : 0;
}

struct kernel keys_make(const struct setup *setup, double tokens, double pairs, uint64_t *kernels)
{
    const struct profile *profile = &setup->profile;
    double rank = (double)setup->mechanisms->keys_rank, dim = setup->model.head_dim;
    double numbers = rank > 0 ? rank * (tokens + pairs * dim) : tokens * dim;
    double made = tokens * key_bytes(setup), bytes = keys_number_bytes(setup, numbers) + made;
    bool makes = made > 0 && keys_stay(setup) && mechanisms_remake_keys(setup->mechanisms);
    *kernels = !makes ? 0 : rank > 0 ? 2 : 1;
    return !makes      ? kernel_none
           : rank == 0 ? kernel_move(profile, bytes)
                       : kernel_then(kernel_product(profile, 2 * tokens * rank * dim, tokens, bytes,
                                                    DTYPE_BF16),
                                     kernel_move(profile, 2 * made));
}

/* Weights are known by operator; half a layer is the sum of its operators. */

/* The output projection belongs to the FFN's half, because it runs after the attention. */
double streamed_weight_bytes(const struct setup *setup, uint32_t layer, enum stage_half halves)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    if (setup->mechanisms->weights >= 1) {
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
    return (1 - setup->mechanisms->weights) * bytes;
}

/* The share of neurons that any of `rows` tokens activates, if each does so with `probability`. */
static double any_active(double probability, double rows)
{
    return 1 - pow(1 - fmin(1, probability), rows);
}

/* Activations follow a power law: a share g of the neurons, the most active ones, has g^x of them. */
struct weights_read cost_weights_read(const struct setup *setup, uint32_t layer,
                                      struct model_rows rows)
{
    const struct mechanisms *m = setup->mechanisms;
    struct model_operator operators[MODEL_MOST_OPERATORS];
    double bytes[3] = {0}, flops[3] = {0}; /* others, of neurons, their down projection */
    double after = 0, own = (double)rows.own;
    size_t count = model_row_operators(&setup->model, layer, rows, 0, operators);
    for (size_t i = 0; i < count; i++) {
        double weights = (double)operators[i].weight_bytes;
        size_t kind = operators[i].neurons + (size_t)(strcmp(operators[i].name, "down") == 0);
        bytes[kind] += weights;
        flops[kind] += operators[i].flops;
        after += operators[i].stage == MODEL_POST && kind == 0 ? weights : 0;
    }
    double neurons = bytes[1] + bytes[2], all = bytes[0] + neurons, left = m->weights * all;
    double layers = setup->model.layer_count;
    double predictor = m->ffn_predictor * (double)model_weight_bytes(&setup->model) / layers;
    double other = fmin(1, left / bytes[0]);
    double predicts = fmax(0, fmin(predictor, left - bytes[0]));
    double held = fmax(0, left - bytes[0] - predictor) / fmax(1, neurons);
    double hot = fmin(m->ffn_active * pow(held, log(0.8) / log(m->ffn_hot)), held);
    double cold = m->ffn_active - hot;
    double by_gpu = held > 0 ? held * any_active(hot / held, own) : 0;
    double by_cpu = held < 1 ? (1 - held) * any_active(cold / (1 - held), own) : 0;
    double predicting = (predictor - predicts) / all * (flops[0] + flops[1] + flops[2]);
    return (struct weights_read){
        .gpu = {other, 1, (after * other + predicts + by_gpu * neurons) / (after + neurons)},
        .cpu_bytes = (1 - other) * bytes[0] + predictor - predicts + by_cpu * bytes[1],
        .cpu_flops = (1 - other) * flops[0] + predicting + cold * flops[1],
        .down_bytes = (m->ffn_active < 1 ? cold * own : by_cpu) * bytes[2],
        .down_flops = cold * flops[2],
    };
}

double disk_block_bytes(const struct setup *setup)
{
    double tokens = (double)setup->mechanisms->disk_block;
    double bytes = tokens * (double)model_kv_head_bytes(&setup->model);
    return ceil(bytes / DISK_PAGE) * DISK_PAGE;
}

double disk_selection_bytes(const struct setup *setup, double missed, double all)
{
    const struct mechanisms *m = setup->mechanisms;
    double entries = fmax(1, (double)m->disk_block / (double)m->retrieval_tokens);
    double share = all > 0 ? fmin(1, missed / all) : 0;
    double blocks = m->disk_kv * all / (double)m->disk_block;
    return blocks * (1 - pow(1 - share, entries)) * disk_block_bytes(setup);
}

double disk_read_rate(const struct setup *setup, double block, struct trust *trust)
{
    uint64_t depth = setup->mechanisms->disk_depth;
    uint32_t in_flight = depth < DRIVE_DEPTH ? (uint32_t)depth : DRIVE_DEPTH;
    return drive_read_rate(&setup->profile, TIER_DISK, block, in_flight, trust) /
           model_gpus(&setup->model);
}

double disk_write_rate(const struct setup *setup, double block, struct trust *trust)
{
    return way_rate(&setup->profile, WAY_DISK_OUT, BY_ENGINE, block, trust) /
           model_gpus(&setup->model);
}

/* The first pass has a row for each row of the verification, the others have one a sequence; each
 * ends with the head, for the last row of every sequence. */

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
        uint64_t attended = sequences * model_layer_attended(&own->model, layer, own->context);
        for (enum model_stage stage = 0; stage < MODEL_EDGE; stage++) {
            uint64_t kernels = cost_stage_kernels(own->mechanisms, stage);
            drafting_add(sum, cost_row_stage(own, layer, stage, rows, attended, kernels), kernels);
        }
        add_exchanges(sum, own, layer, rows);
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
    return (double)model_kv_tokens_bytes(&network.model) * (double)setup->context *
           (double)sequences;
}
