/* Which heads stay in HBM, and the importance of each. */
#ifndef DECODE_PLAN_RESIDENT_H
#define DECODE_PLAN_RESIDENT_H

#include "decode/plan/memory.h"
#include "decode/plan/plan.h"

/* Set the importance of every head of `plan`, from the model's table; 1 without a table. If the
 * trace was recorded from another model, how often a head reuses its set does not depend on its
 * importance: nobody has published both. If the most important heads reused least, more of them
 * would stay than CLO's cache of Llama-3-8B holds (0.53, 1.09, 2.62 GiB at 32K to 128K tokens). */
void resident_importance(const struct setup *setup, struct plan *plan);

/* Decide `offloaded` of every head. By difficulty (CLO), these heads stay in HBM: all of layer 0,
 * because nothing prefetches for it, and in each other layer max(#{D > 0} − N_p, 0) heads, as far
 * as HBM has room at `plan->batch`, the hardest of all layers first. D = τ − (ŝ − ε).
 * Without cosines, layer 0 only. */
bool resident_choose(const struct setup *setup, const double *head_cosine, struct plan *plan,
                     struct trust *trust, struct error *why);

/* N_p: KV heads whose selections, for all sequences of `plan`, cross the link while a layer
 * computes; at most all KV heads. */
uint32_t resident_prefetchable(const struct setup *setup, const struct plan *plan,
                               struct trust *trust);

/* Heads, over all layers, that leave HBM when as few as possible stay. The largest batch is
 * computed with this number. */
uint64_t resident_most_offloaded(const struct setup *setup);

#endif
