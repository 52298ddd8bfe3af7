/* Matrix products, dense and of experts: which curves a type of weights has, and their roofline. */
#include "decode/cost/roofline.h"

/* The curves of the products with weights of one type. */
struct product_curves {
    enum curve_id fixed, share, flops, peak;
};

enum { OF_BF16, OF_FP8, OF_FOUR_BITS, WEIGHT_CLASSES };

static const struct product_curves dense_curves[WEIGHT_CLASSES] = {
    [OF_BF16] = {CURVE_GPU_PRODUCT_FIXED, CURVE_GPU_PRODUCT_SHARE, CURVE_GPU_FLOPS_SHARE,
                 CURVE_GPU_FLOPS_BF16},
    [OF_FP8] = {CURVE_GPU_PRODUCT_FIXED_FP8, CURVE_GPU_PRODUCT_SHARE_FP8, CURVE_GPU_FLOPS_SHARE_FP8,
                CURVE_GPU_FLOPS_FP8},
    [OF_FOUR_BITS] = {CURVE_GPU_PRODUCT_FIXED_INT4, CURVE_GPU_PRODUCT_SHARE_INT4,
                      CURVE_GPU_FLOPS_SHARE_INT4, CURVE_GPU_FLOPS_BF16},
};
static const struct product_curves experts_curves[WEIGHT_CLASSES] = {
    [OF_BF16] = {CURVE_GPU_EXPERTS_FIXED, CURVE_GPU_EXPERTS_SHARE, CURVE_GPU_EXPERTS_FLOPS_SHARE,
                 CURVE_GPU_FLOPS_BF16},
    [OF_FP8] = {CURVE_GPU_EXPERTS_FIXED_FP8, CURVE_GPU_EXPERTS_SHARE_FP8,
                CURVE_GPU_EXPERTS_FLOPS_SHARE_FP8, CURVE_GPU_FLOPS_FP8},
    [OF_FOUR_BITS] = {CURVE_GPU_EXPERTS_FIXED_INT4, CURVE_GPU_EXPERTS_SHARE_INT4,
                      CURVE_GPU_EXPERTS_FLOPS_SHARE_INT4, CURVE_GPU_FLOPS_BF16},
};

static size_t weight_class(enum dtype weights)
{
    bool four_bits = weights == DTYPE_INT4 || weights == DTYPE_MXFP4;
    return weights == DTYPE_FP8 ? OF_FP8 : four_bits ? OF_FOUR_BITS : OF_BF16;
}

/* Where a profile has no curves of the type, those of bf16 stand in; fp8 keeps its peak. */
static struct product_curves curves_of(const struct profile *profile, enum dtype weights,
                                       bool experts)
{
    size_t class = weight_class(weights);
    if (experts && profile_states(profile, experts_curves[class].fixed)) {
        return experts_curves[class];
    }
    struct product_curves curves = dense_curves[class];
    if (!profile_states(profile, curves.fixed)) {
        enum curve_id peak = curves.peak;
        curves = dense_curves[OF_BF16];
        curves.peak = peak;
    }
    return curves;
}

static struct kernel product_at(const struct profile *profile, const struct product_curves *curves,
                                double flops, double rows, double bytes)
{
    struct trust trust = {BASIS_MEASURED, false};
    double ns = roofline_flops_ns(profile, flops, rows, curves->peak, curves->flops, &trust);
    struct kernel read = roofline_read(profile, bytes, curves->share);
    struct kernel kernel = roofline_bounded(read, ns, trust, BOUND_FLOPS);
    return roofline_after(roofline_then(profile, kernel, curves->fixed, 1), kernel);
}

struct kernel kernel_product(const struct profile *profile, double flops, double rows, double bytes,
                             enum dtype weights)
{
    const struct product_curves curves = curves_of(profile, weights, false);
    return product_at(profile, &curves, flops, rows, bytes);
}

struct kernel kernel_experts(const struct profile *profile, double flops, double rows, double bytes,
                             enum dtype weights)
{
    const struct product_curves curves = curves_of(profile, weights, true);
    return product_at(profile, &curves, flops, rows, bytes);
}

size_t kernel_product_figures(const struct profile *profile, enum dtype weights, bool experts,
                              bool graph, enum curve_id figures[KERNEL_MOST_FIGURES])
{
    const struct product_curves curves = curves_of(profile, weights, experts);
    size_t count = roofline_read_figures(profile, curves.share, graph, figures);
    count = roofline_add(figures, count, curves.peak);
    count = roofline_add(figures, count, curves.flops);
    return roofline_add_stated(profile, figures, count, curves.fixed);
}
