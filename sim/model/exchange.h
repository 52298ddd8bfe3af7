/* What the GPUs of a model send each other in a layer (parallel.h says how they share it).
 *
 * Each GPU of a tensor-parallel group adds up a part of the output of attention, and of the FFN, so each of
 * the two ends with an all-reduce of the hidden states (M. Shoeybi et al., "Megatron-LM", arXiv:1909.08053).
 *
 * If data-parallel ranks share experts, the tokens of all ranks are gathered before the experts, and the sums
 * scattered after them (vLLM's all2all backend allgather_reducescatter, its default), with an all-reduce in
 * the group. Or each GPU sends its tokens to the GPUs of their experts, which send back the sums
 * (DeepSeek-V3's DeepEP): twice all-to-all, and an all-gather in the group, whose GPUs have divided its
 * tokens. A token that visits several experts of a GPU is sent there once.
 *
 * GPUs that divide the tokens of a sequence gather the queries of all their heads, attend to their
 * own tokens, gather the logarithms of the sums of exponentials (fp32), and scatter the sums of the
 * outputs (vLLM's cp_lse_ag_out_rs). Of MLA queries and outputs are those in the latent space.
 *
 * Behind the last layer of a pipeline stage the hidden states are sent to the next stage. At the
 * edge the logits of all parts of the vocabulary are gathered. Hidden states and logits are bf16,
 * whatever the type of the weights. */
#pragma once

#include "model/model.h"

enum exchange_kind {
    EXCHANGE_ALL_REDUCE,     /* of a buffer of `bytes` on each GPU */
    EXCHANGE_ALL_GATHER,     /* each GPU has a part of `bytes`, and then all of them */
    EXCHANGE_REDUCE_SCATTER, /* each GPU has `bytes`, and then a part of their sums */
    EXCHANGE_ALL_TO_ALL,     /* each GPU has `bytes`, a part of them for each GPU */
    EXCHANGE_SEND,           /* of `bytes` from one GPU to another */
};

struct model_exchange {
    enum exchange_kind kind;
    uint32_t gpus; /* that take part, at least 2 */
    double bytes;
};
#define MODEL_MOST_EXCHANGES 8

/* Write the exchanges of `layer` (layer_count: the edge) for `rows`, in program order. Returns
 * their number, at most MODEL_MOST_EXCHANGES; 0 if one GPU holds the model. */
size_t model_exchanges(const struct model *model, uint32_t layer, struct model_rows rows,
                       struct model_exchange *out);
