/* `simulate --explain` for a server: what its GPUs' memory holds, and how many requests fit. */
#ifndef CLI_RUNS_EXPLAIN_SERVER_H
#define CLI_RUNS_EXPLAIN_SERVER_H

#include "run/context.h"
#include "scenario/point.h"

/* Print the memory of a GPU of `point`'s servers line by line, and what limits the requests that
 * run together. `point` has a workload. */
bool explain_server_print(const struct point *point, const struct run_context *runs,
                          struct error *why);

#endif
