/* Retrieval: what finding a selection costs. One formula for every system, with constants in its
 * preset; of a model's own indexer (DeepSeek-V3.2), with the model's geometry.
 *
 *     an entry       holds     keys * a key + bytes          one a token, page or cluster, a KV
 * head scoring        moves     entries * (entry + scores)    in HBM takes     2 FLOPs for each
 * value of a key that is compared, and query head top-k          sorts     a score for each entry,
 * of KV heads or of query heads
 *
 * Codes (hash or product quantisation) are compared without matrix products: no FLOPs.
 */
#ifndef DECODE_COST_RETRIEVAL_H
#define DECODE_COST_RETRIEVAL_H

#include "decode/cost/cost.h"

/* Bytes of an entry of one KV head. */
double retrieval_entry_bytes(const struct setup *setup);

/* Copies of K, V and entries that are made for the query heads of one KV head, where they are made
 * at all; else 0. MLA's latents are read by all heads at once. */
uint32_t retrieval_copies(const struct setup *setup);

/* Scores of so many entries of KV heads, as top-k takes them. */
double retrieval_score_bytes(const struct setup *setup, double entries);

/* Scoring so many entries of all (sequence, head) pairs, and top-k over the scores. */
struct kernel retrieval_cost(const struct setup *setup, double entries);

/* The share of the query projection that speculation runs once more. */
struct kernel retrieval_query_cost(const struct setup *setup);

/* Do its products run in bf16, or in fp8? Neither where it compares codes. */
bool retrieval_needs_bf16(const struct setup *setup);
bool retrieval_needs_fp8(const struct setup *setup);

#endif
