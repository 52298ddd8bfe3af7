/* Leaving out points that the line between their neighbours says as well.
 *
 * Of all choices of points that keep the first and the last and stray from no point by more than a
 * share of it, the one of fewest points: a shortest path over points, where a step from one to a
 * later one is allowed when the line between them is near enough to all that it passes. Between
 * points both curves are straight, so that their ratio is furthest from 1 at a point: what holds at
 * the points holds everywhere.
 */
#ifndef CALIBRATE_HARNESS_THIN_H
#define CALIBRATE_HARNESS_THIN_H

#include "base/error.h"
#include "hardware/observed.h"

struct thinned {
    uint32_t *kept; /* indices of points, ascending; owned */
    uint32_t count;
    double worst; /* largest distance from a point that was left out, as a share of it */
};

/* The distance that a profile's curves may keep from what was measured. */
#define THIN_SHARE 0.01

bool points_thin(const struct found_point *points, uint32_t count, double share,
                 struct thinned *out, struct error *why);
void thinned_release(struct thinned *thinned);

#endif
