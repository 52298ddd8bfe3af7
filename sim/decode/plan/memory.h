/* Memory that a batch needs in each tier, and memory that the machine has. */
#pragma once

#include "decode/plan/memory_plan.h"
#include "decode/setup.h"

/* Set the head sizes of each cohort of `plan`, whose batch, contexts and micro-batches are known.
 * A budget in bytes is shared by `offloaded` heads (over all layers); each sequence gets a part in
 * proportion to its context. Fails when the budget is below one block or below what the policy must
 * hold, and when the selection is empty or more than all entries. */
bool memory_head_sizes(const struct setup *setup, uint64_t offloaded, struct plan *plan,
                       struct error *why);

/* Memory of the plan's sequences when `offloaded` heads (over all layers) of each leave HBM. Sums
 * saturate. */
struct memory memory_of(const struct setup *setup, const struct plan *plan, uint64_t offloaded);

/* The mean context of the plan's sequences. */
double memory_mean_context(const struct plan *plan);

/* Bytes of weights in HBM, of one GPU. */
uint64_t memory_hbm_weights(const struct setup *setup);

/* Tokens of sequences of the setup's context that the pool of its engine holds, as the engine
 * divides it if layers do not all keep the same. */
uint64_t memory_pool_tokens(const struct setup *setup);

/* Bytes of a tier that may be used. With `kv_pool_tokens` HBM's are weights, workspace and that
 * pool; of an engine, what it leaves to weights, itself and KV. */
uint64_t memory_limit(const struct setup *setup, const struct memory *memory, enum tier_id tier,
                      struct trust *trust);
uint64_t memory_hbm_room(const struct setup *setup, const struct memory *memory,
                         struct trust *trust); /* HBM's, also with `unlimited_memory` */

/* Copies of one GPU's KV on the host, over all GPUs: one for each, or with `host_shared` one for
 * each GPU that has other KV. */
double memory_host_copies(const struct setup *setup);

/* Can this layer's KV leave HBM? Not in a sliding layer. */
bool memory_can_offload(const struct setup *setup, uint32_t layer);
