/* What a host tier saves a server: the GPU time of the prompt tokens that it finds, less the time in
 * which they are loaded.
 *
 * A prompt is computed alone, in chunks of `batched_tokens`, by the clock of steps (step_cost.h);
 * within a chunk time grows evenly. A block is loaded over a link that carries nothing else. So
 * `worth` of b blocks is the time of computing a prompt's first b blocks less that of loading them,
 * and finding blocks a to b on the host saves worth[b] - worth[a]. It is negative where computing is
 * faster. What queues gain by a shorter step, and lose to copies beside it, only a server tells.
 */
#ifndef SERVING_HOST_WORTH_H
#define SERVING_HOST_WORTH_H

#include "run/context.h"
#include "scenario/point.h"
#include "serve/prefix/prefix_cache.h"

/* Does the server have a host tier whose worth is known? KV of a system that offloads is there
 * anyway. */
bool host_worth_known(const struct point *point);

/* The table for blocks of `prefix`, up to the longest prompt of `requests`, in ns. The caller frees
 * it. NULL on failure. */
double *host_worth_create(const struct point *point, const struct prefix_options *prefix,
                          const struct requests *requests, const struct run_context *context,
                          struct error *why);

#endif
