/* How certain it is that a run meets or misses a target.
 *
 * A run's error band puts its figure into a range (result/band.h). If the bound lies in this range,
 * the real system may be on either side of it: the verdict is nearer than the band.
 */
#ifndef STUDY_PLAN_VERDICT_H
#define STUDY_PLAN_VERDICT_H

#include "study/plan/target.h"

/* The band of the figure that a target judges, as shares; NULL if none is known. */
const double *verdict_band(const struct target *target, const struct result *result);

/* The range that the band gives for the figure that a target judges, in the result's stored unit.
 * Returns false if the figure is not a time, a rate or a cost of tokens, or if no band is known. */
bool verdict_range(const struct target *target, const struct result *result, double *least,
                   double *most);

/* Is the bound within that range? */
bool verdict_is_near(const struct target *target, const struct result *result);

#endif
