/* A roofline for each kind of kernel, at the share of the peak that its size reaches. */
#include "decode/cost/kernels.h"

#include <math.h>

const struct kernel kernel_none = {0, 0, {BASIS_MEASURED, false}, BOUND_FIXED};

struct kernel kernel_then(struct kernel first, struct kernel second)
{
    enum kernel_bound bound = second.ns > first.ns ? second.bound : first.bound;
    trust_add(&first.trust, second.trust);
    return (struct kernel){first.bytes + second.bytes, first.ns + second.ns, first.trust, bound};
}

/* The same kernel with one more bound, which decides its time and trust if it is the largest. */
static struct kernel bounded(struct kernel kernel, double ns, struct trust trust,
                             enum kernel_bound bound)
{
    return ns > kernel.ns ? (struct kernel){kernel.bytes, ns, trust, bound} : kernel;
}

static enum curve_id gap_of(bool graph)
{
    return graph ? CURVE_GPU_GRAPH_NODE : CURVE_GPU_KERNEL_FLOOR;
}

struct kernel kernel_spaced(const struct profile *profile, struct kernel kernel, uint64_t kernels,
                            bool graph)
{
    struct trust trust = {BASIS_MEASURED, false};
    double ns = (double)kernels * profile_value(profile, gap_of(graph), 0, &trust);
    return bounded(kernel, ns, trust, BOUND_FIXED);
}

/* `bytes` through HBM at a kernel's own share of its peak, or, where the profile does not state
 * that, at the share that so many bytes reach in any kernel. */
static struct kernel read_at(const struct profile *profile, double bytes, enum curve_id own)
{
    struct kernel kernel = kernel_none;
    if (bytes > 0) {
        enum curve_id id = profile_states(profile, own) ? own : CURVE_GPU_HBM_SHARE;
        double peak = profile_value(profile, CURVE_GPU_HBM_BANDWIDTH, 0, &kernel.trust);
        double share = profile_value(profile, id, bytes, &kernel.trust);
        kernel.bytes = bytes;
        kernel.ns = bytes * 1e9 / (peak * share);
        kernel.bound = BOUND_HBM;
    }
    return kernel;
}

struct kernel kernel_read(const struct profile *profile, double bytes)
{
    return read_at(profile, bytes, CURVE_GPU_HBM_SHARE);
}

struct kernel kernel_cta_copy(const struct profile *profile, double bytes, double even, double ctas)
{
    struct trust trust = {BASIS_MEASURED, false};
    double alone = profile_value(profile, CURVE_GPU_CTA_BANDWIDTH, 0, &trust);
    return bounded(kernel_read(profile, 2 * bytes), even * 1e9 / (alone * ctas), trust,
                   BOUND_LATENCY);
}

/* ---- products and attention ------------------------------------------------------------- */

/* The time of FLOPs at the share of their peak that so many rows reach. */
static double flops_ns(const struct profile *profile, double flops, double rows, enum curve_id peak,
                       enum curve_id share, struct trust *trust)
{
    return flops * 1e9 /
           (profile_value(profile, peak, 0, trust) * profile_value(profile, share, rows, trust));
}

/* The same kernel with a time that nothing overlaps, `count` times, if the profile states it. */
static struct kernel longer(const struct profile *profile, struct kernel kernel, enum curve_id id,
                            double count)
{
    if (profile_states(profile, id)) {
        kernel.ns += count * profile_value(profile, id, 0, &kernel.trust);
    }
    return kernel;
}

