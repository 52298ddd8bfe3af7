/* How certain it is that a run meets or misses a target.
 *
 * A run's error band says how far published rates of systems of its class lie from predicted ones.
 * A band of -20 … +25 % puts the rate between 0.8 and 1.25 times the prediction, and so a time
 * between 1/1.25 and 1/0.8 of it. If the bound lies in this range, the real system may be on either
 * side of it: the verdict is nearer than the band. A server's TTFT, TPOT and tokens a second have
 * bands of their own, of means and medians.
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
