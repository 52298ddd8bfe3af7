/* `simulate --explain` for a server: what its GPUs' memory holds, and how many requests fit. */
#ifndef CLI_RUNS_EXPLAIN_SERVER_H
#define CLI_RUNS_EXPLAIN_SERVER_H

#include "run/context.h"
#include "scenario/point.h"

#include <stdio.h>

/* Write the memory of a GPU of `point`'s servers line by line, what limits the requests that run
 * together, and where the time goes. `point` has a workload; `name` is what the paragraph on time
 * calls the run, "" for nothing. `*shown` is the memory that the run before wrote, or NULL: the
 * same is not written again. It is replaced, and the caller frees it. */
bool explain_server_write(const struct point *point, const char *name,
                          const struct run_context *runs, char **shown, FILE *out,
                          struct error *why);

#endif