/* `whole`, which is `part` after a fixed time: the larger of the two is its bound. */
static struct kernel with_fixed(struct kernel whole, struct kernel part)
{
    whole.bound = whole.ns - part.ns > part.ns ? BOUND_FIXED : part.bound;
    return whole;
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

struct kernel kernel_product(const struct profile *profile, double flops, double rows, double bytes,
                             enum dtype weights)
{
    const struct product_curves curves = product_curves(profile, weights);
    struct trust trust = {BASIS_MEASURED, false};
    double ns = flops_ns(profile, flops, rows, curves.peak, curves.flops, &trust);
    struct kernel kernel = bounded(read_at(profile, bytes, curves.share), ns, trust, BOUND_FLOPS);
    return with_fixed(longer(profile, kernel, curves.fixed, 1), kernel);
}

/* The curves of decode attention over KV of one type. */
struct attention_curves {
    enum curve_id fixed, share, pair;
};

static const struct attention_curves attention_bf16 = {
    CURVE_GPU_ATTENTION_FIXED, CURVE_GPU_ATTENTION_SHARE, CURVE_GPU_ATTENTION_PAIR};
static const struct attention_curves attention_fp8 = {
    CURVE_GPU_ATTENTION_FIXED_FP8, CURVE_GPU_ATTENTION_SHARE_FP8, CURVE_GPU_ATTENTION_PAIR_FP8};

static const struct attention_curves *attention_curves(const struct profile *profile, enum dtype kv)
{
    bool fp8 = kv == DTYPE_FP8 && profile_states(profile, CURVE_GPU_ATTENTION_FIXED_FP8);
    return fp8 ? &attention_fp8 : &attention_bf16;
}

static bool attention_counts_flops(const struct profile *profile, bool latent)
{
    return latent || !profile_states(profile, CURVE_GPU_ATTENTION_FIXED);
}

struct kernel kernel_attention(const struct profile *profile, const struct attention_work *work)
{
    bool own = profile_states(profile, CURVE_GPU_ATTENTION_FIXED);
    const struct attention_curves *curves = attention_curves(profile, work->kv);
    struct kernel kernel = read_at(profile, work->bytes, curves->share);
    if (attention_counts_flops(profile, work->latent)) {
        struct trust trust = {BASIS_MEASURED, false};
        enum curve_id peak =
            work->multiplied == DTYPE_FP8 && !own ? CURVE_GPU_FLOPS_FP8 : CURVE_GPU_FLOPS_BF16;
        double ns = flops_ns(profile, work->flops, work->rows, peak, CURVE_GPU_FLOPS_SHARE, &trust);
        kernel = bounded(kernel, ns, trust, BOUND_FLOPS);
    }
    struct kernel whole = longer(profile, kernel, curves->pair, work->pairs);
    return with_fixed(longer(profile, whole, curves->fixed, 1), kernel);
}

/* ---- the others ------------------------------------------------------------------------- */

struct kernel kernel_select(const struct profile *profile, double elements)
{
    struct kernel kernel = kernel_none;
    if (elements > 0) {
        kernel.bytes = KERNEL_SCORE_BYTES * elements;
        kernel.ns = profile_value(profile, CURVE_GPU_TOPK, elements, &kernel.trust);
        kernel.bound = BOUND_CURVE;
    }
    return kernel;
}

struct kernel kernel_allreduce(const struct profile *profile, double bytes)
{
    struct kernel kernel = kernel_none;
    kernel.ns = profile_value(profile, CURVE_GPU_COLLECTIVE, bytes, &kernel.trust);
    kernel.bound = BOUND_CURVE;
    return kernel;
}

struct kernel kernel_copy(const struct profile *profile, double bytes)
{
    struct kernel copy = kernel_none;
    copy.bytes = bytes;
    copy.ns = bytes * 1e9 / profile_value(profile, CURVE_LINK_H2D, 0, &copy.trust);
    copy.bound = BOUND_LINK;
    return with_fixed(longer(profile, copy, CURVE_LINK_COPY_LATENCY, 1), copy);
}

/* ---- what they rest on ------------------------------------------------------------------ */

static size_t add_figure(enum curve_id *figures, size_t count, enum curve_id id)
{
    figures[count] = id;
    return count + 1;
}

static size_t add_stated(const struct profile *profile, enum curve_id *figures, size_t count,
                         enum curve_id id)
{
    return profile_states(profile, id) ? add_figure(figures, count, id) : count;
}

/* Of a read at `share`, and the gap between two kernels. */
static size_t read_figures(const struct profile *profile, enum curve_id share,
                           enum curve_id *figures)
{
    bool own = profile_states(profile, share);
    size_t count = add_figure(figures, 0, CURVE_GPU_HBM_BANDWIDTH);
    count = add_figure(figures, count, own ? share : CURVE_GPU_HBM_SHARE);
    return add_figure(figures, count, gap_of(true));
}

size_t kernel_product_figures(const struct profile *profile, enum dtype weights,
                              enum curve_id figures[KERNEL_MOST_FIGURES])
{
    const struct product_curves curves = product_curves(profile, weights);
    size_t count = read_figures(profile, curves.share, figures);
    count = add_figure(figures, count, curves.peak);
    count = add_figure(figures, count, curves.flops);
    return add_stated(profile, figures, count, curves.fixed);
}

size_t kernel_attention_figures(const struct profile *profile, enum dtype kv, bool latent,
                                enum curve_id figures[KERNEL_MOST_FIGURES])
{
    const struct attention_curves *curves = attention_curves(profile, kv);
    size_t count = read_figures(profile, curves->share, figures);
    if (attention_counts_flops(profile, latent)) {
        count = add_figure(figures, count, CURVE_GPU_FLOPS_BF16);
        count = add_figure(figures, count, CURVE_GPU_FLOPS_SHARE);
    }
    count = add_stated(profile, figures, count, curves->fixed);
    return add_stated(profile, figures, count, curves->pair);
}
