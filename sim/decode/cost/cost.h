/* What kernels and copies cost on a machine, alone: durations read off a profile.
 *
 * A kernel costs max(bytes / bandwidth, FLOPs / rate, latency-bound copy, kernels × gap). Of
 * several bounds only the one that decides is trusted or not: a kernel bound by memory does not
 * rest on an assumed compute rate.
 */
#ifndef DECODE_COST_COST_H
#define DECODE_COST_COST_H

#include "decode/setup.h"

#include <stdint.h>

/* A kernel, or a run of them on one stream. */
struct kernel {
    double bytes; /* that it moves in HBM */
    double ns;    /* alone */
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

/* A copy inside HBM of `bytes` by `ctas` CTAs, each bound by latency; all of them by the bandwidth
 * (read and written). `even` is what they would copy if each had as much as the one with most. */
struct kernel cost_cta_copy(const struct setup *setup, double bytes, double even, double ctas);

/* A matrix product over `rows` rows that moves `bytes` in HBM: of the model's weights, or in the
 * type that is said. */
struct kernel cost_product(const struct setup *setup, double flops, double rows, double bytes);
struct kernel cost_product_as(const struct setup *setup, double flops, double rows, double bytes,
                              bool fp8);

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

/* The functions below worsen `trust` by what they read. */

/* CPU time of starting an asynchronous copy of `bytes`: the call, and of pageable memory a pass
 * into a pinned block, which is what such a copy takes longer than one of pinned memory. */
double cost_copy_call(const struct setup *setup, bool pageable, double bytes, struct trust *trust);

/* Threads that a mechanism's number stands for: at most one a core; 0 is every core. */
double cost_threads(const struct setup *setup, uint64_t threads, struct trust *trust);

/* Threads of the CPU pool: at most one for each core, or logical CPU of a NUMA node, that is not
 * spared. At least 1. */
double cost_pool_threads(const struct setup *setup, struct trust *trust);

/* GPUs of this run whose transfers meet on one uplink, all at the same moment. At least 1. */
double cost_uplink_sharers(const struct setup *setup, struct trust *trust);

/* Bytes a second that the transfer mechanism reaches on one GPU's link with much to move. */
double cost_transfer_rate(const struct setup *setup, struct trust *trust);

/* Bytes a second of one head's KV at most, by this mechanism: a thread's stores, a head's CTAs. */
double cost_transfer_head_rate(const struct setup *setup, struct trust *trust);

#endif
