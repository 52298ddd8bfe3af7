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
#pragma once

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

/* The time to build a retrieval's index from the keys of a prompt, in prefill.
 *
 * An index in HBM takes a kernel that reads all keys once. Clusters take k-means on the GPU: each
 * iteration compares each key with the centroids of its segment.
 *
 * An index on the host is built there from the keys that leave HBM. PQCache (Zhang et al., SIGMOD
 * 2025) uses product quantisation, with `cluster_centroids` centroids for each head and subspace.
 * `cluster_threads` threads run Lloyd's k-means, which compares all keys with them in each
 * iteration. Its public code runs as many iterations as the GPU's time for a layer hides, at least
 * `cluster_iterations` and at most `cluster_iterations_most`; scikit-learn, which runs them,
 * passes over the keys `cluster_passes` times besides. So the CPU keeps pace with the GPU layer by
 * layer, and only the training of the last layer adds time, unless the minimum takes longer than a
 * layer hides.
 */

/* Does the prefill run k-means on the host? */
bool index_build_by_cpu(const struct setup *setup);

/* The work of building a layer's index in one pass; all 0 at first. */
struct indexing {
    double rows, keys; /* tokens of prompts, and keys of all their KV heads */
    double compared;   /* pairs of a key and a centroid of its segment, an iteration */
};

/* Add `sequences` prompts of `prompt` tokens if the layer has an index to build. A model's own
 * index is not counted: its operators contain it. */
void index_build_add(const struct setup *setup, uint32_t layer, uint64_t prompt, uint32_t sequences,
                     struct indexing *indexing);

/* The build on the GPU; costs nothing without an index in HBM. */
struct kernel index_build(const struct setup *setup, const struct indexing *indexing);

/* The build on the host, in ns, beside `hidden_ns` of the GPU; 0 without an index there. */
double index_build_host_ns(const struct setup *setup, const struct indexing *indexing,
                           double hidden_ns, struct trust *trust);
