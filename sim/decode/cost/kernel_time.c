#include "decode/cost/kernel_time.h"

#include <math.h>

const struct kernel kernel_none = {0, 0, {.basis = BASIS_MEASURED}, BOUND_FIXED};

struct kernel kernel_then(struct kernel first, struct kernel second)
{
    struct kernel longest = second.ns > first.ns ? second : first;
    longest.trust.extrapolated = first.trust.extrapolated || second.trust.extrapolated;
    longest.bytes = first.bytes + second.bytes;
    longest.ns = first.ns + second.ns;
    return longest;
}

struct kernel kernel_spaced(const struct profile *profile, struct kernel kernel, uint64_t kernels,
                            bool graph)
{
    enum curve_id gap = graph ? CURVE_GPU_GRAPH_NODE : CURVE_GPU_KERNEL_FLOOR;
    struct trust trust = {.basis = BASIS_MEASURED};
    double ns = (double)kernels * profile_value(profile, gap, 0, &trust);
    return roofline_bounded(kernel, ns, trust, BOUND_FIXED);
}

struct kernel kernel_read(const struct profile *profile, double bytes)
{
    return roofline_read(profile, bytes, CURVE_GPU_HBM_SHARE);
}

struct kernel kernel_move(const struct profile *profile, double bytes)
{
    if (bytes <= 0 || !profile_states(profile, CURVE_GPU_MOVE)) {
        return kernel_read(profile, bytes);
    }
    struct kernel kernel = {.bytes = bytes, .trust = {.basis = BASIS_MEASURED}};
    kernel.ns = profile_time(profile, CURVE_GPU_MOVE, bytes, &kernel.trust);
    kernel.bound = BOUND_HBM;
    return kernel;
}

struct kernel kernel_cta_copy(const struct profile *profile, double bytes, double even, double ctas)
{
    struct trust trust = {.basis = BASIS_MEASURED};
    double alone = profile_value(profile, CURVE_GPU_CTA_BANDWIDTH, 0, &trust);
    return roofline_bounded(kernel_read(profile, 2 * bytes), even * 1e9 / (alone * ctas), trust,
                            BOUND_LATENCY);
}

/* Rows that the GPU takes at once last as long as one; more last as long as their number. */
static double fused_ns(const struct profile *profile, double rows, double length,
                       struct trust *trust)
{
    struct trust each = *trust;
    double once = profile_time(profile, CURVE_GPU_TOPK_FUSED, length, trust);
    double all = rows * profile_time(profile, CURVE_GPU_TOPK_FUSED_ROW, length, &each);
    *trust = all > once ? each : *trust;
    return fmax(once, all);
}

struct kernel kernel_select(const struct profile *profile, double rows, double length, bool fused)
{
    struct kernel kernel = kernel_none;
    if (rows > 0 && length > 0) {
        kernel.bytes = KERNEL_SCORE_BYTES * rows * length;
        kernel.ns = fused && profile_states(profile, CURVE_GPU_TOPK_FUSED)
                        ? fused_ns(profile, rows, length, &kernel.trust)
                        : profile_time(profile, CURVE_GPU_TOPK, rows * length, &kernel.trust);
        kernel.bound = BOUND_CURVE;
    }
    return kernel;
}

/* Figures of one kind of exchange: among 2, 4 and all GPUs. */
enum { PAIR, FOUR, ALL, COUNTS };
static const enum curve_id fabric_reduces[COUNTS] = {
    CURVE_FABRIC_COLLECTIVE_2, CURVE_FABRIC_COLLECTIVE_4, CURVE_FABRIC_COLLECTIVE};
static const enum curve_id reduces[COUNTS] = {CURVE_GPU_COLLECTIVE_2, CURVE_GPU_COLLECTIVE_4,
                                              CURVE_GPU_COLLECTIVE};
static const enum curve_id gathers[COUNTS] = {CURVE_GPU_GATHER_2, CURVE_GPU_GATHER_4,
                                              CURVE_GPU_GATHER};
static const enum curve_id all_to_alls[COUNTS] = {CURVE_GPU_ALL_TO_ALL_2, CURVE_GPU_ALL_TO_ALL_4,
                                                  CURVE_GPU_ALL_TO_ALL};

static enum curve_id figure_for(const struct profile *profile, const enum curve_id of[COUNTS],
                                uint64_t gpus)
{
    if (gpus == 2 && profile_states(profile, of[PAIR])) {
        return of[PAIR];
    }
    return gpus >= 2 && gpus <= 4 && profile_states(profile, of[FOUR]) ? of[FOUR] : of[ALL];
}

static bool states_fabric(const struct profile *profile)
{
    return profile_states(profile, fabric_reduces[PAIR]) ||
           profile_states(profile, fabric_reduces[FOUR]) ||
           profile_states(profile, fabric_reduces[ALL]);
}

/* The figures of the GPU for exchanges of this kind alone; NULL: those of all-reduces. */
static const enum curve_id *own_figures(enum exchange_kind kind)
{
    switch (kind) {
    case EXCHANGE_ALL_GATHER:
    case EXCHANGE_REDUCE_SCATTER:
        return gathers;
    case EXCHANGE_ALL_TO_ALL:
        return all_to_alls;
    default:
        return NULL;
    }
}

