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
#ifndef DECODE_REPRESENTATION_H
#define DECODE_REPRESENTATION_H

#include "decode/cost.h"

/* Tokens of a sequence. They add up to its context. */
struct split {
    uint64_t act_hbm, act_host, ids, kv;
};

/* Split the context of `batch` sequences when HBM holds `act_hbm` tokens of each as activations. In
 * whole blocks of the system's granularity, but for what is left over, which is KV. */
struct split representation_split(const struct setup *setup, uint32_t batch, uint64_t act_hbm);

/* Bytes of a token of a layer on the host link, and in host memory. */
double representation_host_bytes(const struct setup *setup, const struct split *split);

/* Making K and V of one layer again, for `sequences` sequences. */
struct kernel representation_recompute(const struct setup *setup, const struct split *split,
                                       uint32_t sequences);

#endif
