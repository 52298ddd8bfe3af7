/* A run of a server: requests in, their times and the server's figures out. */
#pragma once

#include "predict/decode/context.h"
#include "predict/decode/run.h"
#include "predict/result/result.h"
#include "predict/scenario/point.h"

/* Serve the workload of `point`, which must have one, and write the columns of the setup, of requests, times
 * and trust. The caller releases the result; after a failure there is nothing to release. */
bool serving_run(const struct point *point, const struct run_context *context,
                 struct result *result, struct error *why);

/* The same without the columns of the setup, for one draw of a machine or a seed. */
bool serving_again(const struct point *point, const struct run_context *context,
                   struct result *result, struct error *why);

/* The server again with each figure that it reads made smaller and larger by the share `by`, above 0, one at a
 * time: with its first requests, or in its steady state, where figures that hardly moved the first have empty
 * results. They lack the columns of the setup. The capacity of HBM, which decides the KV pool, is only made
 * larger: less may leave no room. A server without a clock has no ranges. The caller releases the ranges. */
bool serving_ranges(const struct point *point, double by, const struct run_context *context,
                    struct run_ranges *ranges, struct error *why);
