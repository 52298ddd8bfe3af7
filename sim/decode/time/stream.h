/* Streaming: what crosses the link in an order known beforehand, and so before it is needed.
 *
 * A slot is a micro-batch's attention in a layer. With each slot the whole KV of the next one
 * starts to cross; with a layer's first micro-batch, or in parts with all of them, the weights of
 * the next layer, or of its other half where attention and FFN are two layers. Both have two
 * buffers: what comes fills the one that was freed last. The copy engine serves in this order (l.k:
 * layer l, micro-batch k):
 *
 *   h2d  |weights 1| KV 0.1 | KV 1.0 |weights 2| KV 1.1 | KV 2.0 | ...
 *   main           |  0.0   |  0.1   |         |  1.0   |  1.1   | ...
 *
 * FlexGen (Sheng et al., ICML 2023) calls this a zig-zag block schedule.
 */
#ifndef DECODE_TIME_STREAM_H
#define DECODE_TIME_STREAM_H

#include "decode/time/pipe.h"

void stream_init(struct pipe *pipe);

/* Stages: start the next weights, with the first micro-batch; start the next slot's KV, where its
 * layer comes whole. */
bool stream_put_weights(struct pipe *pipe, uint32_t layer, struct error *why);
bool stream_put_kv(struct pipe *pipe, uint32_t layer, struct error *why);

/* When the current pass has its weights, and the current slot its KV; ENGINE_NONE: it always has.
 */
engine_task_id stream_weights(const struct pipe *pipe);
engine_task_id stream_kv(const struct pipe *pipe);

/* The current slot ends with `attended`, which frees its buffer. */
void stream_attended(struct pipe *pipe, engine_task_id attended);

#endif
