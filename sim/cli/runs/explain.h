/* `simulate --explain`: one paragraph per run. */
#ifndef CLI_RUNS_EXPLAIN_H
#define CLI_RUNS_EXPLAIN_H

#include "scenario/scenario.h"

/* Explain every point of the scenario, which has no workload. */
bool explain_print(const struct scenario *scenario, uint32_t jobs, struct error *why);

#endif
