/* QSAC's threshold, for callers that report how hard a head is to reuse. */
#pragma once

#include <stdbool.h>

/* The least cosine at which a head of `importance` (0 ... 1) reuses its set; -INFINITY if it always
 * does. `values` are the policy's parameters. */
double qsac_threshold(const double *values, double importance);

/* Does the threshold depend on the importance of the head? */
bool qsac_weighs_heads(const double *values);
