/* A plan in a database, so that a report can say what was asked and what came of it: the rows of
 * plans.def and plan_points.def. Its name is a hash of the question, of the runs
 * that answer it, which files decide that the scenario names, and of what was drawn of them: the
 * same plan made again takes the place of the first. */
#ifndef CLI_PLAN_PLAN_ROWS_H
#define CLI_PLAN_PLAN_ROWS_H

#include "study/plan/planning.h"

bool plan_store(const struct planning *planning, const struct targets *targets, struct store *store,
                struct error *why);

#endif
