/* A manager's work on a layer, as one thread does it: all heads' units are looked up, then all
 * heads' caches updated, with the simulator's own policy and a recording's demands (demand.h).
 *
 * The layer is cold: the caches of all CPUs are filled with something else before it is looked up,
 * as the layers in between have done. The update finds what the lookup left there, as in a runtime.
 */
#ifndef CALIBRATE_HOST_MANAGER_H
#define CALIBRATE_HOST_MANAGER_H

#include "calibrate/host/bench.h"
#include "calibrate/host/demand.h"

struct manager {
    struct recording recording;
    const struct policy_kind *kind;
    const struct bench *bench;
    uint32_t turn; /* of layers and steps */
};

/* `bench` outlives it, and has memory. The caller releases it, on failure too. */
bool manager_init(struct manager *manager, const struct policy_kind *kind, uint32_t units,
                  const struct bench *bench, struct error *why);
void manager_release(struct manager *manager); /* of a zeroed struct is fine */

/* Probes: what a unit takes to be looked up, and to be updated. `state` is the manager; each takes
 * its next layer. */
bool manager_sample_lookup(void *state, double *value, struct error *why);
bool manager_sample_update(void *state, double *value, struct error *why);

#endif
