/* What limits a server's times, in one paragraph. */
#ifndef CLI_RUNS_EXPLAIN_TIMES_H
#define CLI_RUNS_EXPLAIN_TIMES_H

#include "run/context.h"
#include "scenario/point.h"

/* Serve the point's requests, and again with each figure of the machine changed (study/sweep/
 * explain.h); print where TTFT and TPOT go, what they hang on, which figures would help most and
 * which to measure first. */
bool explain_times_print(const struct point *point, const struct run_context *runs,
                         struct error *why);

#endif
