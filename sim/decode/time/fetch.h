/* The stages of a fetch: from the query of a layer to its missed KV in HBM. */
#ifndef DECODE_TIME_FETCH_H
#define DECODE_TIME_FETCH_H

#include "decode/time/pipe.h"

/* The layers whose KV is asked for in the current layer: itself when nothing can ask for it
 * earlier, the next one when something can. Returns how many (0 to 2). */
uint32_t fetch_targets(const struct pipe *pipe, uint32_t targets[2]);

/* Is this layer's KV asked for with a query? (Not when it is resident, loaded whole, or attended to
 * where it is.) */
bool fetch_is_asked(const struct pipe *pipe, uint32_t layer);

/* Bytes of the blocks that a step admits to the cache of a layer, where blocks are larger than what
 * was fetched: they come whole. */
double fetch_fill_bytes(const struct setup *setup, const struct ledger_row *row);

/* In program order. */
bool fetch_index(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_retrieve(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_ids(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_sync(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_estimate(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_lookup(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_gather(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_transfer(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_update(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_fill(struct pipe *pipe, uint32_t layer, struct error *why);

/* Move `bytes`, of which one head needs `worst`, by the system's transfer: as slow as the link, or
 * as the slowest head; after `after`, into a buffer that is free after `freed`. */
bool fetch_put_transfer(struct pipe *pipe, double bytes, double worst, engine_task_id after,
                        engine_task_id freed, engine_task_id *out, struct error *why);

#endif
