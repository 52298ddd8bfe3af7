#include "decode/cost/roofline.h"

struct kernel roofline_bounded(struct kernel kernel, double ns, struct trust trust,
                               enum kernel_bound bound)
{
    return ns > kernel.ns ? (struct kernel){kernel.bytes, ns, trust, bound} : kernel;
}

enum curve_id roofline_gap(bool graph)
{
    return graph ? CURVE_GPU_GRAPH_NODE : CURVE_GPU_KERNEL_FLOOR;
}

struct kernel roofline_read(const struct profile *profile, double bytes, enum curve_id own)
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

double roofline_flops_ns(const struct profile *profile, double flops, double rows,
                         enum curve_id peak, enum curve_id share, struct trust *trust)
{
    return flops * 1e9 /
           (profile_value(profile, peak, 0, trust) * profile_value(profile, share, rows, trust));
}

struct kernel roofline_then(const struct profile *profile, struct kernel kernel, enum curve_id id,
                            double count)
{
    if (profile_states(profile, id)) {
        kernel.ns += count * profile_value(profile, id, 0, &kernel.trust);
    }
    return kernel;
}

struct kernel roofline_after(struct kernel whole, struct kernel part)
{
    whole.bound = whole.ns - part.ns > part.ns ? BOUND_FIXED : part.bound;
    return whole;
}
