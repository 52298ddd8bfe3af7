/* `simulate --explain`: one paragraph per run; for a server, a table of its memory as well. */
#ifndef CLI_RUNS_EXPLAIN_H
#define CLI_RUNS_EXPLAIN_H

#include "run/context.h"
#include "scenario/scenario.h"

/* Explain every point of the scenario. */
bool explain_print(const struct scenario *scenario, const struct run_context *runs,
                   struct error *why);

#endif
