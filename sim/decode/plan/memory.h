/* Memory that a batch needs in each tier, and memory that the machine has. */
#pragma once

#include "decode/plan/memory_plan.h"
#include "decode/setup.h"

/* Set the head sizes of each cohort of `plan`. A budget in bytes is shared by `offloaded` heads (over all
 * layers), and among sequences in proportion to contexts. Fails when the budget is below one block or what
 * the policy must hold, and when the selection is empty or more than all entries. */
bool memory_head_sizes(const struct setup *setup, uint64_t offloaded, struct plan *plan,
                       struct error *why);

/* Memory of the plan's sequences when `offloaded` heads (of all layers) leave HBM. Sums saturate. */
struct memory memory_of(const struct setup *setup, const struct plan *plan, uint64_t offloaded);

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

/* Copies of a GPU's KV on the host: one for each GPU, or with `host_shared` for each that has other KV. */
double memory_host_copies(const struct setup *setup);

/* Are there layers outside HBM that are loaded whole? */
bool memory_loads_whole(const struct setup *setup);

/* Can this layer's KV leave HBM? Not in a sliding layer. */
bool memory_can_offload(const struct setup *setup, uint32_t layer);

/* Temporary HBM: buffers and workspace at the fullest moment of a step, or of its prefill.
 *
 *     step      buffers     KV, streamed weights, copies for each query head
 *               workspace   hidden states of the batch, one operator's operands for the sequences
 *                           of a micro-batch, scores of a retrieval; or the logits, if larger
 *     prefill   buffers     streamed weights; KV of one layer, and the layer before it on its way
 *                           to the host
 *               workspace   as in a step, for the tokens that pass; k-means of an index
 *
 * An operator's operands are all it reads and writes. `prefill_chunk` tokens of prompts pass at a time, or
 * with 0 a whole micro-batch; then the hidden states of all other tokens are held, unless activations are
 * kept of tokens anyway. Buffers of a step are not there in prefill, and the reverse: the larger total
 * counts. What is always there, such as weights, resident KV, cache and index, is not counted here.
 *
 * This is the minimum: `hbm_usable` leaves room for the allocator's fragmentation. */

struct peak {
    double buffers, workspace; /* bytes */
    bool in_prefill;
};

/* The peak of the plan's sequences, whose sizes and micro-batches are known. */
struct peak peak_of(const struct setup *setup, const struct plan *plan);

/* Bytes of a layer's KV, or activations, of the largest micro-batch; of both buffers for streamed weights. */
double peak_layer_bytes(const struct setup *setup, const struct plan *plan);
double peak_weight_buffers(const struct setup *setup);
