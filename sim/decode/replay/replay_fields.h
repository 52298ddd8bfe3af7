/* All that decides a replay's ledger beside the trace, the policy and the heads, as plain numbers:
 * what the hash of a plan and the key of a kept ledger are made of. */
#ifndef DECODE_REPLAY_REPLAY_FIELDS_H
#define DECODE_REPLAY_REPLAY_FIELDS_H

#include "decode/replay/replay.h"

#include <stdint.h>

enum { REPLAY_SHARES = 4, REPLAY_NUMBERS = 24, REPLAY_ERROR_FIELDS = 3 };

struct replay_fields {
    double shares[REPLAY_SHARES];
    uint64_t numbers[REPLAY_NUMBERS];
    double errors[REPLAY_ASKS][REPLAY_ERROR_FIELDS];
};

/* The fields of this plan. Their order is part of the hashes under which runs are stored. */
struct replay_fields replay_fields(const struct replay_plan *plan);

#endif
