/* A run of a server: requests in, their times and the server's figures out. */
#pragma once

#include "predict/result/result.h"
#include "predict/decode/context.h"
#include "predict/scenario/point.h"

/* Serve the workload of `point`, which must have one, and write the columns of the setup, of
 * requests, times and trust. The caller releases the result; after a failure there is nothing to
 * release. */
bool serving_run(const struct point *point, const struct run_context *context,
                 struct result *result, struct error *why);

/* The same without the columns of the setup, for one draw of a machine or a seed. */
bool serving_again(const struct point *point, const struct run_context *context,
                   struct result *result, struct error *why);
