/* Shares of a model. An expert that a token chooses with probability p is missed by t tokens with probability
 * (1 - p)^t. Without a skew p is k / E for all E experts; with the skew s it falls with the rank of the
 * expert as rank^-s, as often as Zipf's law says, and is 1 at most. The fullest of several groups has the
 * mean and as many standard deviations as the largest of so many normal draws: a visit falls into one of g
 * groups with probability 1 / g, and an expert is visited or not. */
#include "model/sharding.h"

#include <math.h>

uint32_t model_gpus(const struct model *model)
{
    return model->tensor_parallel * model_passes(model);
}

uint32_t model_passes(const struct model *model)
{
    return model->parallel.data * model->parallel.pipeline;
}

uint32_t model_stage_begin(const struct model *model, uint32_t stage)
{
    uint32_t stages = model->parallel.pipeline, more = model->layer_count % stages;
    uint32_t longer = stage + more > stages - 1 ? stage + more - (stages - 1) : 0;
    return stage * (model->layer_count / stages) + (longer < more ? longer : more);
}

bool model_is_routed(const struct model *model)
{
    uint32_t layer = 0;
    while (layer < model->layer_count && !model->layers[layer].routed) {
        layer++;
    }
    return layer < model->layer_count;
}

bool model_shares_experts(const struct model *model)
{
    return model->parallel.data > 1 && model_is_routed(model);
}

uint32_t model_context_parts(const struct model *model, uint32_t layer)
{
    bool divided = model->parallel.context > 1 && !model_layer_local(model, layer);
    return divided ? model->parallel.context : 1;
}

/* vLLM's rule (config/vllm.py). */
static bool parallel_check_context(const struct model *model, uint32_t parts, const char *origin,
                                   int line, struct error *why)
{
    uint32_t gpus = model->tensor_parallel, heads = model->kv_lora > 0 ? 1 : model->kv_heads;
    uint32_t most = gpus > heads ? gpus / heads : 1;
    if (parts > 1 && (gpus % parts != 0 || parts > most)) {
        error_input(why, origin, line, "decode_context_parallel is %u", parts);
        return error_expect(why,
                            "a divisor of tensor_parallel, which is %u, of at most %u: KV heads "
                            "are divided first, and '%s' has %u",
                            gpus, most, model->name, heads);
    }
    for (uint32_t i = 0; parts > 1 && i < model->layer_count; i++) {
        if (model_layer_local(model, i)) {
            error_input(why, origin, line, "decode_context_parallel of '%s', whose layers differ",
                        model->name);
            return error_expect(why, "a model whose layers all keep every token");
        }
    }
    return true;
}

static uint32_t fewest_experts(const struct model *model)
{
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        const struct model_layer *layer = &model->layers[i];
        fewest = layer->routed && layer->experts < fewest ? layer->experts : fewest;
    }
    return fewest;
}

static bool check_experts(const struct model *model, const struct model_parallel *parallel,
                          const char *origin, int line, struct error *why)
{
    uint64_t gpus = (uint64_t)model->tensor_parallel * parallel->data;
    bool asks = parallel->experts > 1 || parallel->all_to_all || parallel->skew > 0;
    if (asks && !model_is_routed(model)) {
        error_input(why, origin, line, "'%s' has no experts to share", model->name);
        return error_expect(why, "no expert_parallel, expert_exchange or expert_skew");
    }
    if (gpus % parallel->experts != 0 || parallel->experts > fewest_experts(model)) {
        error_input(why, origin, line, "expert_parallel is %u", parallel->experts);
        return error_expect(why,
                            "a divisor of tensor_parallel x data_parallel, which is %llu, up "
                            "to the number of experts",
                            (unsigned long long)gpus);
    }
    if (parallel->all_to_all && (parallel->experts != gpus || parallel->data == 1)) {
        error_input(why, origin, line,
                    "'expert_exchange' is all-to-all, but not every GPU has "
                    "whole experts and tokens of its own");
        return error_expect(why, "data_parallel above 1, and expert_parallel %llu",
                            (unsigned long long)gpus);
    }
    return true;
}

