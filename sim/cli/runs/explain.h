/* `simulate --explain`: one paragraph per run. */
#ifndef CLI_RUNS_EXPLAIN_H
#define CLI_RUNS_EXPLAIN_H

#include "run/context.h"
#include "scenario/scenario.h"

/* Explain every point of the scenario, which has no workload. */
bool explain_print(const struct scenario *scenario, const struct run_context *runs,
                   struct error *why);

#endif
