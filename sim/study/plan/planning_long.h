/* A search whose made-up workload is long enough for its answer.
 *
 * If requests arrive for less than ten times as long as one takes, the server may not sustain the
 * rate that was found (serving/serving_outcome.h). Of a made-up workload whose number of requests
 * nobody stated there can be more: the search is made again with as many as the answer needs, until
 * that suffices.
 */
#ifndef STUDY_PLAN_PLANNING_LONG_H
#define STUDY_PLAN_PLANNING_LONG_H

#include "study/plan/planning.h"

/* planning_run(); `out->requests` becomes the number of requests if it was raised, else 0. */
bool planning_run_long(const struct scenario *scenario, const struct planning_options *options,
                       struct planning *out, bool *interrupted, struct error *why);

#endif
