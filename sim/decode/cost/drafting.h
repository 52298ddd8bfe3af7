/* What it takes to draft: the passes of a method's network, one after the other, which follow the
 * head of the verification before them (decode/draft/draft_method.h).
 *
 * The GPU samples drafts itself, so that no pass waits for the CPU but for `drafts.overhead`. The
 * network's kernels are launched as the model's are.
 */
#pragma once

#include "decode/cost/cost.h"

struct drafting {
    struct kernel compute, exchanges; /* of all passes */
    uint64_t kernels, exchanged;      /* their numbers; 0: nothing is run */
};

/* All passes for `sequences` sequences of the setup's context. */
struct drafting drafting_cost(const struct setup *setup, uint64_t sequences);

/* Bytes in HBM, of one GPU: the network's weights, and its KV of `sequences` sequences. */
uint64_t drafting_weight_bytes(const struct setup *setup);
double drafting_kv_bytes(const struct setup *setup, uint64_t sequences);
