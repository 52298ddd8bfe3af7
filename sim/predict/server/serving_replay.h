/* Finds prefixes without a clock, for all servers. */
#pragma once

#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "server/prefix/prefix_replay.h"
#include "server/workload.h"

/* Replay the requests of `point`'s workload through one cache per server. Runs that differ only in
 * the sizes of their lower tiers share one pass, if one pass can give all sizes
 * (server/prefix/prefix_replay.h). What those tiers find has its worth (host_worth.h). */
bool serving_replay(const struct point *point, const struct prefix_options *prefix,
                    const struct requests *requests, struct router *router,
                    const struct run_context *context, struct prefix_totals *totals,
                    struct error *why);
