/* What prefix_replay() finds at every size of the host tier, in one pass.
 *
 * R. L. Mattson et al., "Evaluation techniques for storage hierarchies", 1970: an LRU tier of c
 * blocks holds the c touched last, so a block is found by every tier at least as large as its depth
 * in the stack of touches. That holds here where a request that ended offers all its full blocks,
 * whatever of them was found (PREFIX_WRITE_FINISH): then every size sees the same touches in the
 * same order. Beginnings are touched last, so that depths rise along a prompt, and the GPU, which
 * evicts ends first, holds the same blocks beside a host of any size.
 */
#ifndef SERVE_PREFIX_CURVE_H
#define SERVE_PREFIX_CURVE_H

#include "serve/prefix_replay.h"

struct prefix_curve;

/* Can the tiers be replayed so? */
bool prefix_curve_applies(const struct prefix_options *options);

/* An empty curve for tiers of which prefix_curve_applies(); `requests` must outlive the calls of
 * prefix_curve_add(). NULL on failure. */
struct prefix_curve *prefix_curve_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why);
void prefix_curve_destroy(struct prefix_curve *curve); /* NULL is fine */

/* Add what the `count` requests `indices` find on tiers that are empty. */
bool prefix_curve_add(struct prefix_curve *curve, const uint32_t *indices, uint32_t count,
                      struct error *why);

/* What all of them find with a host of so many blocks; of `blocks` only what is loaded is said. */
struct prefix_totals prefix_curve_read(const struct prefix_curve *curve, uint64_t host_blocks);

#endif
