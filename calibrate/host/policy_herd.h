/* A herd: the caches of many heads, which a manager serves one after the other.
 *
 * Each instance is the cache of one head, with room for three times the tenth of its units that a
 * demand asks for (RetroInfer's sizes). Before each sample the caches of all CPUs are filled with
 * something else, as they are when the other heads and layers were served and their KV was gathered
 * meanwhile.
 *
 * A manager that fetches what is missed has two passes over a demand, and so has a sample:
 *
 *   lookup   holds() of every wanted unit; hits and misses are listed apart
 *   update   the policy's access, as in a replay: every hit touched, every miss admitted; that
 *            looks up once more, for policies do both at once
 *
 * Demands slide over a shuffled list of all units, by as many as are to miss:
 *
 *     list        7 2 9 4 1 8 3 6 5 ...       share that hits: 1 - step / wanted
 *     demand n   [  wanted    ]
 *     demand n+1   [  wanted    ]             what enters was wanted a whole turn ago
 */
#ifndef CALIBRATE_HOST_POLICY_HERD_H
#define CALIBRATE_HOST_POLICY_HERD_H

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
    double *ns;           /* [threads] that each took in a sample */
};

/* Caches of `kind` over `units` units for so many threads, full. The caller releases it, on failure
 * too. `bench` outlives it, and has memory. */
bool herd_init(struct herd *herd, const struct policy_kind *kind, uint32_t units, uint32_t threads,
               struct bench *bench, uint64_t seed, struct error *why);
void herd_release(struct herd *herd); /* of a zeroed struct is fine */

/* A probe. */
struct herd_turn {
    struct herd *herd;
    struct pool *pool;
    bool looks_up; /* else updates */
    double hits;   /* share */
};

/* All threads at once, each with its own instances: the mean of what a unit took them. `state` is a
 * herd_turn. */
bool herd_sample(void *state, double *value, struct error *why);

#endif
