/* The share of the attention mass that a system attends to, over all its heads. */
#ifndef DECODE_PLAN_MASS_H
#define DECODE_PLAN_MASS_H

#include "decode/plan/plan.h"
#include "decode/replay/replay.h"

/* Are the attention masses of the setup's trace recorded? An assumed ledger has none, a generated
 * trace derives them from its profile, and an importer assumes masses that its file lacks. */
bool mass_is_measured(const struct setup *setup);

/* The mean mass over steps, layers, KV heads and sequences.
 *   offloaded heads             from `ledger` (NULL when nothing is offloaded)
 *   resident heads that select  the mass of a fresh demand, replayed here
 *   other heads                 1: they attend to everything
 *   known                       out: false when a trace with measured masses is needed and missing;
 *                               published traces say which units are wanted, not their masses */
bool mass_recall(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 uint32_t threads, bool *known, double *recall, struct error *why);

#endif
