/* The figure by which runs are compared when the best one is wanted, such as the batch with the
 * most tokens per second. predict/result/tie.h says when two are too close to call. */
#pragma once

#include "predict/result/result.h"

/* Read the key of a result; NULL for keys of which neither more nor less is better. `option` is what
 * messages name. */
const struct column *best_read(const char *key, const char *option, struct error *why);

/* How good a run is: more is better. NaN if it did not succeed or has no such figure. */
double best_merit(const struct column *column, const struct result *result);
