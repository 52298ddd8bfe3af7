/* Where the highest rate of a server probably lies, for a fraction of the work of a search.
 *
 * A run with all requests at once shows how many a second the server answers at most, and how many
 * it has in work then. Below that, rates are tried with few requests: so many that they arrive for
 * several times as long as one takes. The search itself then begins near the rate that these find
 * (grid_near.h), with the whole workload: no figure of a scout is ever shown.
 *
 * Only for targets that a higher rate is further from, such as times.
 */
#ifndef STUDY_PLAN_PLANNING_SCOUT_H
#define STUDY_PLAN_PLANNING_SCOUT_H

#include "study/plan/planning.h"

/* Scout for the searches of a rate among many, before their first round. If the options
 * allow it and the best of them needs more requests, all candidates get these. */
bool planning_scout(struct planning *planning, const struct scenario *scenario,
                    const struct planning_options *options, bool *interrupted, struct error *why);

#endif
