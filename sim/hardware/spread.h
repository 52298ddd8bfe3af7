/* How far the figures of a machine may lie from what its profile says.
 *
 * A figure's range is read as three quantiles of one distribution, of which the figure itself is
 * the median:
 *
 *   measured       p10, median and p90 of its samples, which is what the harness writes as range;
 *                  below and above them it goes on as steeply
 *   anything else  least, median and most: the range is all there is
 *
 * Between its quantiles nothing is known, and of all distributions that have these the one of
 * largest entropy is even in each piece (Jaynes, "Information Theory and Statistical Mechanics",
 * Phys. Rev. 106, 1957). Even in the logarithm, that is: a rate and the time that it stands for are
 * then drawn alike, and nothing falls to 0.
 *
 *   share        1 |           .-- most         log share over quantile: two straight lines,
 *   (log)          |      .--'                  which meet at (0.5, the figure)
 *            least '---'
 *                  0   0.1   0.5   0.9   1
 *
 * One share holds for all points of a curve. A figure without a range is certain.
 */
#ifndef HARDWARE_SPREAD_H
#define HARDWARE_SPREAD_H

#include "hardware/profile.h"

/* What the figure is at `quantile`, from 0 to 1, as a share of what the profile says; of a count a
 * whole number of them, at least one. */
double spread_share(const struct curve *curve, enum curve_id id, double quantile);

/* A profile whose figures are those of another, each at a share of it: a view, which has values of
 * its own and points to everything else. What is a share itself goes up to 1. */
struct scaled_profile {
    struct profile profile;
    double *values; /* of all curves */
};

bool scaled_profile_init(const struct profile *of, const double shares[CURVE_COUNT],
                         struct scaled_profile *out, struct error *why);
void scaled_profile_release(struct scaled_profile *scaled);

#endif
