/* The share of the attention mass that a system attends to, over all its heads. */
#pragma once

#include "decode/plan/memory_plan.h"
#include "decode/replay/replay.h"
#include "decode/replay/replay_kept.h"
#include "decode/setup.h"

/* Are the masses of the setup's trace recorded, not assumed by a ledger or importer, nor from a profile? */
bool mass_is_measured(const struct setup *setup);

/* Means over layers, KV heads and sequences. Where a set has units that the recording does not
 * keep, the mass lies between a least and a most (trace/demand.h).
 *   offloaded heads             from the ledger
 *   resident heads that select  the mass of a fresh demand, replayed here
 *   other heads                 1: they attend to all that the model would. So do heads of a model
 *                               whose own indexer selects. */
struct mass {
    bool known;         /* false when a trace with measured masses is needed and missing: published
                        traces say which units are wanted, not their masses */
    double *at_step;    /* [steps of the plan] the least by step of the recording; owned */
    double least, most; /* over all steps */
};

/* `ledger` is NULL when nothing is offloaded. The caller calls mass_release() after success. */
bool mass_recall(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 const struct replay_means *means, struct mass *out, struct error *why);
void mass_release(struct mass *mass);

/* How a system's retrieval errs: the parameters of trace/retrieval.h for a setup.
 *
 * A recording with approximate queries says itself what was asked for. Else the errors measured for the
 * recording's own model are used (retrieval_errors.def), or those of the model whose error is the one in the
 * middle. Errors of an index and of a guessed query are independent: their variances add up.
 *
 * Nothing is known to err where masses were not recorded: demands of published profiles are what
 * systems asked for. */

enum retrieval_known {
    RETRIEVAL_EXACT,     /* nothing is selected, or the model's own indexer selects */
    RETRIEVAL_RECORDED,  /* by approximate rows */
    RETRIEVAL_MEASURED,  /* with the recording's model */
    RETRIEVAL_ELSEWHERE, /* with other models */
    RETRIEVAL_PERFECT    /* unknown: its index is assumed to find what heads want */
};

/* Fill `errors` and `asks_recorded` of `replay`, which are zero. */
enum retrieval_known retrieval_error_set(const struct setup *setup, struct replay_plan *replay);
