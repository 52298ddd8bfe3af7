/* Which heads stay in HBM, and what importance each has. */
#ifndef DECODE_PLAN_RESIDENT_H
#define DECODE_PLAN_RESIDENT_H

#include "decode/plan/memory.h"
#include "decode/plan/plan.h"

/* Fill the importance of every head of `plan` (traces/FORMAT.md's mapping gives each its source
 * head). The model's own table where the trace was recorded from it, or where there is no cosine to
 * pair by; otherwise importances sorted descending are laid over heads sorted by the cosine of
 * their source head, ascending: the cautious pairing, in which the heads that matter most reuse
 * least. 1 without a table. */
bool resident_importance(const struct setup *setup, const double *head_cosine, struct plan *plan,
                         struct error *why);

/* Decide `offloaded` of every head. By difficulty (CLO): all heads of layer 0, which nothing
 * prefetches for, and in each other layer max(#{D > 0} − N_p, 0) heads, the hardest first, as many
 * as `plan->hbm_limit` holds at `plan->batch`. D = τ − (ŝ − ε). Without cosines, layer 0 only. */
bool resident_choose(const struct setup *setup, const double *head_cosine, struct plan *plan,
                     struct trust *trust, struct error *why);

/* N_p: selections of one KV head (of all sequences of `plan`) that cross the link during a layer's
 * compute; at most all KV heads. */
uint32_t resident_prefetchable(const struct setup *setup, const struct plan *plan,
                               struct trust *trust);

/* Heads over all layers that leave HBM when as few as possible stay: what the largest batch is
 * reckoned with. */
uint64_t resident_most_offloaded(const struct setup *setup);

#endif
