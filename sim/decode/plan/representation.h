/* Representation: what stands for K and V until they are attended to.
 *
 * A token's K and V in a layer can be kept as they are, or made again: from the activations that
 * went into the layer, half as large where every query head has a KV head of its own; or from the
 * tokens themselves, by running them through the whole model. What is made again costs arithmetic
 * and saves bytes on the link.
 *
 *   a sequence's context, in every layer that offloads:
 *     | act_hbm | act_host |          kv          |   act, hybrid: HBM holds activations only
 *     |      ids       |          kv              |   tokens
 *
 * CAPTURE's allocation: the GPU makes K and V while the link carries the next layer's weights and
 * KV, so both should take as long:
 *
 *   t_gen (act_hbm + act_host) = T_weights + t_kv kv + t_act act_host
 *
 * for times a token and layer. The paper leaves the last term out; `balance_counts_act: no` does.
 * Where it counts and t_act is no less than t_kv, act_host is 0: each one would slow both down.
 */
#ifndef DECODE_PLAN_REPRESENTATION_H
#define DECODE_PLAN_REPRESENTATION_H

#include "decode/cost/cost.h"

/* Tokens of a sequence. They add up to its context. */
struct split {
    uint64_t act_hbm, act_host, ids, kv;
};

/* The share of what is left outside HBM that is kept as activations, or made again from tokens,
 * where `batch` sequences have these tokens in the mean, and `act_hbm` of them as activations in
 * HBM. Sequences of all contexts keep the same share: the one that suits their sum. */
double representation_share(const struct setup *setup, uint32_t batch, double context,
                            double act_hbm);

/* Split a context of which HBM holds `act_hbm` tokens as activations. In whole blocks of the
 * system's granularity, but for what is left over, which is KV. */
struct split representation_split(const struct setup *setup, uint64_t context, uint64_t act_hbm,
                                  double share);

/* Bytes of a token of a layer on the host link, and in host memory. */
double representation_host_bytes(const struct setup *setup, const struct split *split);

/* What a micro-batch makes again in a layer; all 0 at first. */
struct remaking {
    double activations; /* tokens of which the activations were kept */
    double tokens;      /* that run through the model again, and what that takes in all layers */
    double flops;
};

/* Add `sequences` sequences that are split so. */
void representation_add(const struct setup *setup, const struct split *split, uint32_t sequences,
                        struct remaking *remaking);

/* Making K and V of one layer again. */
struct kernel representation_recompute(const struct setup *setup, const struct remaking *remaking);

#endif
