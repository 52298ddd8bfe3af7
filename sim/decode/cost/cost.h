/* How long kernels and copies take when they run alone, from the curves of a profile.
 *
 * A kernel takes max(bytes / bandwidth, FLOPs / rate, latency-bound copy, kernels × gap). Its trust
 * is that of the largest of these: a kernel bound by memory does not rest on an assumed compute
 * rate.
 */
#ifndef DECODE_COST_COST_H
#define DECODE_COST_COST_H

#include "decode/setup.h"

#include <stdint.h>

/* A kernel, or a run of them on one stream. */
struct kernel {
    double bytes; /* moved in HBM */
    double ns;    /* running alone */
    struct trust trust;
};

/* A kernel that costs nothing. */
extern const struct kernel kernel_none;

/* Two kernels, one after the other. */
struct kernel kernel_then(struct kernel first, struct kernel second);

/* The same work in at least `kernels` kernels: no kernel is shorter than the gap between two. */
struct kernel kernel_at_least(const struct setup *setup, struct kernel kernel, uint64_t kernels);

/* A memory-bound kernel that reads `bytes` of HBM. */
struct kernel cost_read(const struct setup *setup, double bytes);

/* A copy of `bytes` inside HBM by `ctas` CTAs. Latency limits each CTA, and HBM's bandwidth, for
 * reading and writing, limits all together. `even` is the bytes there would be if every CTA had as
 * much as the busiest one. */
struct kernel cost_cta_copy(const struct setup *setup, double bytes, double even, double ctas);

/* A matrix product over `rows` rows that moves `bytes` in HBM: a fixed time, then the larger of its
 * bytes and its FLOPs. The first is of the model's weight type, the second of the type that is
 * asked for. Products with fp8 weights run at the fp8 rate, all others at that of bf16: weights of
 * fewer bits are unpacked before the product. */
struct kernel cost_product(const struct setup *setup, double flops, double rows, double bytes);
struct kernel cost_product_as(const struct setup *setup, double flops, double rows, double bytes,
                              enum dtype weights);

#define COST_SCORE_BYTES 4.0 /* fp32 */

/* Top-k over `elements` scores of a layer. */
struct kernel cost_topk(const struct setup *setup, double elements);

/* The model's operators of one stage of `layer` (layer_count: the edge), for `batch` sequences that
 * attend to `attended` tokens in all, as `kernels` kernels. */
struct kernel cost_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                         uint64_t batch, uint64_t attended, uint64_t kernels);

/* Kernels of a stage of a layer, of its `operators`: the first two stages have the shares that the
 * mechanisms say, rounded up, and the last has the rest. At least 1 each. */
uint64_t cost_stage_kernels(const struct mechanisms *mechanisms, enum model_stage stage);

/* The functions below lower `trust` to that of the curves they read. */

/* CPU time, in ns, to start an asynchronous copy of `bytes`: the call, and for pageable memory the
 * pass through a pinned block: the time by which such a copy is slower than a pinned one. */
double cost_copy_call(const struct setup *setup, bool pageable, double bytes, struct trust *trust);

/* The number of threads that a mechanism's key asks for: at most one a core; 0 is every core. */
double cost_threads(const struct setup *setup, uint64_t threads, struct trust *trust);

/* Threads of the CPU pool: at most one for each core, or logical CPU of a NUMA node, that is not
 * spared. At least 1. */
double cost_pool_threads(const struct setup *setup, struct trust *trust);

/* GPUs of this run that share one uplink; they transfer at the same time. At least 1. */
double cost_uplink_sharers(const struct setup *setup, struct trust *trust);

/* Bytes a second that the transfer mechanism reaches on one GPU's link when it is saturated. */
double cost_transfer_rate(const struct setup *setup, struct trust *trust);

/* Most bytes a second for the KV of one head: one thread's stores, or one head's CTAs. INFINITY
 * when the mechanism has no such limit. */
double cost_transfer_head_rate(const struct setup *setup, struct trust *trust);

#endif
