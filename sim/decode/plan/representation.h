/* Representation: the form in which K and V are stored until attention reads them.
 *
 * A token's K and V in a layer can be stored as they are, or recomputed: from the layer's input
 * activations, which are half as large if every query head has its own KV head; or from the token
 * itself, by running it through the whole model. Recomputing costs arithmetic and saves bytes on
 * the link.
 *
 *   a sequence's context, in every layer that offloads:
 *     | act_hbm | act_host |          kv          |   act, hybrid: HBM holds activations only
 *     |      ids       |          kv              |   tokens
 *
 * CAPTURE's allocation: the GPU computes K and V while the link carries the next layer's weights
 * and KV, so both should take equally long:
 *
 *   t_gen (act_hbm + act_host) = T_weights + t_kv kv + t_act act_host
 *
 * with t_gen, t_kv and t_act the times for one token in one layer. The paper leaves the last term
 * out, and so does `balance_counts_act: no`. If the term counts and t_act is at least t_kv,
 * act_host is 0: an activation would cost both the GPU and the link more.
 */
#pragma once

#include "decode/cost/cost.h"

/* Tokens of a sequence. They add up to its context. */
struct split {
    uint64_t act_hbm, act_host, ids, kv;
};

/* The share of the tokens outside HBM that is kept as activations, or recomputed from token ids.
 * `context` is the mean of `batch` sequences, of which HBM holds `act_hbm` as activations. All
 * sequences get the same share, whatever their context: the one that balances their sum. */
double representation_share(const struct setup *setup, uint32_t batch, double context,
                            double act_hbm);

/* Split a context of which HBM holds `act_hbm` tokens as activations. The recomputed part is whole
 * blocks of the system's granularity; the remainder is KV. */
struct split representation_split(const struct setup *setup, uint64_t context, uint64_t act_hbm,
                                  double share);

/* Bytes of one sequence in one layer, in host memory and on each pass over the link. */
double split_host_bytes(const struct setup *setup, const struct split *split);

/* What a micro-batch recomputes in a layer; all 0 at first. */
struct remaking {
    double activations; /* tokens recomputed from their activations */
    double tokens;      /* tokens that run through the model again */
    double flops;       /* of these, in all layers */
};

/* Add `sequences` sequences with this split. */
void representation_add(const struct setup *setup, const struct split *split, uint32_t sequences,
                        struct remaking *remaking);

/* Recomputing K and V of one layer. */
struct kernel representation_recompute(const struct setup *setup, const struct remaking *remaking);
