/* The base of the groups that measure the host: a pool for each number of threads, memory that no
 * cache holds, and the list of probes.
 *
 * The memory is on the first NUMA node, where the first threads run, as a GPU's buffers are on the
 * node of the GPU. Samples use it slice after slice, so that a slice is used again only when all
 * others have passed through the caches.
 */
#pragma once

#include "calibrate/host/buffer.h"
#include "calibrate/host/pool.h"
#include "calibrate/host/topology.h"
#include "calibrate/measure/measure.h"

#include <stdbool.h>
#include <stdint.h>

struct bench {
    struct topology topology;
    uint32_t sizes;                         /* numbers of threads: 1, 2, 4, ..., all */
    uint32_t threads[TOPOLOGY_MOST_COUNTS]; /* [sizes], ascending */
    struct pool *pools[TOPOLOGY_MOST_COUNTS];
    struct buffer data; /* a multiple of BENCH_STEP; empty if none was asked for */
    struct probe *probes;
    size_t count, capacity;
};

enum { BENCH_STEP = 16 << 20 };

/* `caches`: the memory's size as a multiple of the size of all last-level caches; 0: no memory. It
 * takes at most a quarter of the free memory; fails if that is less than BENCH_STEP. */
bool bench_init(struct bench *bench, uint32_t caches, uint64_t seed, struct error *why);
void bench_release(struct bench *bench); /* accepts a zeroed struct */

/* Add a probe. `figure` and `state` must outlive the bench. */
bool bench_add(struct bench *bench, const char *figure, double size,
               bool (*sample)(void *state, double *value, struct error *why), void *state,
               struct error *why);

/* Measure all probes that were added. */
bool bench_measure(const struct bench *bench, const struct effort *effort, uint64_t seed,
                   struct findings *findings, struct error *why);

/* findings_note() with a format. */
bool bench_note(struct findings *findings, const char *name, struct error *why, const char *format,
                ...) __attribute__((format(printf, 4, 5)));

/* Add one figure that is read or derived rather than sampled. */
bool bench_put(struct findings *findings, const char *name, const struct found_point *point,
               struct error *why);
