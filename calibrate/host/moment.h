/* How fast this host is in the moment: the curves that a prediction for it reads, as calibrate
 * measures them, by probes that are sampled beside something else.
 *
 * A machine that others share is half as fast again a minute later. What was measured in the same
 * rounds can be held against each other; what lies apart cannot.
 */
#ifndef CALIBRATE_HOST_MOMENT_H
#define CALIBRATE_HOST_MOMENT_H

#include "calibrate/host/bench.h"

enum { MOMENT_PARTS = 5 };

struct moment {
    struct bench *benches[MOMENT_PARTS]; /* owned */
    uint32_t count;                      /* of probes */
};

/* `units`: of the contexts that managers serve. The caller releases it, on failure too. */
bool moment_init(struct moment *moment, uint32_t units, uint64_t seed, struct findings *findings,
                 struct error *why);
void moment_release(struct moment *moment); /* of a zeroed struct is fine */

/* All its probes, into probes[count]. */
void moment_probes(const struct moment *moment, struct probe *probes);

/* Once they are measured: what follows from them. */
bool moment_finish(struct findings *findings, struct error *why);

#endif
