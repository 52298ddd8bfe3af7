/* A server's results with one figure of the machine changed at a time. */
#pragma once

#include "predict/decode/run.h"
#include "predict/scenario/point.h"

/* serving_run(), and the server again with each figure that it reads made smaller and larger by the
 * share `by`, above 0; these results keep their cells alone. The capacity of HBM, which decides the
 * KV pool, is only made larger: a smaller one may leave no room. A server without a clock has no
 * ranges. The caller releases the result and the ranges. */
bool serving_ranges(const struct point *point, double by, const struct run_context *context,
                    struct result *result, struct run_ranges *ranges, struct error *why);
