/* Which notes hold for a run (predict/result/notes.def has their words). */
#pragma once

#include "decode/plan/plan.h"
#include "predict/result/result.h"

/* What the machine lacks of what the setup asks for. The run goes on as an engine would: with
 * products in another type, or beyond one machine. */
void outcome_note_machine(const struct setup *setup, struct result *result);

/* Of a plan that fits: contexts, model, choices that do not pay off, and what hits rest on. */
void outcome_note_plan(const struct setup *setup, const struct plan *plan, struct result *result);

/* Of one that does not: which memory is short. These replace all other notes. */
void outcome_note_short(const struct plan *plan, struct result *result);

/* That the cache had not yet filled; only if a printed hit ratio could change. */
void outcome_note_cold(const struct ledger *ledger, struct result *result);

/* That the trace wants nothing but what stays in HBM anyway. `ledger` may be NULL. */
void outcome_note_window(const struct setup *setup, const struct plan *plan,
                         const struct ledger *ledger, struct result *result);
