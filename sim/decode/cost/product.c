/* Matrix products, dense and of experts: which curves a type of weights has, and their roofline.
 *
 * NVFP4 is multiplied as it is, its activations in fp4, too, by tensor cores that can (a profile
 * states their peak); others unpack it to bf16, as they do all weights of 4 bits. So does every GPU
 * with MXFP4 whose activations stay in bf16: vLLM's default for gpt-oss, on Blackwell, too. Beside
 * activations of fp8, experts of MXFP4 are multiplied at the rate of fp8 where the profile has times
 * of such kernels. */
#include "decode/cost/kernels.h"

/* The curves of the products with weights of one type. They are borrowed if they were measured with
 * another type of 4 bits or, for want of that, with bf16. */
struct product_curves {
    enum curve_id fixed, share, flops, peak;
    bool borrowed;
};

enum { OF_BF16, OF_FP8, OF_FOUR_BITS, OF_FP4, DENSE_CLASSES };
enum { OF_MXFP4 = DENSE_CLASSES, OF_MXFP4_FP8, WEIGHT_CLASSES };

static const struct product_curves dense_curves[DENSE_CLASSES] = {
    [OF_BF16] = {CURVE_GPU_PRODUCT_FIXED, CURVE_GPU_PRODUCT_SHARE, CURVE_GPU_FLOPS_SHARE,
                 CURVE_GPU_FLOPS_BF16},
    [OF_FP8] = {CURVE_GPU_PRODUCT_FIXED_FP8, CURVE_GPU_PRODUCT_SHARE_FP8, CURVE_GPU_FLOPS_SHARE_FP8,
                CURVE_GPU_FLOPS_FP8},
    [OF_FOUR_BITS] = {CURVE_GPU_PRODUCT_FIXED_INT4, CURVE_GPU_PRODUCT_SHARE_INT4,
                      CURVE_GPU_FLOPS_SHARE_INT4, CURVE_GPU_FLOPS_BF16},
    [OF_FP4] = {CURVE_GPU_PRODUCT_FIXED_FP4, CURVE_GPU_PRODUCT_SHARE_FP4, CURVE_GPU_FLOPS_SHARE_FP4,
                CURVE_GPU_FLOPS_FP4},
};
static const struct product_curves experts_curves[WEIGHT_CLASSES] = {
    [OF_BF16] = {CURVE_GPU_EXPERTS_FIXED, CURVE_GPU_EXPERTS_SHARE, CURVE_GPU_EXPERTS_FLOPS_SHARE,
                 CURVE_GPU_FLOPS_BF16},
    [OF_FP8] = {CURVE_GPU_EXPERTS_FIXED_FP8, CURVE_GPU_EXPERTS_SHARE_FP8,
                CURVE_GPU_EXPERTS_FLOPS_SHARE_FP8, CURVE_GPU_FLOPS_FP8},
    [OF_FOUR_BITS] = {CURVE_GPU_EXPERTS_FIXED_INT4, CURVE_GPU_EXPERTS_SHARE_INT4,
                      CURVE_GPU_EXPERTS_FLOPS_SHARE_INT4, CURVE_GPU_FLOPS_BF16},
    [OF_FP4] = {CURVE_GPU_EXPERTS_FIXED_FP4, CURVE_GPU_EXPERTS_SHARE_FP4,
                CURVE_GPU_EXPERTS_FLOPS_SHARE_FP4, CURVE_GPU_FLOPS_FP4},
    [OF_MXFP4] = {CURVE_GPU_EXPERTS_FIXED_MXFP4, CURVE_GPU_EXPERTS_SHARE_MXFP4,
                  CURVE_GPU_EXPERTS_FLOPS_SHARE_MXFP4, CURVE_GPU_FLOPS_BF16},
    [OF_MXFP4_FP8] = {CURVE_GPU_EXPERTS_FIXED_MXFP4_FP8, CURVE_GPU_EXPERTS_SHARE_MXFP4_FP8,
                      CURVE_GPU_EXPERTS_FLOPS_SHARE_MXFP4_FP8, CURVE_GPU_FLOPS_FP8},
};

