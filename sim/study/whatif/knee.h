/* The knee of a curve of misses: the size from which on more blocks earn less than they did.
 *
 * As in V. Satopaa et al., "Finding a 'Kneedle' in a haystack", 2011, without its smoothing: of the
 * straight line from no cache, where every access misses, to the largest size of the curve, the
 * knee is the size whose misses lie furthest below. It is a corner of the curve's convex hull, and
 * stays where it is when either axis is stretched. It depends on how far the curve goes.
 */
#ifndef STUDY_WHATIF_KNEE_H
#define STUDY_WHATIF_KNEE_H

#include <stdbool.h>
#include <stdint.h>

/* The index of the knee among `count` sizes, in any order; the smallest of several as far below.
 * False where no size lies below the line. */
bool knee_find(const uint32_t *sizes, const uint64_t *misses, uint32_t count, uint64_t accesses,
               uint32_t *index);

/* The same of any curve: of points (x, y), the index of the one furthest above the line
 * from the first to the last. `x` ascends, or descends. False where none lies above. */
bool knee_above(const double *x, const double *y, uint32_t count, uint32_t *index);

#endif
