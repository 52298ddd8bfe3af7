/* How many bytes of weights cross the link when weights are streamed from the host.
 *
 * A layer has two halves that can pass on their own: its attention (the projections of Q, K and V)
 * and its FFN (with the output projection, which runs after the attention).
 */
#ifndef DECODE_COST_STREAMED_WEIGHTS_H
#define DECODE_COST_STREAMED_WEIGHTS_H

#include "decode/setup.h"

enum stage_half { HALF_ATTENTION = 1, HALF_FFN = 2, HALF_BOTH = 3 };

/* Bytes of a layer's weights, or of half of it, that the host holds and the link carries in each
 * pass. 0 if all weights stay in HBM. */
double streamed_weight_bytes(const struct setup *setup, uint32_t layer, enum stage_half halves);

#endif
