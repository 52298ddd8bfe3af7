/* HBM that comes and goes: what is there at the fullest moment of a step, or of the prefill before.
 *
 *     step      buffers     of KV, of streamed weights, of what is copied once per query head
 *               workspace   hidden states of the batch, an operator's operands on the sequences
 *                           that pass, scores of a retrieval; or the logits, if these are more
 *     prefill   buffers     of streamed weights; of offloaded KV that of a layer, and the last
 * one's on its way workspace   the same on the tokens that pass; the k-means of an index
 *
 * An operator holds what it reads and writes. Of a prompt, `prefill_chunk` tokens pass at a time,
 * as serving engines have it, or all of a micro-batch: then the hidden states of all others wait,
 * unless they are what is kept of the tokens anyway. In the end the fuller of both moments counts:
 * buffers of a step are not there in prefill, and the other way about. Weights, KV that stays, the
 * cache and what retrieval reads are always there, and not counted here.
 *
 * Least memory: an allocator's fragmentation comes on top, for which `hbm_usable` is there.
 */
#ifndef DECODE_PLAN_PEAK_H
#define DECODE_PLAN_PEAK_H

#include "decode/plan/memory.h"

struct peak {
    double buffers, workspace; /* bytes */
    bool in_prefill;
};

/* Of the plan's sequences, whose sizes and micro-batches are known. */
struct peak peak_of(const struct setup *setup, const struct plan *plan);

#endif
