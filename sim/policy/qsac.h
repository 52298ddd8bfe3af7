/* QSAC's threshold, for callers that report how hard a head is to reuse. */
#pragma once

#include <stdbool.h>

/* The least cosine at which a head of `importance` (0 ... 1) reuses its set; -INFINITY if it always
 * does. `values` are the policy's parameters. */
double qsac_threshold(const double *values, double importance);

/* Do the importances of KV heads matter, for the threshold; and those of query heads, for the aggregate? */
bool qsac_weighs_kv_heads(const double *values);
bool qsac_weighs_query_heads(const double *values);
