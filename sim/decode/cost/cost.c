/* Durations of kernels that run alone: a roofline for each operator, at the share of the peak that
 * its size reaches. */
#include "decode/cost/cost.h"

#include <math.h>

const struct kernel kernel_none = {0, 0, {BASIS_MEASURED, false}};

struct kernel kernel_then(struct kernel first, struct kernel second)
{
    trust_add(&first.trust, second.trust);
    return (struct kernel){first.bytes + second.bytes, first.ns + second.ns, first.trust};
}

/* The same kernel with one more bound, which decides its time and trust if it is the largest. */
static struct kernel bounded(struct kernel kernel, double ns, struct trust trust)
{
    return ns > kernel.ns ? (struct kernel){kernel.bytes, ns, trust} : kernel;
}

struct kernel kernel_at_least(const struct setup *setup, struct kernel kernel, uint64_t kernels)
{
    struct trust trust = {BASIS_MEASURED, false};
    enum curve_id gap =
        setup->mechanisms.launch == LAUNCH_GRAPH ? CURVE_GPU_GRAPH_NODE : CURVE_GPU_KERNEL_FLOOR;
    double ns = (double)kernels * profile_value(&setup->profile, gap, 0, &trust);
    return bounded(kernel, ns, trust);
}

/* `bytes` through HBM at the share of its peak that so many bytes reach. */
struct kernel cost_read(const struct setup *setup, double bytes)
{
    struct kernel kernel = kernel_none;
    if (bytes > 0) {
        const struct profile *profile = &setup->profile;
        double peak = profile_value(profile, CURVE_GPU_HBM_BANDWIDTH, 0, &kernel.trust);
        double share = profile_value(profile, CURVE_GPU_HBM_SHARE, bytes, &kernel.trust);
        kernel.bytes = bytes;
        kernel.ns = bytes * 1e9 / (peak * share);
    }
    return kernel;
}

struct kernel cost_cta_copy(const struct setup *setup, double bytes, double even, double ctas)
{
    struct trust trust = {BASIS_MEASURED, false};
    double alone = profile_value(&setup->profile, CURVE_GPU_CTA_BANDWIDTH, 0, &trust);
    return bounded(cost_read(setup, 2 * bytes), even * 1e9 / (alone * ctas), trust);
}

struct kernel cost_topk(const struct setup *setup, double elements)
{
    struct kernel kernel = kernel_none;
    if (elements > 0) {
        kernel.bytes = COST_SCORE_BYTES * elements;
        kernel.ns = profile_value(&setup->profile, CURVE_GPU_TOPK, elements, &kernel.trust);
    }
    return kernel;
}

/* The curves of the products with weights of one type. */
struct product_curves {
    enum curve_id fixed, share, flops, peak;
};

static struct product_curves product_curves(const struct profile *profile, enum dtype weights)
{
    struct product_curves curves = {CURVE_GPU_PRODUCT_FIXED, CURVE_GPU_PRODUCT_SHARE,
                                    CURVE_GPU_FLOPS_SHARE, CURVE_GPU_FLOPS_BF16};
    if (weights == DTYPE_FP8) {
        curves.peak = CURVE_GPU_FLOPS_FP8;
    }
    if (weights == DTYPE_FP8 && profile_states(profile, CURVE_GPU_PRODUCT_FIXED_FP8)) {
        curves.fixed = CURVE_GPU_PRODUCT_FIXED_FP8;
        curves.share = CURVE_GPU_PRODUCT_SHARE_FP8;
        curves.flops = CURVE_GPU_FLOPS_SHARE_FP8;
    }
    if ((weights == DTYPE_INT4 || weights == DTYPE_MXFP4) &&
        profile_states(profile, CURVE_GPU_PRODUCT_FIXED_INT4)) {
        curves.fixed = CURVE_GPU_PRODUCT_FIXED_INT4;
        curves.share = CURVE_GPU_PRODUCT_SHARE_INT4;
        curves.flops = CURVE_GPU_FLOPS_SHARE_INT4;
    }
    return curves;
}

/* `bytes` through HBM at a kernel's own share of the peak, or at that of any kernel. */
static struct kernel cost_read_at(const struct setup *setup, double bytes, enum curve_id share)
{
    const struct profile *profile = &setup->profile;
    struct kernel kernel = kernel_none;
    if (!profile_states(profile, share)) {
        return cost_read(setup, bytes);
    }
    double peak = profile_value(profile, CURVE_GPU_HBM_BANDWIDTH, 0, &kernel.trust);
    kernel.bytes = bytes;
    kernel.ns = bytes * 1e9 / (peak * profile_value(profile, share, 0, &kernel.trust));
    return kernel;
}

/* The time of FLOPs at the share of their peak that so many rows reach. */
static double flops_ns(const struct setup *setup, double flops, double rows, enum curve_id peak,
                       enum curve_id share, struct trust *trust)
{
    const struct profile *profile = &setup->profile;
    return flops * 1e9 /
           (profile_value(profile, peak, 0, trust) * profile_value(profile, share, rows, trust));
}

