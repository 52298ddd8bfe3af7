/* Prefill: a batch of prompts passes through the model once, before the first decode step.
 *
 * It runs layer by layer and micro-batch by micro-batch. A layer's streamed weights cross the link once, a
 * layer ahead. KV or activations, as the plan splits them, cross to the host while later passes compute:
 *
 *   in   |weights 1|       |weights 2|       |
 *   main |pre|index|attend|post|pre|index|attend|post|
 *   out      |.....KV 0.....|      |.....KV 1....|
 *   pool                    |.index 0.|          |.index 1.|     an index on the host
 *
 * An operator's rows are the tokens of the pass: its time is that of its FLOPs at the rate which so many rows
 * reach, or of its bytes. Attention computes all pairs (query, earlier token) and reads K and V once.
 *
 * Prefill ends when the first token is on the host and all KV and indexes are where decode expects them.
 * Chunks save memory (plan/memory.h); operators are not timed one by one, as one on that many rows is equally
 * fast in pieces. What the GPUs send each other is: each chunk has exchanges of its own. */
#pragma once

#include "decode/time/pipeline.h"

struct prefill_time {
    int64_t ns;
    bool exact;         /* as of a timing */
    struct trust trust; /* extrapolated, too, if a sequence, with its output, is longer than the
                           trained context */
};

/* Time the prefill of the prompts (> 0 tokens) of all sequences of the plan; of many equal micro-batches a
 * few are timed (steady.h). `ledger` is NULL when nothing is offloaded, `stop` may be. */
bool prefill_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 const struct stop_flag *stop, struct prefill_time *out, struct error *why);

/* Bytes that leave each GPU for the offloaded heads of a layer, for a sequence of `cohort` (whose context
 * `setup` has) with `prompt` tokens; only those outside the window if the CPU attends to them. */
double prefill_leaving_bytes(const struct setup *setup, const struct plan *plan, uint32_t layer,
                             uint32_t cohort, uint64_t prompt);
