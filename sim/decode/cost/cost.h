/* How long kernels and copies of a setup take when they run alone: its model's operators and its
 * mechanisms, with the times of decode/cost/kernels.h.
 */
#ifndef DECODE_COST_COST_H
#define DECODE_COST_COST_H

#include "decode/cost/kernels.h"
#include "decode/setup.h"

#include <stdint.h>

/* The same work in at least `kernels` kernels, launched as the setup's mechanisms say. */
struct kernel cost_at_least(const struct setup *setup, struct kernel kernel, uint64_t kernels);

/* The model's operators of one stage of `layer` (layer_count: the edge), for `batch` sequences that
 * attend to `attended` tokens in all, as `kernels` kernels. */
struct kernel cost_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                         uint64_t batch, uint64_t attended, uint64_t kernels);

/* The same for the rows of one rank and of all; `attended` counts once what rows of a sequence read
 * together. */
struct kernel cost_row_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                             struct model_rows rows, uint64_t attended, uint64_t kernels);

/* What the GPUs send each other in `layer` (layer_count: the edge) for `rows` tokens, one exchange
 * after the other; and the number of these exchanges, which is that of their kernels (0: none). */
struct kernel cost_exchanges(const struct setup *setup, uint32_t layer, struct model_rows rows,
                             uint64_t *kernels);

/* Kernels of a stage of a layer, of its `operators`: the first two stages have the shares that the
 * mechanisms say, rounded up, and the last has the rest. At least 1 each. */
uint64_t cost_stage_kernels(const struct mechanisms *mechanisms, enum model_stage stage);

/* The functions below lower `trust` to that of the curves they read. */

/* CPU time, in ns, to start an asynchronous copy of `bytes`: the call, and before it, for pageable
 * memory, the CPU's own copy into a pinned block. The engine sends the block when it is whole:
 * `src.pin_memory()`, then `dst.copy_(src, non_blocking=True)` in FlexGen's general_copy(). So the
 * CPU's time does not depend on the link. */
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

/* Most bytes a second for the KV of one head: its CTAs' loads. INFINITY when the mechanism has no
 * such limit; CPU threads store single K or V vectors, so that all of them share a head's misses
 * (CLO, 2025). */
double cost_transfer_head_rate(const struct setup *setup, struct trust *trust);

#endif
