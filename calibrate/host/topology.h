/* The processors, caches and memory that this process may use, as Linux states them in /proc and
 * /sys.
 *
 * Threads are put on processors in one order: NUMA nodes by ascending number, and within a node one
 * logical CPU of each core before the second ones. A quota of CPU time (cgroups) cuts the list:
 * only its first CPUs remain.
 *
 *     node 0: cores 0 1 2 3, second threads 0 1 2 3 | node 1: cores 0 1 2 3, ...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

enum { TOPOLOGY_MOST_COUNTS = 32 };

struct topology {
    uint32_t *cpus;  /* [count] logical CPUs, in that order */
    uint32_t *nodes; /* [count] the NUMA node of each; ascending */
    uint32_t count;  /* logical CPUs */
    uint32_t cores;  /* cores to which these CPUs belong */
    uint64_t memory; /* bytes of the machine, or the limit of a cgroup */
    uint64_t free;   /* bytes of it that are available */
    uint64_t cache;  /* bytes of all last-level caches of these CPUs; an assumed figure if the
                        system states none */
    bool cache_stated;
};

/* Read the topology from the files below `root`; "" is this machine. */
bool topology_init(struct topology *topology, const char *root, struct error *why);
void topology_release(struct topology *topology);

/* The end of the run of CPUs, from `first` on, that have the node of `first`. */
uint32_t topology_node_end(const struct topology *topology, uint32_t first);

/* Write 1, 2, 4, ... below `most`, and `most` itself, to counts[TOPOLOGY_MOST_COUNTS]. Returns
 * their number. */
uint32_t topology_thread_counts(uint32_t most, uint32_t *counts);

#ifdef __cplusplus
}
#endif
