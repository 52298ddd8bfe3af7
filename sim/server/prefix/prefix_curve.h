/* The result of prefix_replay() for every size of the tiers below the GPU, in one pass.
 *
 * R. L. Mattson et al., "Evaluation techniques for storage hierarchies", 1970: an LRU tier of c
 * blocks holds the c blocks touched last, so every tier at least as large as a block's depth in the
 * stack of touches finds that block. This needs the same touches in the same order for every size.
 * An ended request has touched all whole units of its full blocks, whichever of them were found:
 * PREFIX_WRITE_FINISH offers them when it ends, PREFIX_WRITE_FILL before, and counts them as used
 * again when it ends. Beginnings are touched last, so depths rise along a prompt. The GPU evicts
 * ends first and holds the same blocks whatever the size of the tiers. Touches of a tier pass to the
 * next one, if that takes all that arrives, so one stack is true for all of them.
 *
 * A tier that is smaller than a request evicts a part of it while it is offered the rest: the curve
 * is true from prefix_curve_least() on. It is a replay's; a server, whose requests overlap, touches
 * blocks in the order of time, and cannot use blocks that are on their way.
 */
#pragma once

#include "server/prefix/prefix_replay.h"

struct prefix_curve;

/* Does the method apply to these tiers? They need LRU, take a block whoever holds it (`least_asked`
 * 1), none takes only what the tier above evicts, and all that is found is loaded. */
bool prefix_curve_applies(const struct prefix_options *options);

/* An empty curve for tiers to which prefix_curve_applies(); `requests` must outlive the calls of
 * prefix_curve_add(). NULL on failure. */
struct prefix_curve *prefix_curve_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why);
void prefix_curve_destroy(struct prefix_curve *curve); /* NULL is fine */

/* Replay the `count` requests `indices` on empty tiers and add the result. */
bool prefix_curve_add(struct prefix_curve *curve, const uint32_t *indices, uint32_t count,
                      struct error *why);

/* The fewest blocks of a tier that the curve is true for. */
uint64_t prefix_curve_least(const struct prefix_curve *curve);

/* The totals with the sizes of the tiers below the GPU of `options`, of which nothing else but
 * load_ns is used. Takes time in proportion to the blocks found. */
struct prefix_totals prefix_curve_read(const struct prefix_curve *curve,
                                       const struct prefix_options *options);

/* The most prompt tokens that a tier of `blocks` below the GPU could find, whatever it keeps: units
 * whose first blocks the GPU has count as whole ones. */
bool prefix_curve_best(const struct prefix_curve *curve, uint64_t blocks, uint64_t *tokens,
                       struct error *why);
