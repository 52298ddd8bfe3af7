/* How certain a plan's answer is.
 *
 * The run of each candidate's value is repeated on machines whose every figure is drawn from its
 * range; a server also gets newly drawn arrivals (study/sweep/replication.h). The value stays the
 * same. The number of draws that meet the targets shows how much depends on uncertain figures.
 */
#ifndef STUDY_PLAN_PLANNING_DRAWS_H
#define STUDY_PLAN_PLANNING_DRAWS_H

#include "study/plan/planning.h"

/* Draw for each value that was found; if none was found, for the value nearest to the targets. The
 * draws are added to the quests' results. */
bool planning_draw(struct planning *planning, const struct planning_options *options,
                   bool *interrupted, struct error *why);

#endif
