/* Streaming: loads of weights and whole KV. Their order is known, so each starts before it is needed.
 *
 * A slot is the attention of one micro-batch in one layer. With each slot the whole KV of the next
 * slot starts to cross the link. With the first micro-batch of a layer the weights of the next
 * layer start to cross (with `halves`: of the next half layer; with `weights_spread`: in parts, one
 * with each micro-batch). Both have two buffers; a load fills the one that was freed last. The copy
 * engine serves in this order (l.k: layer l, micro-batch k):
 *
 *   in   |weights 1| KV 0.1 | KV 1.0 |weights 2| KV 1.1 | KV 2.0 | ...
 *   main           |  0.0   |  0.1   |         |  1.0   |  1.1   | ...
 *
 * Of weights and KV on a disk, that share is read before it crosses (fetch.h). FlexGen (Sheng et al., ICML
 * 2023) calls this a zig-zag block schedule. */
#pragma once

#include "decode/time/pipe.h"

/* A stage: start to load the next weights. */
bool stream_put_weights(struct pipe *pipe, uint32_t layer, struct error *why);

/* The tasks that load the current pass's weights and slot's KV; ENGINE_NONE: nothing to load. */
engine_task_id stream_weights(const struct pipe *pipe);
engine_task_id stream_kv(const struct pipe *pipe);

/* End the current slot: `attended` frees its buffer. */
void stream_attended(struct pipe *pipe, engine_task_id attended);
