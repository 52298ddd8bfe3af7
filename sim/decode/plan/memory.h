/* Memory of a setup at a batch: how much of each tier, and how much there is. */
#ifndef DECODE_PLAN_MEMORY_H
#define DECODE_PLAN_MEMORY_H

#include "decode/plan/plan.h"
#include "decode/plan/representation.h"

/* The sizes of each cohort of `plan`, whose batch, contexts and micro-batches are known. Fails when
 * the budget is below one block, or below what the policy must hold. `offloaded` heads of all
 * layers share a budget in bytes, each sequence's in proportion to its context. */
bool memory_head_sizes(const struct setup *setup, uint64_t offloaded, struct plan *plan,
                       struct error *why);

/* Memory of the plan's sequences, of each of which `offloaded` heads (over all layers) leave HBM.
 * Sums saturate. */
struct memory memory_of(const struct setup *setup, const struct plan *plan, uint64_t offloaded);

/* What may be used of HBM, and what there is of host memory. A pool of so many tokens of KV comes
 * on top of weights and workspace. */
uint64_t memory_hbm_limit(const struct setup *setup, const struct memory *memory,
                          struct trust *trust);
uint64_t memory_dram_limit(const struct setup *setup, struct trust *trust);

/* KV bytes of one head's whole context; heads of sliding layers hold their window. */
uint64_t memory_head_bytes(const struct setup *setup, uint32_t layer);

/* Can this layer's KV leave HBM at all? A sliding window stays. */
bool memory_can_offload(const struct setup *setup, uint32_t layer);

#endif
