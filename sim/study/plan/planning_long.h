/* A search whose made-up workload is long enough for its answer (lengthen.h): it is made again with
 * as many requests as the answer needs, until that suffices.
 */
#ifndef STUDY_PLAN_PLANNING_LONG_H
#define STUDY_PLAN_PLANNING_LONG_H

#include "study/plan/planning.h"

/* planning_run(); `out->requests` becomes the number of requests if it was raised, else 0. */
bool planning_run_long(const struct scenario *scenario, const struct planning_options *options,
                       struct planning *out, bool *interrupted, struct error *why);

#endif
