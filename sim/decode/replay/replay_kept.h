/* Replays whose ledgers are kept on disk (core/disk_cache.h): what was replayed once is read back. The key of
 * a ledger is all that its replay reads: the hashes of the trace (trace_hash()) and of the plan, and one of
 * the sources that replay, so that an older program's ledgers are not used. So a ledger does not depend on
 * whether it was kept. Of a recording the trace's hash is that of its frames' checksums, and the frames
 * themselves are not read again: one that was damaged since is answered as it was recorded. `spillway trace
 * stats` reads all frames. */
#pragma once

#include <stdint.h>

#include "core/disk_cache.h"
#include "decode/replay/replay.h"

/* replay_run_many(), unless all ledgers are kept already; what was replayed is kept. */
bool replay_run_kept(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                     const struct replay_means *means, struct ledger *ledgers, struct error *why);

/* XXH64 of a plan: over one trace, plans with equal hashes have equal ledgers. */
uint64_t replay_plan_hash(const struct replay_plan *plan);

/* XXH64 of the fields in which all plans that replay together must be equal (replay_run_many()). */
uint64_t replay_plan_family(const struct replay_plan *plan);
