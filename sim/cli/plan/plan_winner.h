/* What a plan prints below its table: how to run the winner, or what keeps the nearest from the
 * targets. */
#ifndef CLI_PLAN_PLAN_WINNER_H
#define CLI_PLAN_PLAN_WINNER_H

#include "study/plan/planning.h"

/* Write the winner's scenario to the file `path` (NULL: print it), and print the command that
 * starts its server, if it has one. With `json` nothing is printed. The plan must have a winner. */
bool plan_winner_print(const struct planning *planning, const char *path, bool json,
                       struct error *why);

/* Print what limits the step of the run that comes nearest, and what would help. Prints nothing if
 * no run has figures. */
bool plan_nearest_explain(const struct planning *planning, struct error *why);

/* Write the files that start the winner's servers into `folder` (deployment.h). */
bool plan_winner_deploy(const struct planning *planning, const char *folder, struct error *why);

#endif
