/* The speed of this host at the moment: the curves that a prediction for it reads, measured as
 * calibrate does, by probes that are sampled beside other work.
 *
 * A shared machine may be half as fast again a minute later. Figures from the same rounds can be
 * compared with each other; figures from different times cannot.
 */
#pragma once

#include "calibrate/host/bench.h"

enum { MOMENT_PARTS = 5 };

struct moment {
    struct bench *benches[MOMENT_PARTS]; /* owned */
    uint32_t count;                      /* of probes */
};

/* `units`: units of a context that managers serve. The caller releases it, on failure too. */
bool moment_init(struct moment *moment, uint32_t units, uint64_t seed, struct findings *findings,
                 struct error *why);
void moment_release(struct moment *moment); /* accepts a zeroed struct */

/* Copy all its probes to probes[count]. */
void moment_probes(const struct moment *moment, struct probe *probes);

/* After the probes were measured: derive the other figures from them. */
bool moment_finish(struct findings *findings, struct error *why);
