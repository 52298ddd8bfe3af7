/* Memory that a batch needs in each tier, and memory that the machine has. */
#pragma once

#include "decode/plan/plan.h"
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

/* Bytes of a tier that may be used. With `kv_pool_tokens` HBM's are weights, workspace and that
 * pool. */
uint64_t memory_limit(const struct setup *setup, const struct memory *memory, enum tier_id tier,
                      struct trust *trust);
uint64_t memory_hbm_room(const struct setup *setup, const struct memory *memory,
                         struct trust *trust); /* HBM's, also with `unlimited_memory` */

/* Copies of one GPU's KV on the host, over all GPUs: one for each, or with `host_shared` one for
 * each GPU that has other KV. */
double memory_host_copies(const struct setup *setup);

/* Can this layer's KV leave HBM? Not in a sliding layer. */
bool memory_can_offload(const struct setup *setup, uint32_t layer);

/* Host memory into which a disk is read, or pageable KV is copied for attention on the CPU, for one
 * GPU: two buffers for weights and two for KV, as one is filled while the other is in use
 * (decode/time/fetch.h, hybrid.h). */

/* Bytes of these buffers for the plan's batch; 0 where nothing lies on a disk. Each is as large as
 * the largest part that is read at a time: of a layer or half of one, of a micro-batch's KV, or of
 * what all heads of a layer select. */
double disk_buffer_bytes(const struct setup *setup, const struct plan *plan);

/* Padding of pinned host memory: the bytes that allocations take beyond the bytes asked for.
 *
 * The driver pins whole pages. PyTorch's caching allocator of pinned memory, from release 1.12 on,
 * first rounds each request up to a power of two (ATen's CachingHostAllocator; pytorch/pytorch
 * issues 95823 and 150517): a layer's K of 5 GiB takes 8 GiB. The mechanism `pinned_rounding` says
 * which of the two a system uses. These pieces are pinned:
 *
 *     KV               K and V of each layer, where the GPU or a copy engine reads them in place
 *     staging          two buffers of K and two of V
 *     streamed index   one for each layer
 *     streamed weights each matrix; if a share is streamed, that share of all matrices' padding
 *
 * Memory that only the CPU reads (the source of a gather, of CPU stores, of attention on the CPU)
 * is not pinned, nor is pageable memory. Their rounding to pages is too small to count.
 */

/* Bytes asked for, for one GPU. */
struct pinned_parts {
    double kv;
    double kv_layers; /* layers that `kv` holds */
    double staging;
    double index;
    double index_layers;
};

/* Bytes of padding for these parts and for streamed weights. */
double pinned_padding(const struct setup *setup, const struct pinned_parts *parts);
