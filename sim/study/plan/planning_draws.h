/* How sure a plan's answer is: the run of each candidate's value again, on machines whose every
 * figure is drawn from its range, and of a server with arrivals drawn anew (study/sweep/replication.h).
 * The value stays, and how many of the draws meet the targets says how much rests on the figures
 * that are not known.
 */
#ifndef STUDY_PLAN_PLANNING_DRAWS_H
#define STUDY_PLAN_PLANNING_DRAWS_H

#include "study/plan/planning.h"

/* Draw for each value that was found; where none was, for the nearest of all. Into their results.
 */
bool planning_draw(struct planning *planning, const struct planning_options *options,
                   bool *interrupted, struct error *why);

#endif
