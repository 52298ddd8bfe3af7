/* Making a retrieval's index of a prompt's keys, in prefill.
 *
 * In HBM a kernel reads all keys once. Clusters are made by k-means on the GPU, each key compared
 * with the centroids of its segment in each iteration.
 *
 * An index on the host is made there from the keys that leave. PQCache's (Zhang et al., SIGMOD
 * 2025) is product quantisation: of each head and subspace `cluster_centroids` centroids, with
 * which all keys are compared in each iteration of Lloyd's k-means, by `cluster_threads` threads.
 * Its public code runs as many iterations as the GPU's time for a layer hides, at least
 * `cluster_iterations` and at most 300. So layers follow each other on the CPU as they do on the
 * GPU, and only the last one's training shows, unless the least is more than is hidden.
 */
#ifndef DECODE_INDEX_BUILD_H
#define DECODE_INDEX_BUILD_H

#include "decode/cost.h"

/* Does it need the host's k-means? */
bool index_build_on_host(const struct setup *setup);

/* On the GPU, for the prompts of so many sequences; nothing where there is no index in HBM. A
 * model's own index is among its operators. */
struct kernel index_build(const struct setup *setup, uint32_t layer, uint32_t sequences);

/* On the host, beside `hidden_ns` of the GPU; 0 where there is no index on the host. */
double index_build_host_ns(const struct setup *setup, uint32_t layer, uint32_t sequences,
                           double hidden_ns, struct trust *trust);

#endif
