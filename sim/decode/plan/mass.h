/* How much of the attention mass a system attends to, over all its heads. */
#ifndef DECODE_PLAN_MASS_H
#define DECODE_PLAN_MASS_H

#include "decode/plan/plan.h"
#include "decode/replay/replay.h"

/* Are the masses of the setup's trace recorded? Those of an assumed ledger are none, those of a
 * generated trace follow from its profile, and an importer assumes what its file does not say. */
bool mass_is_measured(const struct setup *setup);

/* The mean over steps, layers, KV heads and sequences: of offloaded heads as their ledger says
 * (NULL when there are none); of resident heads that select, the mass of a fresh demand, replayed
 * here; 1 where everything is attended to. `known` is false when that needs a trace and there is
 * none whose masses were measured: what is published of traces is which units are wanted, not with
 * how much attention. */
bool mass_recall(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 uint32_t threads, bool *known, double *recall, struct error *why);

#endif