bool model_share(struct model *model, const struct model_parallel *parallel, const char *origin,
                 int line, struct error *why)
{
    if (parallel->pipeline > model->layer_count) {
        error_input(why, origin, line, "pipeline_parallel is %u", parallel->pipeline);
        return error_expect(why, "at most the model's %u layers", model->layer_count);
    }
    if (!check_experts(model, parallel, origin, line, why) ||
        !parallel_check_context(model, parallel->context, origin, line, why)) {
        return false;
    }
    model->parallel = *parallel;
    return true;
}

/* The factor of rank^-s with which probabilities add up to `chosen`, though none is above 1. */
static double zipf_factor(uint32_t experts, double chosen, double skew)
{
    double factor = 0;
    for (uint32_t certain = 0; certain < experts; certain++) {
        double rest = 0;
        for (uint32_t i = certain; i < experts; i++) {
            rest += pow(i + 1.0, -skew);
        }
        factor = (chosen - certain) / rest;
        if (factor * pow(certain + 1.0, -skew) <= 1) {
            break;
        }
    }
    return factor;
}

double model_largest_of(uint32_t draws)
{
    static const double most[] = {0,      0.5642, 1.0294, 1.4236, 1.7660,
                                  2.0697, 2.3437, 2.5950, 2.8272};
    enum { LAST = sizeof most / sizeof *most - 1 };
    double power = fmin(log2(draws), LAST);
    int below = power < LAST ? (int)power : LAST - 1;
    return most[below] + (power - below) * (most[below + 1] - most[below]);
}

/* The variance of how popular experts are, over the square of their mean: NVIDIA's workload for
 * kernels of experts (ai-dynamo/aiconfigurator, power_law_1.01 of collector/helper.py), in which the
 * logarithm of the tokens of an expert is as likely anywhere between 1 and 0.8 of all. */
static double popularity_variance(double tokens)
{
    double most = fmax(2, 0.8 * tokens);
    return fmax(0, log(most) * (most + 1) / (2 * (most - 1)) - 1);
}

struct model_experts model_experts_of(const struct model *model, const struct model_layer *layer,
                                      uint64_t tokens)
{
    uint32_t groups = model->parallel.experts;
    uint32_t gpus = model->tensor_parallel * model->parallel.data / groups;
    uint32_t held = (uint32_t)whole_share(layer->experts, groups);
    double each = (double)layer->experts_per_token / layer->experts;
    struct model_experts experts = {
        .held = held,
        .columns = whole_share(layer->ffn, gpus),
        .visits = (double)layer->experts_per_token * held / layer->experts,
        .unread = pow(1.0 - each, (double)tokens),
    };
    if (model->parallel.skew > 0) {
        /* The first group has experts 1, 1 + groups, 1 + 2 groups, ... by rank: the most frequent ones. */
        double skew = model->parallel.skew, missed = 0;
        double factor = zipf_factor(layer->experts, layer->experts_per_token, skew);
        experts.visits = 0;
        for (uint32_t i = 0; i < layer->experts; i += model->parallel.experts) {
            double chosen = fmin(1, factor * pow(i + 1.0, -skew));
            experts.visits += chosen;
            missed += pow(1 - chosen, (double)tokens);
        }
        experts.unread = missed / experts.held;
    }
    if (groups > 1 && tokens > 0) {
        /* Tokens that choose by chance do not visit every group alike, and some hold more popular experts
         * (alike with a skew): the mean becomes what the fullest has, of visits and visited experts. */
        double most = model_largest_of(model->parallel.experts), all = (double)tokens;
        double share = fmin(1, experts.visits / layer->experts_per_token);
        double visits = experts.visits * all, read = experts.held * (1 - experts.unread);
        double uneven = model->parallel.skew > 0 ? 0 : popularity_variance(all) / experts.held;
        visits += most * sqrt(visits * (1 + visits * uneven) * (1 - share));
        read += most * sqrt(read * experts.unread);
        experts.visits = fmin(visits / all, fmin(experts.held, layer->experts_per_token));
        experts.unread = fmax(0, 1 - read / experts.held);
    }
    return experts;
}
