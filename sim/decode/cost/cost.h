/* How long kernels and copies of a setup take when they run alone, with the times of kernel_time.h. */
#pragma once

#include <stdint.h>

#include "decode/cost/kernel_time.h"
#include "decode/setup.h"

/* The same work in at least `kernels` kernels, launched as the setup's mechanisms say. */
struct kernel cost_at_least(const struct setup *setup, struct kernel kernel, uint64_t kernels);

/* The model's operators of one stage of `layer` (layer_count: the edge), for `batch` sequences that
 * attend to `attended` tokens in all, as `kernels` kernels: those beyond the operators are small and
 * take a kernel's least time each. */
struct kernel cost_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                         uint64_t batch, uint64_t attended, uint64_t kernels);

/* The same for the rows of one rank and of all; `attended` counts once what a sequence's rows read. */
struct kernel cost_row_stage(const struct setup *setup, uint32_t layer, enum model_stage stage,
                             struct model_rows rows, uint64_t attended, uint64_t kernels);

/* What the GPUs send each other in `layer` (layer_count: the edge) for `rows` tokens, one exchange
 * after the other; and the number of these exchanges, which is that of their kernels (0: none). */
struct kernel cost_exchanges(const struct setup *setup, uint32_t layer, struct model_rows rows,
                             uint64_t *kernels);

/* Kernels of a stage of a layer: shares of its `operators` before attention and in it, after it the rest. */
uint64_t cost_stage_kernels(const struct mechanisms *mechanisms, enum model_stage stage);

/* The functions below lower `trust` to that of the curves they read. */

/* CPU time, in ns, to start an asynchronous copy of `bytes`: the call, and before it, for pageable memory,
 * the CPU's own copy into a pinned block, which FlexGen's general_copy() sends when it is whole. */
double cost_copy_call(const struct setup *setup, bool pageable, double bytes, struct trust *trust);

/* The number of threads that a mechanism's key asks for: at most one a core; 0 is every core. */
double cost_threads(const struct setup *setup, uint64_t threads, struct trust *trust);

/* Threads of the CPU pool: at most one for each core, or logical CPU of a NUMA node, that is not spared. */
double cost_pool_threads(const struct setup *setup, struct trust *trust);

/* GPUs of this run that share one uplink; they transfer at the same time. At least 1. */
double cost_uplink_sharers(const struct setup *setup, struct trust *trust);

/* Bytes a second that the transfer mechanism reaches on one GPU's link when it is saturated. */
double cost_transfer_rate(const struct setup *setup, struct trust *trust);

/* Most bytes a second for the KV of one head: its CTAs' loads. INFINITY when the mechanism has no such limit;
 * CPU threads store single K or V vectors, so that all of them share a head's misses (CLO, 2025). */
double cost_transfer_head_rate(const struct setup *setup, struct trust *trust);

/* Keys that stay in HBM while their values lie on the host (`keys: hbm`), as they are, or as something
 * smaller of which a step makes those whose values it fetches: numbers of few bits (KIVI), or a product
 * (ShadowKV). Its rows of `keys_rank` numbers serve all KV heads of a GPU. A second kernel adds the rotary
 * embedding to what it makes:
 *
 *     K [tokens, heads * dim] = rows [tokens, rank] * factor [rank, heads * dim]
 *
 * With MLA a latent is both K and V, and none stays. */

/* The share of a token's K and V on the host, which crosses; and that in a cache in HBM beside the keys. */
double keys_host_share(const struct setup *setup);
double keys_buffer_share(const struct setup *setup);

/* Bytes that stand in HBM for the keys of a KV head of one sequence of the setup's context. */
double keys_hbm_bytes(const struct setup *setup);

/* Making the keys of `tokens` tokens, those of `pairs` (sequence, KV head) pairs; and its kernels, 0
 * if nothing is made. */
struct kernel keys_make(const struct setup *setup, double tokens, double pairs, uint64_t *kernels);

/* How many bytes of weights cross the link when weights are streamed from the host. A layer has two halves
 * that can pass on their own: its attention (the projections of Q, K and V) and its FFN (with the output
 * projection, which runs after the attention). */

enum stage_half { HALF_ATTENTION = 1, HALF_FFN = 2, HALF_BOTH = 3 };

/* Bytes of a layer's weights, or of half of it, that the link carries in each pass; 0: all stay in HBM. */
double streamed_weight_bytes(const struct setup *setup, uint32_t layer, enum stage_half halves);

/* Which weights of `layer` a decode step reads with `weights_at: cpu`. HBM takes the layer's other weights
 * first, then the predictor's, then neurons. Each token reads its own rows of the down projection of active
 * neurons (PowerInfer's ggml.c, ggml_compute_forward_mul_mat_axpy); all else is read once for all tokens. */
struct weights_read {
    double gpu[MODEL_EDGE]; /* by the GPU, over all weights of the stage's operators */
    double cpu_bytes, cpu_flops, down_bytes, down_flops; /* by the CPU: last, its down projection */
};
struct weights_read cost_weights_read(const struct setup *setup, uint32_t layer,
                                      struct model_rows rows);

/* What a drive reads for KV and weights that lie on it, and how fast.
 *
 * Whole layers and weights lie in a row and are read in pieces of DISK_PIECE. A selection is
 * scattered. Blocks of `disk_block` tokens of a head lie together; a block is read if one of its
 * tokens is missed, in whole pages:
 *
 *     head   | block | block | block | block |        tokens missed: x
 *              x  x            x                      read: the first and the third
 *
 * Missed entries (of `retrieval_tokens`) are taken to lie anywhere, independently: if a share q of a head's
 * tokens is missed and a block has n entries, 1 - (1 - q)^n of all blocks are read. Neighbours that are
 * wanted together need fewer: the sets of a tenth of smollm2-135m's recording lie in 42 % of all blocks of 8
 * tokens, not in 57 %; what an LRU of 30 % misses of them, in 12 % fewer blocks than this says. */

enum { DISK_PIECE = 1 << 20, DISK_PAGE = 4096 };

/* Bytes of a read of KV that a query asks for. */
double disk_block_bytes(const struct setup *setup);

/* Bytes read so that `missed` of the `all` tokens outside HBM, both over a number of heads, are in
 * host memory. Those on the disk are missed as often as the others. */
double disk_selection_bytes(const struct setup *setup, double missed, double all);

/* Bytes a second that one GPU gets of the server's drives, all its GPUs at the same time, in reads
 * or writes of `block` bytes. The functions lower `trust` to that of the figures they read. */
double disk_read_rate(const struct setup *setup, double block, struct trust *trust);
double disk_write_rate(const struct setup *setup, double block, struct trust *trust);

/* What it takes to draft: the passes of a method's network, one after the other, which follow the head of the
 * verification before them (decode/draft/drafts.h). The GPU samples drafts itself, so that no pass waits for
 * the CPU but for `drafts.overhead`. The network's kernels are launched as the model's are. */

struct drafting {
    struct kernel compute, exchanges; /* of all passes */
    uint64_t kernels, exchanged;      /* their numbers; 0: nothing is run */
};

/* All passes for `sequences` sequences of the setup's context. */
struct drafting drafting_cost(const struct setup *setup, uint64_t sequences);

/* Bytes in HBM, of one GPU: the network's weights, and its KV of `sequences` sequences. */
uint64_t drafting_weight_bytes(const struct setup *setup);
double drafting_kv_bytes(const struct setup *setup, uint64_t sequences);
