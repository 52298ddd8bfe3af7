/* Splitting a context into what is kept and what is made again, and the cost of making it. */
#include "decode/representation.h"

#include <math.h>

static const struct trust ideal = {BASIS_MEASURED, false};

/* Of a layer in the mean: the first ones may be dense where the others have experts. */
static double mean_weight_bytes(const struct model *model)
{
    double bytes = 0;
    for (uint32_t l = 0; l < model->layer_count; l++) {
        bytes += (double)model_layer_weight_bytes(model, l);
    }
    return bytes / model->layer_count;
}

/* K and V of `tokens` tokens from their activations: one product with [W_K W_V], or with what makes
 * the latent of both. */
static struct kernel project(const struct setup *setup, double tokens)
{
    const struct model *model = &setup->model;
    double columns = model->kv_lora > 0 ? (double)model->kv_lora + model->rope_dim
                                        : 2.0 * model_kv_heads(model) * model->head_dim;
    double weights = (double)dtype_bytes(model->weights, (uint64_t)(columns * model->hidden));
    double bytes = weights + tokens * ((double)model_activation_bytes(model) +
                                       (double)model_kv_token_bytes(&setup->model, 0));
    return cost_product(setup, 2 * tokens * columns * model->hidden, tokens, bytes);
}

/* A layer's share of running `tokens` tokens of each of `sequences` through the model. */
static struct kernel run_again(const struct setup *setup, uint64_t tokens, uint32_t sequences)
{
    const struct model *model = &setup->model;
    double all = (double)tokens * sequences;
    double flops = model_prefill_flops(model, tokens) * sequences / model->layer_count;
    double bytes = mean_weight_bytes(model) + all * (double)model_kv_token_bytes(&setup->model, 0);
    return cost_product(setup, flops, all, bytes);
}

struct kernel representation_recompute(const struct setup *setup, const struct split *split,
                                       uint32_t sequences)
{
    double activations = (double)(split->act_hbm + split->act_host) * sequences;
    struct kernel kernel = activations > 0 ? project(setup, activations) : kernel_none;
    return split->ids > 0 ? kernel_then(kernel, run_again(setup, split->ids, sequences)) : kernel;
}

double representation_host_bytes(const struct setup *setup, const struct split *split)
{
    return (double)split->kv * (double)model_kv_token_bytes(&setup->model, 0) +
           (double)split->act_host * (double)model_activation_bytes(&setup->model);
}

/* CAPTURE's balance: tokens of a sequence to keep on the host as activations, of `left` that HBM
 * does not hold. The unknown is on both sides only through the loads of activations: where each
 * takes as long as that of the K and V that it saves, none are worth their making. What the figures
 * rest on is the timing's to say, which reads the same ones. */
static double balanced(const struct setup *setup, uint32_t batch, double act_hbm, double left)
{
    const struct mechanisms *m = &setup->mechanisms;
    struct trust ignored = ideal;
    double rate = cost_transfer_rate(setup, &ignored) / 1e9;
    double many = left + act_hbm;
    double gen = project(setup, many * batch).ns / (many * batch);
    double kv = (double)model_kv_token_bytes(&setup->model, 0) / rate;
    double act = m->balance_counts_act ? (double)model_activation_bytes(&setup->model) / rate : 0;
    double weights = (1 - m->weights) * mean_weight_bytes(&setup->model) / rate / batch;
    return act >= kv ? 0 : (weights + kv * left - gen * act_hbm) / (gen + kv - act);
}

static uint64_t whole_blocks(const struct setup *setup, double tokens, uint64_t most)
{
    double block = (double)setup->mechanisms.granularity;
    return (uint64_t)fmin(fmax(0, floor(tokens / block + 1e-9)) * block, (double)most);
}

struct split representation_split(const struct setup *setup, uint32_t batch, uint64_t act_hbm)
{
    const struct mechanisms *m = &setup->mechanisms;
    uint64_t left = setup->context - act_hbm;
    struct split split = {.act_hbm = act_hbm};
    switch (m->representation) {
    case REPRESENTATION_ACT:
        split.act_host = left;
        break;
    case REPRESENTATION_HYBRID:
        split.act_host =
            whole_blocks(setup,
                         m->balance ? balanced(setup, batch, (double)act_hbm, (double)left)
                                    : m->representation_share * (double)left,
                         left);
        break;
    case REPRESENTATION_TOKENS:
        split.ids = whole_blocks(setup, m->representation_share * (double)left, left);
        break;
    default:
        break;
    }
    split.kv = left - split.act_host - split.ids;
    return split;
}
