/* Finds prefixes without a clock, for all servers. */
#pragma once

#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "server/prefix/prefix_replay.h"

/* Replay the workload's requests through one cache per server, with the worth (below) of what is found. */
bool serving_replay(const struct point *point, const struct prefix_options *prefix,
                    const struct requests *requests, const struct router *router,
                    const struct run_context *context, struct prefix_totals *totals,
                    struct error *why);

/* What the tiers below the GPU save a server: the GPU time of the prompt tokens that they find, less
 * the time in which those are loaded.
 *
 * A prompt is computed alone, in chunks of `batched_tokens`, by the clock of steps (step_cost.h); within a
 * chunk time grows evenly. A block is loaded over ways that carry nothing else. So finding blocks a to b in
 * tier k saves compute_ns[b] - compute_ns[a] - (b - a) load_ns[k]; less than 0 where computing is faster.
 * What queues gain by a shorter step, and lose to copies beside it, only a server tells. */

/* Does the server have a tier below the GPU whose worth is known? KV that is offloaded is there anyway. */
bool host_worth_known(const struct point *point);

/* Set compute_ns of `prefix`, for prompts up to the longest of `requests`, load_ns and first_ns.
 * Returns compute_ns, which the caller frees; NULL on failure. */
double *host_worth_find(const struct point *point, struct prefix_options *prefix,
                        const struct requests *requests, const struct run_context *context,
                        struct error *why);