/* The same kernel with a time that nothing overlaps, `count` times, if the profile states it. */
static struct kernel longer(const struct setup *setup, struct kernel kernel, enum curve_id id,
                            double count)
{
    if (profile_states(&setup->profile, id)) {
        kernel.ns += count * profile_value(&setup->profile, id, 0, &kernel.trust);
    }
    return kernel;
}

struct kernel cost_product_as(const struct setup *setup, double flops, double rows, double bytes,
                              enum dtype weights)
{
    const struct product_curves curves = product_curves(&setup->profile, weights);
    struct trust trust = {BASIS_MEASURED, false};
    double ns = flops_ns(setup, flops, rows, curves.peak, curves.flops, &trust);
    struct kernel kernel = bounded(cost_read_at(setup, bytes, curves.share), ns, trust);
    return longer(setup, kernel, curves.fixed, 1);
}

struct kernel cost_product(const struct setup *setup, double flops, double rows, double bytes)
{
    return cost_product_as(setup, flops, rows, bytes, setup->model.weights);
}

/* The curves of decode attention over KV of one type. */
struct attention_curves {
    enum curve_id fixed, share, pair;
};

static const struct attention_curves attention_bf16 = {
    CURVE_GPU_ATTENTION_FIXED, CURVE_GPU_ATTENTION_SHARE, CURVE_GPU_ATTENTION_PAIR};
static const struct attention_curves attention_fp8 = {
    CURVE_GPU_ATTENTION_FIXED_FP8, CURVE_GPU_ATTENTION_SHARE_FP8, CURVE_GPU_ATTENTION_PAIR_FP8};

/* Decode attention of `pairs` sequences times KV heads. Where its own figures are stated, its FLOPs
 * count for latent attention alone, whose heads all share a KV head: with up to 16 query heads a KV
 * head, no measurement shows them. */
static struct kernel cost_attention(const struct setup *setup, const struct model_operator *op,
                                    double pairs)
{
    const struct profile *profile = &setup->profile;
    const struct model *model = &setup->model;
    bool own = profile_states(profile, CURVE_GPU_ATTENTION_FIXED);
    bool fp8 = model->kv == DTYPE_FP8 && profile_states(profile, CURVE_GPU_ATTENTION_FIXED_FP8);
    const struct attention_curves *curves = fp8 ? &attention_fp8 : &attention_bf16;
    struct kernel kernel =
        cost_read_at(setup, (double)(op->weight_bytes + op->data_bytes), curves->share);
    if (model->kv_lora > 0 || !own) {
        struct trust trust = {BASIS_MEASURED, false};
        enum curve_id peak =
            model->weights == DTYPE_FP8 && !own ? CURVE_GPU_FLOPS_FP8 : CURVE_GPU_FLOPS_BF16;
        double ns = flops_ns(setup, op->flops, op->rows, peak, CURVE_GPU_FLOPS_SHARE, &trust);
        kernel = bounded(kernel, ns, trust);
    }
    return longer(setup, longer(setup, kernel, curves->pair, pairs), curves->fixed, 1);
}

static struct kernel cost_operator(const struct setup *setup, const struct model_operator *op,
                                   uint64_t batch)
{
    double bytes = (double)(op->weight_bytes + op->data_bytes);
    if (op->stage == MODEL_ATTEND) {
        return cost_attention(setup, op, (double)batch * model_kv_heads(&setup->model));
    }
    return op->matrix && op->flops > 0
               ? cost_product_as(setup, op->flops, op->rows, bytes, op->weights)
               : cost_read(setup, bytes);
}

struct kernel cost_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                         uint64_t batch, uint64_t attended, uint64_t kernels)
{
    struct model_operator operators[MODEL_MOST_OPERATORS];
    size_t count = model_operators(&setup->model, layer, batch, attended, operators);
    struct kernel sum = kernel_none;
    for (size_t i = 0; i < count; i++) {
        if (operators[i].stage == stage) {
            sum = kernel_then(sum, cost_operator(setup, &operators[i], batch));
        }
    }
    return kernel_at_least(setup, sum, kernels);
}

/* Whole kernels, rounded up; not by what a share in binary lies above the decimal one. */
static uint64_t kernels_of(uint64_t operators, double share)
{
    return (uint64_t)fmax(1, ceil((double)operators * share - 1e-6));
}

uint64_t cost_stage_kernels(const struct mechanisms *m, enum model_stage stage)
{
    uint64_t operators = m->operators;
    uint64_t pre = kernels_of(operators, m->operators_pre);
    uint64_t attend = kernels_of(operators, m->operators_attend);
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
    if (pageable) {
        double through = bytes * 1e9 / profile_value(profile, CURVE_HOST_PAGEABLE, 0, trust);
        ns += fmax(0, through - bytes * 1e9 / profile_value(profile, CURVE_LINK_H2D, 0, trust));
    }
    return ns;
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
    const struct mechanisms *m = &setup->mechanisms;
    enum curve_id id = m->pool_of == POOL_OF_NODE ? CURVE_HOST_NODE_THREADS : CURVE_HOST_CORES;
    double there = profile_value(&setup->profile, id, 0, trust);
    return threads_of(m->pool_threads, fmax(1, floor(there - (double)m->pool_spare)));
}

double cost_uplink_sharers(const struct setup *setup, struct trust *trust)
{
    if (setup->model.tensor_parallel == 1) {
        return 1;
    }
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
