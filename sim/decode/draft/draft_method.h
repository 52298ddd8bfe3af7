/* How tokens are drafted, and what that costs: the network which a method runs, as a model.
 *
 *     ngram    a look-up in the sequence's own tokens: no network, no memory
 *     model    a smaller model with KV of its own
 *     eagle3   one dense layer of the target's shape, which reads the target's hidden states, and a
 *              head for the most frequent words (Y. Li et al., "EAGLE-3", arXiv:2503.01840; vLLM's
 *              model_executor/models/llama_eagle3.py)
 *     mtp      one more layer of the target and its head (DeepSeek-V3, arXiv:2412.19437, section
 *              2.2; vLLM's model_executor/models/deepseek_mtp.py)
 *
 * n drafts take n passes, one after the other. The first has a row for each row of the verification
 * before it, because the network needs KV of the tokens that were accepted; the others have a row a
 * sequence (vLLM's v1/spec_decode/eagle.py; SGLang's speculative/eagle_worker.py).
 */
#pragma once

#include "model/model.h"

enum draft_method { DRAFT_NGRAM, DRAFT_MODEL, DRAFT_EAGLE3, DRAFT_MTP, DRAFT_METHODS };
extern const char *const draft_methods[DRAFT_METHODS + 1]; /* ends with NULL */

/* The network of a method. `model` points into it, or borrows the layers of another: do not copy a
 * network, and do not release its model. */
struct draft_network {
    struct model model;       /* its layers and its head; 0 layers: there is none */
    struct model_layer layer; /* of a single layer */
    uint64_t joined;    /* width that is projected to `hidden` before the first layer; 0: none */
    uint64_t fused;     /* the same, in the first pass alone */
    bool doubled_input; /* Q, K and V read a hidden state and an embedding, side by side */
    bool own_head;      /* else the target's */
};

/* The network by which `method` drafts for `target`; `own` is the draft model of DRAFT_MODEL. Both
 * must outlive it. */
void draft_network_init(struct draft_network *network, enum draft_method method,
                        const struct model *target, const struct model *own);

/* Weights that a GPU holds beside the target's, and KV of a token, in bytes. */
uint64_t draft_network_weight_bytes(const struct draft_network *network);
uint64_t draft_network_token_bytes(const struct draft_network *network);

/* Weights of the projections of a pass, in values: `first` of the first one. */
uint64_t draft_network_projected(const struct draft_network *network, bool first);
