/* A Pareto front under targets in a database, in the tables of a plan (cli/plan/plan_rows.h): a row a
 * candidate, and every run that it was walked over, with what targets judge of it and whether it
 * lies on the front. Without targets there is nothing that a report could miss. */
#ifndef CLI_PLAN_TRADEOFF_ROWS_H
#define CLI_PLAN_TRADEOFF_ROWS_H

#include "study/plan/tradeoff.h"

bool tradeoff_store(const struct tradeoff *tradeoff, const struct targets *targets,
                    struct store *store, struct error *why);

#endif
