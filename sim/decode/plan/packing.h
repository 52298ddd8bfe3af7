/* Packing: which sequences of a batch pass a layer together.
 *
 * Sequences of one context are alike. So a batch is a count for each context, and micro-batches
 * come in runs with equal counts:
 *
 *     2000 x 5, 3000 x 5, bins of 8192    | 1 x 2000, 2 x 3000 | twice
 *                                         | 2 x 2000, 1 x 3000 | once, with 1 x 2000 left
 *
 * A block has a fixed number of sequences, in the order of their contexts. A balanced micro-batch
 * is a bin with a fixed number of tokens, filled by first fit decreasing: the longest sequence left
 * goes to the first bin with room for it, and a sequence longer than a bin gets a bin to itself.
 *
 * CAPTURE's mini-batches must fit two buffers, of activations and of KV, and should take as long to
 * recompute K and V from the first as to load the second. Here all sequences have the same ratio of
 * both, so a limit on tokens keeps both limits, and every bin is equally well balanced.
 */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

struct cohort; /* sequences of one context (plan.h) */

struct packing {
    uint32_t cohorts;
    uint32_t runs;
    uint32_t *times;     /* [runs] micro-batches of each run, in the order they pass; owned */
    uint32_t *sequences; /* [runs * cohorts] of each cohort in one micro-batch, owned */
    uint32_t count;      /* micro-batches of all runs */
    uint32_t whole;      /* those of the whole batch: more than `count` if some are left out */
};

/* An empty packing of `cohorts` cohorts. Call packing_release() after a failure, too. */
bool packing_init(struct packing *packing, uint32_t cohorts, struct error *why);
void packing_release(struct packing *packing);

/* Pack `batch` [cohorts] into blocks of `most` (> 0) sequences; the last one may be smaller. */
void packing_blocks(struct packing *packing, const struct cohort *batch, uint32_t most);

/* Pack `batch` [cohorts] into bins of `most` tokens. */
void packing_bins(struct packing *packing, const struct cohort *batch, uint64_t most);

/* [cohorts] the sequences of each cohort in micro-batch `index`. */
const uint32_t *packing_of(const struct packing *packing, uint32_t index);
