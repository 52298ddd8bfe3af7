/* Temporary HBM: buffers and workspace at the fullest moment of a step, or of its prefill.
 *
 *     step      buffers     KV, streamed weights, copies for each query head
 *               workspace   hidden states of the batch, one operator's operands for the sequences
 *                           of a micro-batch, scores of a retrieval; or the logits, if larger
 *     prefill   buffers     streamed weights; KV of one layer, and the layer before it on its way
 *                           to the host
 *               workspace   as in a step, for the tokens that pass; k-means of an index
 *
 * An operator's operands are all it reads and writes. `prefill_chunk` tokens of prompts pass at a
 * time, as in serving engines; with 0 a whole micro-batch does, and then the hidden states of all
 * other tokens are held, unless activations are what is kept of tokens anyway. The buffers of a
 * step are not there in prefill, and the reverse, so the larger total of the two counts. Weights,
 * resident KV, the cache and the index are always there and are not counted here.
 *
 * This is the minimum: `hbm_usable` leaves room for the allocator's fragmentation.
 */
#pragma once

#include "decode/plan/memory.h"

struct peak {
    double buffers, workspace; /* bytes */
    bool in_prefill;
};

/* The peak of the plan's sequences, whose sizes and micro-batches are known. */
struct peak peak_of(const struct setup *setup, const struct plan *plan);

/* Bytes of a layer's KV, or activations in its place, of the largest micro-batch; and of the two
 * buffers for streamed weights. */
double peak_layer_bytes(const struct setup *setup, const struct plan *plan);
double peak_weight_buffers(const struct setup *setup);
