/* A plan, or a Pareto front, on its way out: as tables, as JSON, into the database. */
#ifndef CLI_PLAN_PLAN_REPORT_H
#define CLI_PLAN_PLAN_REPORT_H

#include "study/plan/planning.h"
#include "study/plan/tradeoff.h"

#include <stdio.h>

/* For people: a row a candidate, who wins and how sure that is, or what stands in the way. */
bool plan_report(const struct planning *planning, const struct targets *targets, FILE *out,
                 struct error *why);

/* A part of it: a line a candidate on its replications, how many draws meet the targets there, and
 * how far the figures that targets judge lie apart. */
bool plan_draws_print(const struct planning *planning, const struct targets *targets, FILE *out,
                      struct error *why);

/* For people: what is worth choosing among. */
bool tradeoff_report(const struct tradeoff *tradeoff, const struct targets *targets, FILE *out,
                     struct error *why);

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

/* Into the tables of plans.def and plan_points.def, so that a report can say what was asked and
 * what came of it. The name is a hash of the question, of the runs that answer it, which files
 * decide that the scenario names, and of what was drawn of them: the same plan made again takes the
 * place of the first. */
bool plan_store(const struct planning *planning, const struct targets *targets, struct store *store,
                struct error *why);

/* A Pareto front under targets into the same tables: a row a candidate, and every run that it was
 * walked over, with what targets judge of it and whether it lies on the front. Without targets
 * there is nothing that a report could miss. */
bool tradeoff_store(const struct tradeoff *tradeoff, const struct targets *targets,
                    struct store *store, struct error *why);

#endif
