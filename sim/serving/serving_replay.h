/* Prefixes found without a clock, of all servers. */
#ifndef SERVING_SERVING_REPLAY_H
#define SERVING_SERVING_REPLAY_H

#include "run/shared.h"
#include "scenario/point.h"
#include "serve/prefix_replay.h"
#include "serve/router.h"

/* Replay the requests of `point`'s workload through a cache a server. Runs that differ in the size
 * of their host tier alone share one pass, where there is one for all sizes
 * (serve/prefix_curve.h). */
bool serving_replay(const struct point *point, const struct prefix_options *prefix,
                    const struct requests *requests, struct router *router, struct shared *shared,
                    struct prefix_totals *totals, struct error *why);

#endif
