/* A plan for programs. */
#ifndef CLI_PLAN_PLAN_JSON_H
#define CLI_PLAN_PLAN_JSON_H

#include "study/plan/planning.h"
#include "study/plan/tradeoff.h"

#include <stdio.h>

/* One JSON object a candidate on a line of its own:
 *
 *   system hardware   as named
 *   left_out          why it was not considered, or null
 *   error             why it cannot be run, or null
 *   met winner        does it meet all targets; is it the best that does
 *   axis value        key, and the value found, or the nearest, as a scenario says it; null where
 *                     there is nothing to choose
 *   tried of steady   values that were tried, and that there are; do shortfalls shrink steadily
 *                     along the axis, as far as was tried
 *   shortfall         by target, as a share of its bound: of the value; 0 is met, null no figure
 *   before before_shortfall   the value that is liked one step better, and by how much that misses
 *   draws_met         with --replications: how many of the draws meet all targets; or null
 *   scenario          that gives the run
 *   server            command that starts it, of one that meets all targets and exists; or null
 *   run               as 'simulate --json' has it */
bool plan_print_json(const struct planning *planning, const struct targets *targets, FILE *out,
                     struct error *why);

/* The runs of the front, as 'simulate --json' has them, and then a candidate a line that none is
 * of: `system`, `hardware`, `left_out` and `error` as above, and `run`, which is null. */
bool tradeoff_print_json(const struct tradeoff *tradeoff, FILE *out, struct error *why);

#endif
