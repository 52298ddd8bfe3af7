/* Durations of kernels alone. Roofline by operator, each with the share of the peak that its size
 * reaches; never less than the gap between kernels. Of several bounds, only the one that decides is
 * trusted or not: a kernel bound by memory does not rest on an assumed compute rate. */
#include "decode/cost.h"

#include <math.h>

double cost_kernel_gap(const struct setup *setup, struct trust *trust)
{
    enum curve_id gap =
        setup->mechanisms.launch == LAUNCH_GRAPH ? CURVE_GPU_GRAPH_NODE : CURVE_GPU_KERNEL_FLOOR;
    return profile_value(&setup->profile, gap, 0, trust);
}

/* A bound on a kernel's time, and what it rests on. */
struct bound {
    double ns;
    struct trust trust;
};

static struct bound bound_max(struct bound a, struct bound b)
{
    return a.ns >= b.ns ? a : b;
}

/* Time to stream `bytes` through HBM at the share of its peak that so many bytes reach. */
static struct bound bound_read(const struct setup *setup, double bytes)
{
    struct bound bound = {0, {BASIS_MEASURED, false}};
    if (bytes > 0) {
        const struct profile *profile = &setup->profile;
        bound.ns = bytes * 1e9 /
                   (profile_value(profile, CURVE_GPU_HBM_BANDWIDTH, 0, &bound.trust) *
                    profile_value(profile, CURVE_GPU_HBM_SHARE, bytes, &bound.trust));
    }
    return bound;
}

static struct bound bound_kernels(const struct setup *setup, uint64_t kernels)
{
    struct bound bound = {0, {BASIS_MEASURED, false}};
    bound.ns = (double)kernels * cost_kernel_gap(setup, &bound.trust);
    return bound;
}

struct kernel cost_read(const struct setup *setup, double bytes, uint64_t kernels,
                        struct trust *trust)
{
    struct bound bound = bound_max(bound_read(setup, bytes), bound_kernels(setup, kernels));
    trust_add(trust, bound.trust);
    return (struct kernel){bytes, bound.ns};
}

struct kernel cost_cta_copy(const struct setup *setup, double bytes, double ctas,
                            struct trust *trust)
{
    if (bytes <= 0) {
        return (struct kernel){0, 0};
    }
    struct bound latency = {0, {BASIS_MEASURED, false}};
    double alone = profile_value(&setup->profile, CURVE_GPU_CTA_BANDWIDTH, 0, &latency.trust);
    latency.ns = bytes * 1e9 / (alone * ctas);
    struct bound bound = bound_max(bound_read(setup, 2 * bytes), bound_kernels(setup, 1));
    bound = bound_max(latency, bound);
    trust_add(trust, bound.trust);
    return (struct kernel){2 * bytes, bound.ns};
}

struct kernel cost_topk(const struct setup *setup, double elements, struct trust *trust)
{
    if (elements <= 0) {
        return (struct kernel){0, 0};
    }
    return (struct kernel){4 * elements,
                           profile_value(&setup->profile, CURVE_GPU_TOPK, elements, trust)};
}

/* Matrix products of fp8 weights run at the fp8 rate, all others at bf16's: weights of fewer bits
 * are unpacked before the product. */
static struct bound bound_matrix(const struct setup *setup, const struct model_operator *op)
{
    struct bound bound = {0, {BASIS_MEASURED, false}};
    if (op->matrix && op->flops > 0) {
        enum curve_id peak =
            setup->model.weights == DTYPE_FP8 ? CURVE_GPU_FLOPS_FP8 : CURVE_GPU_FLOPS_BF16;
        bound.ns = op->flops * 1e9 /
                   (profile_value(&setup->profile, peak, 0, &bound.trust) *
                    profile_value(&setup->profile, CURVE_GPU_FLOPS_SHARE, op->rows, &bound.trust));
    }
    return bound;
}

struct kernel cost_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                         uint64_t batch, uint64_t attended, uint64_t kernels, struct trust *trust)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(&setup->model, layer, batch, attended, operators);
    struct kernel sum = {0, 0};
    struct trust summed = {BASIS_MEASURED, false};
    for (size_t i = 0; i < count; i++) {
        const struct model_operator *op = &operators[i];
        if (op->stage == stage) {
            double bytes = (double)(op->weight_bytes + op->data_bytes);
            struct bound bound = bound_max(bound_read(setup, bytes), bound_matrix(setup, op));
            sum = kernel_then(sum, (struct kernel){bytes, bound.ns});
            trust_add(&summed, bound.trust);
        }
    }
    struct bound bound = bound_max((struct bound){sum.ns, summed}, bound_kernels(setup, kernels));
    trust_add(trust, bound.trust);
    return (struct kernel){sum.bytes, bound.ns};
}

struct kernel kernel_then(struct kernel first, struct kernel second)
{
    return (struct kernel){first.bytes + second.bytes, first.ns + second.ns};
}

double cost_threads(const struct setup *setup, uint64_t threads, struct trust *trust)
{
    double cores = profile_value(&setup->profile, CURVE_HOST_CORES, 0, trust);
    return threads == 0 ? cores : (double)threads;
}

double cost_uplink_sharers(const struct setup *setup, struct trust *trust)
{
    double below = profile_value(&setup->profile, CURVE_LINK_GPUS_PER_UPLINK, 0, trust);
    return fmax(1, fmin(below, setup->model.tensor_parallel));
}

double cost_transfer_rate(const struct setup *setup, struct trust *trust)
{
    const struct profile *profile = &setup->profile;
    const struct mechanisms *m = &setup->mechanisms;
    double link =
        profile_value(profile, CURVE_LINK_H2D, 0, trust) / cost_uplink_sharers(setup, trust);
    if (m->transfer == TRANSFER_SM_ZERO_COPY) {
        return fmin(link, profile_value(profile, CURVE_LINK_ZERO_COPY, 0, trust));
    }
    if (m->transfer == TRANSFER_CPU_STORE) {
        double threads = cost_threads(setup, m->transfer_threads, trust);
        return fmin(link, profile_value(profile, CURVE_LINK_CPU_STORE, threads, trust));
    }
    return link;
}

double cost_transfer_head_rate(const struct setup *setup, struct trust *trust)
{
    const struct profile *profile = &setup->profile;
    const struct mechanisms *m = &setup->mechanisms;
    if (m->transfer == TRANSFER_SM_ZERO_COPY) {
        return (double)m->transfer_ctas *
               profile_value(profile, CURVE_LINK_CTA_IN_FLIGHT, 0, trust) * 1e9 /
               profile_value(profile, CURVE_LINK_ROUND_TRIP, 0, trust);
    }
    if (m->transfer == TRANSFER_CPU_STORE) {
        return profile_value(profile, CURVE_LINK_CPU_STORE, 1, trust);
    }
    return INFINITY;
}

uint64_t cost_stage_kernels(uint64_t operators, enum model_stage stage)
{
    uint64_t pre = (operators * 3 + 7) / 8;
    uint64_t attend = (operators + 7) / 8;
    switch (stage) {
    case MODEL_PRE:
        return pre;
    case MODEL_ATTEND:
        return attend;
    default:
        return operators > pre + attend ? operators - pre - attend : 1;
    }
}
