/* How far the figures of a machine may lie from its profile.
 *
 * A figure's range is read as three quantiles of one distribution; the figure itself is the median:
 *
 *   measured       p10, median and p90 of its samples, which the harness writes as range;
 *                  beyond them the distribution goes on with the same slope
 *   anything else  least, median and most: nothing lies outside the range
 *
 * Only the quantiles are known. Of all distributions that have them, the one of largest entropy is
 * uniform in each piece (Jaynes, "Information Theory and Statistical Mechanics", Phys. Rev. 106,
 * 1957). It is uniform in the logarithm: a rate and its time are then drawn alike, and nothing
 * falls to 0.
 *
 *   share        1 |           .-- most         log share over quantile: two straight lines,
 *   (log)          |      .--'                  which meet at (0.5, the figure)
 *            least '---'
 *                  0   0.1   0.5   0.9   1
 *
 * One share holds for all points of a curve. A figure without a range is certain.
 */
#pragma once

#include "machine/profile.h"

/* The figure at `quantile` (0 to 1), as a share of the profile's value. A count is rounded to a
 * whole number, at least one. */
double spread_share(const struct curve *curve, enum curve_id id, double quantile);

/* A profile whose figures are those of another, each multiplied by a share. It is a view: it has
 * its own values and points to the other for everything else. Figures that are shares stay at most
 * 1. */
struct scaled_profile {
    struct profile profile;
    double *values; /* of all curves */
};

bool scaled_profile_init(const struct profile *of, const double shares[CURVE_COUNT],
                         struct scaled_profile *out, struct error *why);

/* The same with one figure multiplied by `share`, and all others as they are. */
bool scaled_profile_init_one(const struct profile *of, enum curve_id id, double share,
                             struct scaled_profile *out, struct error *why);

void scaled_profile_release(struct scaled_profile *scaled);
