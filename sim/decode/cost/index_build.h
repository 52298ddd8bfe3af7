/* Making a retrieval's index of a prompt's keys, in prefill.
 *
 * In HBM a kernel reads all keys once. Clusters are made by k-means on the GPU, each key compared
 * with the centroids of its segment in each iteration.
 *
 * An index on the host is made there from the keys that leave. PQCache's (Zhang et al., SIGMOD
 * 2025) is product quantisation: of each head and subspace `cluster_centroids` centroids, with
 * which all keys are compared in each iteration of Lloyd's k-means, by `cluster_threads` threads.
 * Its public code runs as many iterations as the GPU's time for a layer hides, at least
 * `cluster_iterations` and at most `cluster_iterations_most`; scikit-learn, which runs them, passes
 * over the keys `cluster_passes` times beside. So layers follow each other on the CPU as they do on
 * the GPU, and only the last one's training shows, unless the least is more than is hidden.
 */
#ifndef DECODE_COST_INDEX_BUILD_H
#define DECODE_COST_INDEX_BUILD_H

#include "decode/cost/cost.h"

/* Does it need the host's k-means? */
bool index_build_on_host(const struct setup *setup);

/* What an index of a layer is made of in a pass; all 0 at first. */
struct indexing {
    double rows, keys; /* tokens of prompts, and keys of all their KV heads */
    double compared;   /* pairs of a key and a centroid of its segment */
};

/* Add the prompts of `sequences` sequences of the setup's context, where the layer has an index to
 * make. A model's own index is among its operators. */
void index_build_add(const struct setup *setup, uint32_t layer, uint64_t prompt, uint32_t sequences,
                     struct indexing *indexing);

/* On the GPU; nothing where there is no index in HBM. */
struct kernel index_build(const struct setup *setup, const struct indexing *indexing);

/* On the host, beside `hidden_ns` of the GPU; 0 where there is no index on the host. */
double index_build_host_ns(const struct setup *setup, const struct indexing *indexing,
                           double hidden_ns, struct trust *trust);

#endif
