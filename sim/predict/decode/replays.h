/* Replays that the runs of a question share. A run takes the ledger of an earlier run with the same replay.
 * In addition, a sweep registers the replays it expects before its runs start. Plans that differ only in
 * policy, capacity, batch and heads want the same of the trace. The first run that needs a ledger makes all
 * those of its group in one reading of the trace (replay_run_many()); a group is as many of these plans as is
 * worth doing together. A ledger is the same however it is made. */
#pragma once

#include "decode/plan/memory_plan.h"
#include "predict/decode/context.h"

/* A replay that a run needs. */
struct replay_request {
    const struct setup *setup;
    const struct replay_plan *plan;
    double fixed_hit; /* hit share of all demands, for setups whose hits need no trace */
};

/* The replays that a sweep expects. */
struct replays;
struct replays *replays_create(struct error *why);
void replays_destroy(struct replays *replays); /* NULL is fine */

/* Register a replay that a run will need. The request is copied. */
bool replays_expect(struct replays *replays, const struct replay_request *request,
                    struct error *why);

/* Close the existing groups, whose ledgers may have been made: later requests open new groups. */
void replays_seal(struct replays *replays);

/* The work of all groups that are not sealed, in units of a meter (decode/replay/replay.h). */
uint64_t replays_work(const struct replays *replays);

/* The ledger, made if it does not exist; NULL on failure. shared_release() gives `*entry` back. */
const struct ledger *replays_get(const struct run_context *context,
                                 const struct replay_request *request, struct shared_entry **entry,
                                 struct error *why);
