/* Splitting a context into stored and recomputed parts, and the cost of recomputing. */
#include "decode/plan/representation.h"

#include <math.h>

static const struct trust ideal = {.basis = BASIS_MEASURED};

/* The mean over layers: the first ones may be dense while the others have experts. */
static double mean_weight_bytes(const struct model *model)
{
    double bytes = 0;
    for (uint32_t l = 0; l < model->layer_count; l++) {
        bytes += (double)model_layer_weight_bytes(model, l);
    }
    return bytes / model->layer_count;
}

/* K and V of `tokens` tokens from their activations: one product with [W_K W_V], or for MLA with
 * the projection to the latent of both. */
static struct kernel project(const struct setup *setup, double tokens)
{
    const struct model *model = &setup->model;
    double columns = model->kv_lora > 0 ? (double)model->kv_lora + model->rope_dim
                                        : 2.0 * model_kv_heads(model) * model->head_dim;
    double weights = (double)dtype_bytes(model->weights, (uint64_t)(columns * model->hidden));
    double bytes = weights + tokens * ((double)model_activation_bytes(model) +
                                       (double)model_kept_token_bytes(&setup->model));
    return kernel_product(&setup->profile, 2 * tokens * columns * model->hidden, tokens, bytes,
                          model->weights);
}

/* A layer's share of running tokens through the model. */
static struct kernel run_again(const struct setup *setup, const struct remaking *remaking)
{
    const struct model *model = &setup->model;
    double all = remaking->tokens;
    double flops = remaking->flops / model->layer_count;
    double bytes = mean_weight_bytes(model) + all * (double)model_kept_token_bytes(&setup->model);
    return kernel_product(&setup->profile, flops, all, bytes, model->weights);
}

void representation_add(const struct setup *setup, const struct split *split, uint32_t sequences,
                        struct remaking *remaking)
{
    remaking->activations += (double)(split->act_hbm + split->act_host) * sequences;
    if (split->ids > 0) {
        remaking->tokens += (double)split->ids * sequences;
        remaking->flops += model_prefill_flops(&setup->model, split->ids) * sequences;
    }
}

struct kernel representation_recompute(const struct setup *setup, const struct remaking *remaking)
{
    struct kernel kernel =
        remaking->activations > 0 ? project(setup, remaking->activations) : kernel_none;
    return remaking->tokens > 0 ? kernel_then(kernel, run_again(setup, remaking)) : kernel;
}

double split_host_bytes(const struct setup *setup, const struct split *split)
{
    return (double)split->kv * (double)model_kept_token_bytes(&setup->model) +
           (double)split->act_host * (double)model_activation_bytes(&setup->model);
}

/* CAPTURE's balance: tokens of a sequence to keep on the host as activations, of the `left` tokens
 * outside HBM. It solves the equation in representation.h for act_host. If loading an activation
 * takes as long as loading the K and V it replaces, activations save nothing, and the result is 0.
 * Trust is ignored here: the timing reads the same figures and reports theirs. */
static double balanced(const struct setup *setup, uint32_t batch, double act_hbm, double left)
{
    const struct mechanisms *m = &setup->mechanisms;
    struct trust ignored = ideal;
    double rate = cost_transfer_rate(setup, &ignored) / 1e9;
    double many = left + act_hbm;
    double gen = project(setup, many * batch).ns / (many * batch);
    double kv = (double)model_kept_token_bytes(&setup->model) / rate;
    double act = m->balance_counts_act ? (double)model_activation_bytes(&setup->model) / rate : 0;
    double weights = (1 - m->weights) * mean_weight_bytes(&setup->model) / rate / batch;
    return act >= kv ? 0 : (weights + kv * left - gen * act_hbm) / (gen + kv - act);
}

static uint64_t whole_blocks(const struct setup *setup, double tokens, uint64_t most)
{
    double block = (double)setup->mechanisms.granularity;
    return (uint64_t)fmin(fmax(0, floor(tokens / block + 1e-9)) * block, (double)most);
}

double representation_share(const struct setup *setup, uint32_t batch, double context,
                            double act_hbm)
{
    const struct mechanisms *m = &setup->mechanisms;
    double left = context - act_hbm;
    if (m->representation == REPRESENTATION_ACT) {
        return 1;
    }
    return !m->balance ? m->representation_share
           : left > 0  ? balanced(setup, batch, act_hbm, left) / left
                       : 0;
}

struct split representation_split(const struct setup *setup, uint64_t context, uint64_t act_hbm,
                                  double share)
{
    uint64_t left = context - act_hbm;
    bool act = setup->mechanisms.representation == REPRESENTATION_ACT;
    uint64_t again = act ? left : whole_blocks(setup, share * (double)left, left);
    struct split split = {.act_hbm = act_hbm, .kv = left - again};
    if (setup->mechanisms.representation == REPRESENTATION_TOKENS) {
        split.ids = again;
    } else {
        split.act_host = again;
    }
    return split;
}
