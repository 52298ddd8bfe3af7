/* How long one kernel takes when it runs alone, from the profile of a machine and nothing else.
 *
 * A kernel takes max(bytes / bandwidth, FLOPs / rate, latency-bound copy, kernels × gap); products and
 * attention take a fixed time before that where the profile states one. The trust is that of the largest of
 * these and of the fixed time: a kernel bound by memory does not rest on an assumed compute rate.
 *
 * The profile must state the figures that a function reads: those that it reads in a dry run
 * (profile.h, `reads`). */
#pragma once

#include <stdint.h>

#include "machine/profile.h"
#include "model/exchange.h"
#include "model/model.h"

/* GPUs of a machine: all-reduces are figures of up to so many. */
enum { KERNEL_NODE_GPUS = 8 };

/* What most of a kernel's time goes to. */
enum kernel_bound {
    BOUND_FIXED,   /* a time that does not depend on its size, or the gap between two kernels */
    BOUND_HBM,     /* its bytes in HBM */
    BOUND_FLOPS,   /* its arithmetic */
    BOUND_LATENCY, /* the latency of each of its CTAs */
    BOUND_LINK,    /* its bytes on the link */
    BOUND_CURVE,   /* the profile states its time as a whole */
};

/* A kernel, or a run of them on one stream. */
struct kernel {
    double bytes; /* moved in HBM */
    double ns;    /* running alone */
    /* Of what takes longest, of several kernels or of a kernel's parts. */
    struct trust trust; /* extrapolated if any is */
    enum kernel_bound bound;
};

/* A kernel that costs nothing. */
extern const struct kernel kernel_none;

/* Two kernels, one after the other. */
struct kernel kernel_then(struct kernel first, struct kernel second);

/* The same work in at least `kernels` kernels of a graph, or launched one by one (eager): no kernel
 * is shorter than the gap between two. */
struct kernel kernel_spaced(const struct profile *profile, struct kernel kernel, uint64_t kernels,
                            bool graph);

/* A memory-bound kernel that reads `bytes` of HBM. */
struct kernel kernel_read(const struct profile *profile, double bytes);

/* Read and write activations: from the L2, as far as they are there; without a figure of its own from HBM. */
struct kernel kernel_move(const struct profile *profile, double bytes);

/* A copy of `bytes` inside HBM by `ctas` CTAs, each limited by latency, and all by HBM's bandwidth. `even` is
 * the bytes there would be if every CTA had as much as the busiest one. */
struct kernel kernel_cta_copy(const struct profile *profile, double bytes, double even,
                              double ctas);

/* A matrix product over `rows` rows that moves `bytes` in HBM: a fixed time, then the larger of its
 * bytes and its FLOPs. Products with fp8 weights run at the fp8 rate, with NVFP4 at that of fp4
 * where the profile states one, and all others at that of bf16: weights of fewer bits are unpacked
 * before the product. MXFP4 and unpacked NVFP4 have the figures of int4, and their times are
 * assumed, but for experts of MXFP4 where the profile states figures of them. */
struct kernel kernel_product(const struct profile *profile, double flops, double rows, double bytes,
                             enum dtype weights);

/* A grouped product of experts: `rows` are those of one expert, `bytes` the weights of all experts that were
 * chosen, `data` the activations of all rows. The larger of weights and FLOPs counts, and the activations
 * beside: a kernel gathers and scatters them before and after. Without figures of its own it is a product. */
struct kernel kernel_experts(const struct profile *profile, double flops, double rows, double bytes,
                             double data, enum dtype weights);

/* Decode attention: one query token of each sequence, or `queries` of them that read its KV together. */
struct attention_work {
    double bytes;       /* KV, queries and outputs */
    double flops, rows; /* rows: query heads that share a KV head, of all these queries */
    uint64_t queries;
    double pairs;          /* sequences times KV heads */
    enum dtype kv;         /* the type of the KV */
    enum dtype multiplied; /* DTYPE_FP8: at the fp8 rate, if attention has no figures of its own */
    bool latent;           /* all heads share a KV head (MLA) */
};

/* Its fixed time, the time of its pairs, then the larger of its bytes and its FLOPs. Where the
 * profile states figures of attention, FLOPs count for latent attention and for several queries of
 * more than 16 rows together: with up to 16 query heads a KV head, no measurement shows them. */
struct kernel kernel_attention(const struct profile *profile, const struct attention_work *work);

#define KERNEL_SCORE_BYTES 4.0 /* fp32 */

/* Top-k over `rows` rows of `length` scores: a sort, or one kernel (`fused`) if its time is stated. */
struct kernel kernel_select(const struct profile *profile, double rows, double length, bool fused);

/* An exchange among `gpus` GPUs of a node (0: all of them), as long as its figure says. Where the profile has
 * none but for all-reduces, and for a send, it takes as long as the all-reduce in which each GPU sends as
 * many bytes: 2 (n-1)/n of the bytes, against (n-1)/n of the others (nccl-tests, doc/PERFORMANCE.md), or all
 * of them to the one GPU of a send. More than the 8 GPUs of a node are an extrapolation.
 *
 * By the tables of NCCL in ai-dynamo/aiconfigurator 095f58a (six GPUs, 2 to 8 of them), exchanges of 1 MiB
 * and more take 0.8 to 1.4 times as long as follows from all-reduces (median of a table), so such a time is
 * assumed. */
struct kernel kernel_exchange(const struct profile *profile, enum exchange_kind kind, uint64_t gpus,
                              double bytes);

/* The bytes a ns that each of `gpus` GPUs, 2 or more, sends in a large all-reduce; 0 where the
 * profile does not say. Below KERNEL_PCIE_MOST they exchange over PCI Express: NVLink moves at least
 * 100 GB/s, PCI Express 5.0 at most 63 each way. */
#define KERNEL_PCIE_MOST 64.0
double kernel_reduce_rate(const struct profile *profile, uint64_t gpus, struct trust *trust);

/* A copy of `bytes` of pinned host memory to the GPU, by the copy engine, alone on the link. */
struct kernel kernel_copy(const struct profile *profile, double bytes);

/* "FP8" or "FP4" if the GPU has no products with such weights, so that another type's times are used; else
 * NULL. A profile gives a GPU without FP8 the peak of bf16, and one without FP4 none (machine/curves.def). */
const char *kernel_lacking_products(const struct profile *profile, enum dtype weights);

/* The parts of which a kernel's time is made: the larger of several bounds, after a fixed time. */

/* The same kernel with one more bound, which decides its time and trust if it is the largest. */
struct kernel roofline_bounded(struct kernel kernel, double ns, struct trust trust,
                               enum kernel_bound bound);

/* A peak that is multiplied by a share. The share was found by dividing by it, so that it alone says
 * how well the rate is known. */
double roofline_peak(const struct profile *profile, enum curve_id peak);

/* `bytes` through HBM at a kernel's own share of its peak, else at the share that any kernel reaches. */
struct kernel roofline_read(const struct profile *profile, double bytes, enum curve_id own);

/* The time in ns of FLOPs at the share of their peak that so many rows reach. */
double roofline_flops_ns(const struct profile *profile, double flops, double rows,
                         enum curve_id peak, enum curve_id share, struct trust *trust);

/* The same kernel with a time that nothing overlaps, `count` times, if the profile states it. */
struct kernel roofline_then(const struct profile *profile, struct kernel kernel, enum curve_id id,
                            double count);

/* `whole`, which is `part` after a fixed time: the larger of the two is its bound. */
struct kernel roofline_after(struct kernel whole, struct kernel part);