/* The class of dense products with weights of this type. */
static size_t weight_class(const struct profile *profile, enum dtype weights)
{
    switch (weights) {
    case DTYPE_FP8:
        return OF_FP8;
    case DTYPE_NVFP4:
        return profile_states(profile, CURVE_GPU_FLOPS_FP4) ? OF_FP4 : OF_FOUR_BITS;
    case DTYPE_INT4:
    case DTYPE_MXFP4:
    case DTYPE_MXFP4_FP8:
        return OF_FOUR_BITS;
    default:
        return OF_BF16;
    }
}

/* The class of experts: those of MXFP4 have one of their own where they were measured. */
static size_t experts_class(const struct profile *profile, enum dtype weights)
{
    bool eight = profile_states(profile, CURVE_GPU_EXPERTS_FIXED_MXFP4_FP8);
    if (weights == DTYPE_MXFP4_FP8 && eight) {
        return OF_MXFP4_FP8;
    }
    bool mxfp4 = weights == DTYPE_MXFP4 || weights == DTYPE_MXFP4_FP8;
    bool own = profile_states(profile, CURVE_GPU_EXPERTS_FIXED_MXFP4);
    return mxfp4 && own ? OF_MXFP4 : weight_class(profile, weights);
}

/* Where a profile has no curves of the type, those of bf16 stand in; the type keeps its peak. */
static struct product_curves product_cost_curves_of(const struct profile *profile,
                                                    enum dtype weights, bool experts)
{
    size_t class = weight_class(profile, weights), of_experts = experts_class(profile, weights);
    bool own = experts && profile_states(profile, experts_curves[of_experts].fixed);
    bool floats = weights == DTYPE_MXFP4 || weights == DTYPE_MXFP4_FP8 || weights == DTYPE_NVFP4;
    struct product_curves curves = own ? experts_curves[of_experts] : dense_curves[class];
    curves.borrowed = floats && class != OF_FP4 && !(own && of_experts >= OF_MXFP4);
    if (!profile_states(profile, curves.fixed)) {
        enum curve_id peak = curves.peak;
        curves = dense_curves[OF_BF16];
        curves.peak = peak;
        curves.borrowed = floats;
    }
    return curves;
}

/* `data`: bytes that are moved before and after the product. */
static struct kernel product_at(const struct profile *profile, const struct product_curves *curves,
                                double flops, double rows, double bytes, double data)
{
    struct trust trust = {.basis = BASIS_MEASURED};
    double ns = roofline_flops_ns(profile, flops, rows, curves->peak, curves->flops, &trust);
    struct kernel read = roofline_read(profile, bytes, curves->share);
    struct kernel kernel = roofline_bounded(read, ns, trust, BOUND_FLOPS);
    kernel = data > 0 ? kernel_then(kernel, roofline_read(profile, data, curves->share)) : kernel;
    struct kernel whole = roofline_after(roofline_then(profile, kernel, curves->fixed, 1), kernel);
    if (curves->borrowed) {
        trust_add(&whole.trust,
                  (struct trust){BASIS_ASSUMED, false, curve_kinds[curves->share].name});
    }
    return whole;
}

struct kernel kernel_product(const struct profile *profile, double flops, double rows, double bytes,
                             enum dtype weights)
{
    const struct product_curves curves = product_cost_curves_of(profile, weights, false);
    return product_at(profile, &curves, flops, rows, bytes, 0);
}

struct kernel kernel_experts(const struct profile *profile, double flops, double rows, double bytes,
                             double data, enum dtype weights)
{
    bool own = profile_states(profile, experts_curves[experts_class(profile, weights)].fixed);
    const struct product_curves curves = product_cost_curves_of(profile, weights, true);
    return own ? product_at(profile, &curves, flops, rows, bytes, data)
               : product_at(profile, &curves, flops, rows, bytes + data, 0);
}

static double peak(const struct profile *profile, enum curve_id id)
{
    struct trust trust = {.basis = BASIS_MEASURED};
    return profile_states(profile, id) ? profile_value(profile, id, 0, &trust) : 0;
}

const char *kernel_lacking_products(const struct profile *profile, enum dtype weights)
{
    double bf16 = peak(profile, CURVE_GPU_FLOPS_BF16);
    bool fp4 = weights == DTYPE_NVFP4 || weights == DTYPE_MXFP4 || weights == DTYPE_MXFP4_FP8;
    if (weights == DTYPE_FP8 && peak(profile, CURVE_GPU_FLOPS_FP8) <= bf16) {
        return "FP8";
    }
    return fp4 && !profile_states(profile, CURVE_GPU_FLOPS_FP4) ? "FP4" : NULL;
}
