/* Thinning: leaves out points of a curve that the line between their neighbours gives as well.
 *
 * The first and the last point stay, no point may be off by more than a share of its value, and
 * fewest points remain. This is a shortest path over the points: a step from one point to a later
 * one is allowed if the line between them is near enough to all points that it passes. Both curves
 * are straight between points, so that their ratio is furthest from 1 at a point; a bound that
 * holds at the points therefore holds everywhere.
 */
#pragma once

#include "core/error.h"
#include "calibrate/measure/finding.h"

struct thinned {
    uint32_t *kept; /* indices of points, ascending; owned */
    uint32_t count;
    double worst; /* largest distance from a point that was left out, as a share of its value */
};

/* The largest distance of a profile's curve from a measured point, as a share. */
#define THIN_SHARE 0.01

bool points_thin(const struct found_point *points, uint32_t count, double share,
                 struct thinned *out, struct error *why);
void thinned_release(struct thinned *thinned);
