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
#ifndef DECODE_COST_INDEX_BUILD_H
#define DECODE_COST_INDEX_BUILD_H

#include "decode/cost/cost.h"

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

#endif
