/* The knee of a miss curve: the size beyond which further blocks save less than before.
 *
 * As in V. Satopaa et al., "Finding a 'Kneedle' in a haystack", 2011, without its smoothing. Draw a
 * straight line from no cache, where every access misses, to the largest size of the curve. The
 * knee is the size whose misses lie furthest below it. It is a corner of the curve's convex hull
 * and does not move when either axis is stretched, but it depends on how far the curve goes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The index of the knee among `count` sizes, in any order; of equally distant sizes the smallest.
 * Returns false if no size lies below the line. */
bool knee_find(const uint32_t *sizes, const uint64_t *misses, uint32_t count, uint64_t accesses,
               uint32_t *index);

/* The same for any curve: the index of the point (x, y) furthest above the line from the first to
 * the last point. `x` ascends or descends. Returns false if no point lies above. */
bool knee_above(const double *x, const double *y, uint32_t count, uint32_t *index);
