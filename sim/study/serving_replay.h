/* Prefixes found without a clock, of all servers. */
#ifndef STUDY_SERVING_REPLAY_H
#define STUDY_SERVING_REPLAY_H

#include "decode/setup.h"
#include "serve/prefix_replay.h"
#include "serve/router.h"
#include "study/shared.h"

/* Replay the requests of `setup`'s workload through a cache a server. Runs that differ in the size
 * of their host tier alone share one pass, where there is one for all sizes
 * (serve/prefix_curve.h). */
bool serving_replay(const struct setup *setup, const struct prefix_options *prefix,
                    const struct requests *requests, struct router *router, struct shared *shared,
                    struct prefix_totals *totals, struct error *why);

#endif
