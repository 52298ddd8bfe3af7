/* How sure it is that a run meets a target, or misses it.
 *
 * A run's error band says where published rates of systems of its class lay about predicted ones:
 * a band of -7 … +57 % puts the rate between 0.93 and 1.57 times what is predicted, and a time
 * between 1/1.57 and 1/0.93 of it. A bound between these is one that the real system may lie on
 * either side of: the verdict is nearer than the band.
 *
 * A server's times and rates are taken to be as far off as its steps are, and it answers no more
 * requests than come. What waits in a queue is stretched further, so that for it the range is the
 * least there is.
 */
#ifndef STUDY_PLAN_VERDICT_H
#define STUDY_PLAN_VERDICT_H

#include "study/plan/target.h"

/* Where the band puts the figure that a target judges, as the result stores it. False where the
 * figure is no time or rate, nor what its tokens cost; or where no band is known. */
bool verdict_range(const struct target *target, const struct result *result, double *least,
                   double *most);

/* Is the bound within that range? */
bool verdict_is_near(const struct target *target, const struct result *result);

#endif
