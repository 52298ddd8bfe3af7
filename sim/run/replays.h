/* Replays that the runs of a sweep share.
 *
 * A run that replays as another did takes its ledger. And what a sweep expects of its runs before
 * any of them runs, it knows by families: plans that differ in capacity, batch and heads want the
 * same of the trace. The first run that needs a ledger makes those of its group, which is as much
 * of the family as is worth doing together, in one reading of the trace (replay_run_all()). A
 * ledger is the same however it is made.
 */
#ifndef RUN_REPLAYS_H
#define RUN_REPLAYS_H

#include "decode/plan/plan.h"
#include "run/context.h"
#include "run/shared.h"

/* A replay that a run asks for. */
struct replay_request {
    const struct setup *setup;
    const struct replay_plan *plan;
    double fixed_hit; /* what hits of everything where no trace has to be asked */
};

/* What a sweep expects. */
struct replays;
struct replays *replays_create(struct error *why);
void replays_destroy(struct replays *replays); /* NULL is fine */

/* A run will ask for this. Nothing of it is kept but copies. */
bool replays_expect(struct replays *replays, const struct replay_request *request,
                    struct error *why);

/* What is expected from now on joins no group that is there already: those may have been made. */
void replays_seal(struct replays *replays);

/* Groups there are, each a reading of its trace. */
uint32_t replays_groups(const struct replays *replays);

/* The ledger, made where it is not there yet; NULL where that failed. `*entry` is to be given back
 * with shared_release(). */
const struct ledger *replays_get(const struct run_context *context,
                                 const struct replay_request *request, struct shared_entry **entry,
                                 struct error *why);

#endif