static bool states_exchange(const struct profile *profile, enum exchange_kind kind, uint64_t gpus)
{
    const enum curve_id *own = states_fabric(profile) ? NULL : own_figures(kind);
    return kind == EXCHANGE_ALL_REDUCE ||
           (own != NULL && profile_states(profile, figure_for(profile, own, gpus)));
}

/* The figure of the next larger number of GPUs which the profile states; of its fabric if it states one. */
static enum curve_id exchange_figure(const struct profile *profile, enum exchange_kind kind,
                                     uint64_t gpus)
{
    const enum curve_id *own = own_figures(kind);
    if (own != NULL && states_exchange(profile, kind, gpus)) {
        return figure_for(profile, own, gpus);
    }
    return figure_for(profile, states_fabric(profile) ? fabric_reduces : reduces, gpus);
}

struct kernel kernel_exchange(const struct profile *profile, enum exchange_kind kind, uint64_t gpus,
                              double bytes)
{
    struct kernel kernel = kernel_none;
    enum curve_id figure = exchange_figure(profile, kind, gpus);
    bool stated = states_exchange(profile, kind, gpus);
    double all = gpus > 0 ? (double)gpus : KERNEL_NODE_GPUS;
    /* Without a figure of its own, it takes as long as the all-reduce in which each GPU sends as much. */
    double size = stated                  ? bytes
                  : kind == EXCHANGE_SEND ? bytes * all / (2 * (all - 1))
                                          : bytes / 2;
    kernel.ns = profile_time(profile, figure, size, &kernel.trust);
    kernel.trust.extrapolated = kernel.trust.extrapolated || gpus > KERNEL_NODE_GPUS;
    if (!stated) {
        trust_add(&kernel.trust, (struct trust){BASIS_ASSUMED, false, curve_kinds[figure].name});
    }
    kernel.bound = BOUND_CURVE;
    return kernel;
}

double kernel_reduce_rate(const struct profile *profile, uint64_t gpus, struct trust *trust)
{
    const double large = 256 << 20;
    *trust = kernel_none.trust;
    if (!profile_states(profile, exchange_figure(profile, EXCHANGE_ALL_REDUCE, gpus))) {
        return 0;
    }
    struct kernel kernel = kernel_exchange(profile, EXCHANGE_ALL_REDUCE, gpus, large);
    *trust = kernel.trust;
    return 2.0 * (double)(gpus - 1) / (double)gpus * large / kernel.ns;
}

struct kernel kernel_copy(const struct profile *profile, double bytes)
{
    struct kernel copy = kernel_none;
    copy.bytes = bytes;
    copy.ns = bytes * 1e9 / profile_value(profile, CURVE_LINK_IN, 0, &copy.trust);
    copy.bound = BOUND_LINK;
    return roofline_after(roofline_then(profile, copy, CURVE_LINK_COPY_LATENCY, 1), copy);
}

struct kernel roofline_bounded(struct kernel kernel, double ns, struct trust trust,
                               enum kernel_bound bound)
{
    return ns > kernel.ns ? (struct kernel){kernel.bytes, ns, trust, bound} : kernel;
}

double roofline_peak(const struct profile *profile, enum curve_id peak)
{
    return profile_value(profile, peak, 0, TRUST_UNSEEN);
}

struct kernel roofline_read(const struct profile *profile, double bytes, enum curve_id own)
{
    struct kernel kernel = kernel_none;
    if (bytes > 0) {
        enum curve_id id = profile_states(profile, own) ? own : CURVE_GPU_HBM_SHARE;
        double peak = roofline_peak(profile, CURVE_GPU_HBM_BANDWIDTH);
        double share = profile_value(profile, id, bytes, &kernel.trust);
        kernel.bytes = bytes;
        kernel.ns = bytes * 1e9 / (peak * share);
        kernel.bound = BOUND_HBM;
    }
    return kernel;
}

double roofline_flops_ns(const struct profile *profile, double flops, double rows,
                         enum curve_id peak, enum curve_id share, struct trust *trust)
{
    return flops * 1e9 /
           (roofline_peak(profile, peak) * profile_value(profile, share, rows, trust));
}

struct kernel roofline_then(const struct profile *profile, struct kernel kernel, enum curve_id id,
                            double count)
{
    struct kernel fixed = kernel_none;
    if (profile_states(profile, id)) {
        fixed.bound = kernel.bound;
        fixed.ns = count * profile_value(profile, id, 0, &fixed.trust);
    }
    return kernel_then(kernel, fixed);
}

struct kernel roofline_after(struct kernel whole, struct kernel part)
{
    whole.bound = whole.ns - part.ns > part.ns ? BOUND_FIXED : part.bound;
    return whole;
}

/* Matrix products, dense and of experts: which curves a type of weights has, and their roofline. NVFP4 is
 * multiplied as it is, its activations in fp4, too, by tensor cores that can (a profile states their peak);
 * others unpack it to bf16, as they do all weights of 4 bits. So does every GPU with MXFP4 whose activations
 * stay in bf16: vLLM's default for gpt-oss, on Blackwell, too. Beside activations of fp8, experts of MXFP4
 * are multiplied at the rate of fp8 where the profile has times of such kernels. */

/* The curves of products with one type of weights, borrowed from another of 4 bits or from bf16. */
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
    return profile_states(profile, id) ? profile_value(profile, id, 0, TRUST_UNSEEN) : 0;
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
