/* A herd: the caches of many heads, which a manager serves one after the other.
 *
 * Each instance is the cache of one head. A demand wants a tenth of the head's units; the cache has
 * room for three times that (RetroInfer's sizes). Before each sample the caches of all CPUs are
 * filled with other data, as serving the other heads and layers and gathering their KV would do.
 *
 * A manager that fetches misses makes two passes over a demand, and so does a sample:
 *
 *   lookup   holds() of every wanted unit; hits and misses are listed apart
 *   update   the policy's access, as in a replay: every hit is touched, every miss admitted; it
 *            includes another lookup, because policies do both at once
 *
 * Demands slide over a shuffled list of all units, by the number of units that shall miss:
 *
 *     list        7 2 9 4 1 8 3 6 5 ...       share that hits: 1 - step / wanted
 *     demand n   [  wanted    ]
 *     demand n+1   [  wanted    ]             the units that enter were last wanted a turn ago
 */
#pragma once

#include "calibrate/host/bench.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct herd {
    struct bench *bench;
    uint32_t units, wanted, capacity; /* of an instance */
    uint32_t *orders;                 /* [2 * units] each: a list twice, so that no demand wraps */
    struct instance *all;
    uint32_t count, each; /* `each` for every thread */
    double *ns;           /* [threads] time of each in a sample */
};

/* Create full caches of `kind` over `units` units for `threads` threads. The caller releases it, on
 * failure too. `bench` outlives it, and has memory. */
bool herd_init(struct herd *herd, const struct policy_kind *kind, uint32_t units, uint32_t threads,
               struct bench *bench, uint64_t seed, struct error *why);
void herd_release(struct herd *herd); /* accepts a zeroed struct */

/* A probe. */
struct herd_turn {
    struct herd *herd;
    struct pool *pool;
    bool looks_up; /* else updates */
    double hits;   /* share of wanted units that hit */
};

/* Run all threads at once, each with its own instances. The value is their mean time for a unit.
 * `state` is a herd_turn. */
bool herd_sample(void *state, double *value, struct error *why);
