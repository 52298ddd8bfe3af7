/* Prefill: a batch of prompts passes the model once, before the first decode step.
 *
 * Layer by layer and micro-batch by micro-batch, on the pipeline's resources. A layer's streamed
 * weights cross once, a layer ahead; what a pass leaves for the host, KV or activations as the plan
 * splits them, crosses the other way while later passes compute:
 *
 *   h2d  |weights 1|       |weights 2|       |
 *   main |pre|index|attend|post|pre|index|attend|post|
 *   d2h      |.....KV 0.....|      |.....KV 1....|
 *   pool                    |.index 0.|          |.index 1.|     an index on the host
 *
 * An operator runs on as many rows as tokens: its FLOPs at the rate that so many rows reach, or its
 * bytes. Attention computes the pairs (query, earlier token) and reads K and V once. What an index
 * costs is in index_build.h.
 *
 * The end is the first token on the host, and all KV and indexes where decode expects them. Chunks
 * that a system cuts a pass into for its memory's sake (peak.h) are not timed apart: an operator on
 * so many rows is as fast in pieces.
 */
#ifndef DECODE_TIME_PREFILL_H
#define DECODE_TIME_PREFILL_H

#include "decode/time/pipeline.h"

/* Time the prefill of the prompts (> 0 tokens) of all of the plan's sequences; `ledger` is NULL
 * where nothing is offloaded. `trust` is worsened by what it rests on; a sequence past the trained
 * context is extrapolated. */
bool prefill_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 int64_t *ns, struct trust *trust, struct error *why);

/* What leaves of a layer's offloaded heads, in bytes on each GPU, of a sequence of `cohort` with a
 * prompt of so many tokens: what stands for its KV on the host; of one whose window stays, what
 * lies outside; nothing where the rest is dropped. `setup` is at the cohort's context. */
double prefill_leaving_bytes(const struct setup *setup, const struct plan *plan, uint32_t layer,
                             uint32_t cohort, uint64_t prompt);

#endif
