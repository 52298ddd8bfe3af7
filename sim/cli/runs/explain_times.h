/* What limits a server's times, in one paragraph. */
#ifndef CLI_RUNS_EXPLAIN_TIMES_H
#define CLI_RUNS_EXPLAIN_TIMES_H

#include "run/context.h"
#include "scenario/point.h"

#include <stdio.h>

/* Serve the point's requests, and again with each figure of the machine changed (study/sweep/
 * explain.h); write where TTFT and TPOT go, what they hang on, which figures would help most and
 * which to measure first, after "NAME: " unless the name is "". */
bool explain_times_write(const struct point *point, const char *name,
                         const struct run_context *runs, FILE *out, struct error *why);

#endif
