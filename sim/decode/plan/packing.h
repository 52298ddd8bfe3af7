/* Packing: which sequences of a batch pass a layer together.
 *
 * Sequences of one context are alike, so a batch is counts by context, and micro-batches come in
 * runs that hold the same counts:
 *
 *     2000 x 5, 3000 x 5, bins of 8192    | 1 x 2000, 2 x 3000 | twice
 *                                         | 2 x 2000, 1 x 3000 | once, with 1 x 2000 left
 *
 * A block holds so many sequences, in the order of their contexts. A balanced micro-batch is a bin
 * of so many tokens, filled first fit decreasing: the longest sequence that is left goes to the
 * first bin that has room for it, and one longer than a bin has one to itself. CAPTURE's
 * mini-batches must fit their buffers of activations and of KV, and should take as long to make K
 * and V of the ones as to load the others; here all sequences keep the host's ratio of both, so
 * that a bin of tokens is within both limits, and whatever is put into it as well balanced as any
 * other.
 */
#ifndef DECODE_PLAN_PACKING_H
#define DECODE_PLAN_PACKING_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct cohort; /* sequences of one context (plan.h) */

struct packing {
    uint32_t cohorts;
    uint32_t runs;
    uint32_t *times;     /* [runs] micro-batches of each, in the order in which they pass; owned */
    uint32_t *sequences; /* [runs * cohorts] of each cohort in one of them, owned */
    uint32_t count;      /* micro-batches of all runs */
};

/* Room for so many cohorts; packing_release() mirrors it, also after a failure. */
bool packing_init(struct packing *packing, uint32_t cohorts, struct error *why);
void packing_release(struct packing *packing);

/* Blocks of `most` (> 0) sequences; the last one may be smaller. */
void packing_blocks(struct packing *packing, const struct cohort *batch, uint32_t most);

/* Bins of `most` tokens. */
void packing_bins(struct packing *packing, const struct cohort *batch, uint64_t most);

/* Sequences of each cohort in micro-batch `index`. */
const uint32_t *packing_of(const struct packing *packing, uint32_t index);

#endif
