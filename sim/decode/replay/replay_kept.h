/* Replays whose ledgers are kept on disk (core/disk_cache.h): what was replayed once is read back.
 *
 * The key of a ledger is all that its replay reads: the trace's hash (trace_hash()), every field of
 * the plan, and a hash of the sources that replay, so that an older program's ledgers are not used.
 * So a ledger does not depend on whether it was kept. Of a recording the trace's hash is that of
 * its frames' checksums, and the frames themselves are not read again: one that was damaged since
 * is answered as it was recorded. `spillway trace stats` reads all frames.
 */
#pragma once

#include <stdint.h>

#include "core/disk_cache.h"
#include "decode/replay/replay.h"

/* replay_run_sets(), but only of those plans whose ledgers are not kept yet; what was replayed is
 * kept. */
bool replay_run_sets_kept(const struct replay_set *sets, uint32_t count,
                          const struct replay_means *means, struct error *why);

/* The same for one set: replay_run_all(). */
bool replay_run_kept(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                     const struct replay_means *means, struct ledger *ledgers, struct error *why);

/* trace_head_cosine(), kept in the same way. */
bool replay_cosines_kept(const struct trace *trace, const struct replay_means *means,
                         double *cosines, struct error *why);

/* The key of a plan's ledger, in memory that the caller frees. */
uint8_t *replay_key(const struct trace *trace, const struct replay_plan *plan, size_t *size,
                    struct error *why);

/* All that decides a replay's ledger beside the trace, the policy and the heads, as plain numbers:
 * what the hash of a plan and the key of a kept ledger are made of. */

enum { REPLAY_SHARES = 4, REPLAY_NUMBERS = 24, REPLAY_ERROR_FIELDS = 3 };

struct replay_fields {
    double shares[REPLAY_SHARES];
    uint64_t numbers[REPLAY_NUMBERS];
    double errors[REPLAY_ASKS][REPLAY_ERROR_FIELDS];
};

/* The fields of this plan. Their order is part of the hashes under which runs are stored. */
struct replay_fields replay_fields(const struct replay_plan *plan);
