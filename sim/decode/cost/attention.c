/* Decode attention: over heads of K and V, or over the latents of MLA. */
#include "decode/cost/roofline.h"

/* `pair`: the time of each pair of a sequence and a KV head, with latents a query head. */
struct attention_cost_curves {
    enum curve_id fixed, share, pair, flops, peak;
};

static const struct attention_cost_curves heads_bf16 = {
    CURVE_GPU_ATTENTION_FIXED, CURVE_GPU_ATTENTION_SHARE, CURVE_GPU_ATTENTION_PAIR,
    CURVE_GPU_FLOPS_SHARE, CURVE_GPU_FLOPS_BF16};
static const struct attention_cost_curves heads_fp8 = {
    CURVE_GPU_ATTENTION_FIXED_FP8, CURVE_GPU_ATTENTION_SHARE_FP8, CURVE_GPU_ATTENTION_PAIR_FP8,
    CURVE_GPU_FLOPS_SHARE, CURVE_GPU_FLOPS_BF16};
static const struct attention_cost_curves latents_bf16 = {
    CURVE_GPU_MLA_FIXED, CURVE_GPU_MLA_SHARE, CURVE_GPU_MLA_PAIR, CURVE_GPU_MLA_FLOPS_SHARE,
    CURVE_GPU_FLOPS_BF16};
static const struct attention_cost_curves latents_fp8 = {
    CURVE_GPU_MLA_FIXED_FP8, CURVE_GPU_MLA_SHARE_FP8, CURVE_GPU_MLA_PAIR_FP8,
    CURVE_GPU_MLA_FLOPS_SHARE_FP8, CURVE_GPU_FLOPS_FP8};

static const struct attention_cost_curves *attention_cost_curves_of(const struct profile *profile,
                                                                    enum dtype kv, bool latent)
{
    bool fp8 = kv == DTYPE_FP8;
    if (latent && fp8 && profile_states(profile, latents_fp8.fixed)) {
        return &latents_fp8;
    }
    if (latent && profile_states(profile, latents_bf16.fixed)) {
        return &latents_bf16;
    }
    return fp8 && profile_states(profile, heads_fp8.fixed) ? &heads_fp8 : &heads_bf16;
}

/* Rows of a KV head up to which attention was measured: as long as its bytes take. */
enum { MEASURED_ROWS = 16 };

/* Query heads share so few bytes that no measurement shows their FLOPs, unless the KV is latent, or
 * several queries read it together. */
static bool counts_flops(const struct profile *profile, const struct attention_cost_curves *curves,
                         const struct attention_work *work)
{
    bool packed = work->queries > 1 && work->rows > MEASURED_ROWS;
    return work->latent || packed || !profile_states(profile, curves->fixed);
}

static enum curve_id peak_of(const struct profile *profile,
                             const struct attention_cost_curves *curves, enum dtype multiplied)
{
    bool own = profile_states(profile, curves->fixed);
    return !own && multiplied == DTYPE_FP8 ? CURVE_GPU_FLOPS_FP8 : curves->peak;
}

static double pairs_of(const struct attention_cost_curves *curves,
                       const struct attention_work *work)
{
    bool of_latents = curves == &latents_bf16 || curves == &latents_fp8;
    return of_latents ? work->pairs * work->rows : work->pairs;
}

struct kernel kernel_attention(const struct profile *profile, const struct attention_work *work)
{
    const struct attention_cost_curves *curves =
        attention_cost_curves_of(profile, work->kv, work->latent);
    struct kernel kernel = roofline_read(profile, work->bytes, curves->share);
    if (counts_flops(profile, curves, work)) {
        struct trust trust = {.basis = BASIS_MEASURED};
        double ns =
            roofline_flops_ns(profile, work->flops, work->rows,
                              peak_of(profile, curves, work->multiplied), curves->flops, &trust);
        kernel = roofline_bounded(kernel, ns, trust, BOUND_FLOPS);
    }
    struct kernel whole = roofline_then(profile, kernel, curves->pair, pairs_of(curves, work));
    return roofline_after(roofline_then(profile, whole, curves->fixed, 1), kernel);
}
