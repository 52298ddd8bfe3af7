/* The processors, caches and memory that this process may use, as Linux states them below /proc and
 * /sys.
 *
 * Threads are put on processors in one order: a NUMA node after the other, the one with the lowest
 * number first, and of a node one logical CPU of each core before the second ones. A quota of CPU
 * time (cgroups) leaves the first so many.
 *
 *     node 0: cores 0 1 2 3, second threads 0 1 2 3 | node 1: cores 0 1 2 3, ...
 */
#ifndef CALIBRATE_HOST_TOPOLOGY_H
#define CALIBRATE_HOST_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

enum { TOPOLOGY_MOST_COUNTS = 32 };

struct topology {
    uint32_t *cpus;  /* [count] logical CPUs, in that order */
    uint32_t *nodes; /* [count] the NUMA node of each; never falls */
    uint32_t count;  /* logical CPUs */
    uint32_t cores;  /* cores that these are of */
    uint64_t memory; /* bytes, of the machine or as many as a cgroup leaves */
    uint64_t free;   /* bytes of it that nobody uses */
    uint64_t cache;  /* bytes of all last-level caches of these CPUs; an assumed figure where
                        nothing is stated */
    bool cache_stated;
};

/* Read it below `root`: "" is this machine. */
bool topology_init(struct topology *topology, const char *root, struct error *why);
void topology_release(struct topology *topology);

/* The end of the run of CPUs from `first` on that are of its node. */
uint32_t topology_node_end(const struct topology *topology, uint32_t first);

/* 1, 2, 4, ... below `most`, and `most`, into counts[TOPOLOGY_MOST_COUNTS]; returns how many. */
uint32_t topology_thread_counts(uint32_t most, uint32_t *counts);

#ifdef __cplusplus
}
#endif
#endif
