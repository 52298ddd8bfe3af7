/* What a cache holds before the first recorded step.
 *
 * A recording begins in the middle of a text, where a cache has long been full. If it began empty,
 * a large one would not be full when counting begins, and would miss what it would have held. So it
 * begins with a guess that looks at nothing later: the units that the first step weighs most, as
 * far as the recording knows, and then the latest ones. The policy sees them as one demand, before
 * the first. What the guess had wrong is evicted in the warm-up, as far as that is long enough: an
 * LRU that the warm-up alone fills does not depend on it at all.
 *
 * Of recordings of 1024 steps, 64 steps after 32 of warm-up, an LRU of half the context that begins
 * full hits within .3 points of one that has seen the 480 steps before, and one of 70 % within .8.
 * If they began empty, they would hit up to 1.6 and 3.5 points less. */
#ifndef DECODE_REPLAY_REPLAY_FILL_H
#define DECODE_REPLAY_REPLAY_FILL_H

#include "decode/replay/replay.h"
#include "trace/demand.h"

/* Can caches of the policy be filled? Not if it chooses a set by itself or by queries, or if a
 * block's position decides. */
static inline bool replay_can_fill(const struct policy_kind *policy)
{
    return !policy->needs_queries && !policy->chooses_own && !policy->by_position;
}

static inline bool replay_fills(const struct replay_plan *plan)
{
    return plan->starts_full && replay_can_fill(plan->policy);
}

/* The units outside the window in that order; `units` and `mass` [units of the trace] are its
 * arrays, which the demand points to. */
struct demand replay_fill(const struct demand *first, const struct demand_shape *shape,
                          uint32_t *units, uint8_t *mass);

#endif
