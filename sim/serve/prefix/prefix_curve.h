/* The result of prefix_replay() for every size of the host tier, in one pass.
 *
 * R. L. Mattson et al., "Evaluation techniques for storage hierarchies", 1970: an LRU tier of c
 * blocks holds the c blocks touched last, so every tier at least as large as a block's depth in the
 * stack of touches finds that block. This needs the same touches in the same order for every size,
 * which PREFIX_WRITE_FINISH gives: an ended request offers all its full blocks, whichever of them
 * were found. Beginnings are touched last, so depths rise along a prompt. The GPU evicts ends first
 * and holds the same blocks whatever the size of the host.
 */
#ifndef SERVE_PREFIX_CURVE_H
#define SERVE_PREFIX_CURVE_H

#include "serve/prefix/prefix_replay.h"

struct prefix_curve;

/* Does the method apply to these tiers? They need a host with LRU and PREFIX_WRITE_FINISH. */
bool prefix_curve_applies(const struct prefix_options *options);

/* An empty curve for tiers to which prefix_curve_applies(); `requests` must outlive the calls of
 * prefix_curve_add(). NULL on failure. */
struct prefix_curve *prefix_curve_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why);
void prefix_curve_destroy(struct prefix_curve *curve); /* NULL is fine */

/* Replay the `count` requests `indices` on empty tiers and add the result. */
bool prefix_curve_add(struct prefix_curve *curve, const uint32_t *indices, uint32_t count,
                      struct error *why);

/* The totals with a host of `host_blocks` blocks; they have no `saved`. */
struct prefix_totals prefix_curve_read(const struct prefix_curve *curve, uint64_t host_blocks);

#endif
