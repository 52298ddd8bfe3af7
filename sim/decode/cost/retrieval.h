/* Retrieval: the cost of finding a selection. Every system uses one formula with the constants of
 * its preset; a model's own indexer (DeepSeek-V3.2) uses the model's geometry.
 *
 *     an entry  holds   keys * a key + bytes         one a KV head and token, page or cluster
 *     scoring   moves   entries * (entry + scores)   bytes in HBM
 *               takes   2 FLOPs                      for each value compared, a query head
 *     top-k     sorts   a score an entry             of each KV head, or of each query head
 *
 * Codes (hash or product quantisation) are compared without matrix products: no FLOPs.
 */
#ifndef DECODE_COST_RETRIEVAL_H
#define DECODE_COST_RETRIEVAL_H

#include "decode/cost/cost.h"

/* Bytes of an entry of one KV head. */
double retrieval_entry_bytes(const struct setup *setup);

/* Copies of K, V and entries that `repeat_kv` makes for the query heads of one KV head; 0 if it
 * makes none. With MLA all heads read the same latents, so there are none. */
uint32_t retrieval_copies(const struct setup *setup);

/* Bytes of the scores that top-k sorts, for `entries` entries of KV heads and all queries. */
double retrieval_score_bytes(const struct setup *setup, double entries);

/* Scoring `entries` entries, those of all `pairs` (sequence, KV head) pairs, and top-k over the
 * scores of each query. The queries of a verification read the entries together. A model's own indexer selects in one kernel, all others sort. */
struct kernel retrieval_cost(const struct setup *setup, double entries, double pairs);

/* Running the share of the query projection that speculation repeats. */
struct kernel retrieval_query_cost(const struct setup *setup);

#endif
