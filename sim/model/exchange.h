/* What the GPUs of a model send each other in a layer.
 *
 * Each GPU of a tensor-parallel group adds up a part of the output of attention, and of the FFN, so
 * each of the two ends with an all-reduce of the hidden states (M. Shoeybi et al., "Megatron-LM",
 * arXiv:1909.08053). Hidden states are bf16, whatever the type of the weights.
 */
#ifndef MODEL_EXCHANGE_H
#define MODEL_EXCHANGE_H

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
#define MODEL_MOST_EXCHANGES 2

/* Write the exchanges of `layer` for `rows` tokens, in program order. Returns their number, at most
 * MODEL_MOST_EXCHANGES; 0 if one GPU holds the model. */
size_t model_exchanges(const struct model *model, uint32_t layer, uint64_t rows,
                       struct model_exchange *out);

#endif
