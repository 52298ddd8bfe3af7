/* QSAC's threshold, for callers that report how hard a head is to reuse, or that choose eta. */
#pragma once

#include "core/error.h"

#include <stdbool.h>

/* The least cosine at which a head of `importance` (0 ... 1) reuses its set; -INFINITY if it always
 * does. `values` are the policy's parameters. */
double qsac_threshold(const double *values, double importance);

/* Does the threshold depend on the importance of the head? */
bool qsac_weighs_heads(const double *values);

/* The parameters eta and reuse among `values`. Queries of one model turn faster than those of
 * another, so the same eta reuses other shares of the sets. With `reuse` above 0, eta follows from
 * the demands instead: whoever has the trace chooses it (qsac_choose_eta()) before caches are
 * created. */
double qsac_eta(const double *values);
double qsac_reuse(const double *values);

/* The share of sets that caches with these parameters reuse on some trace. */
typedef bool qsac_trial(void *context, const double *values, double *reused, struct error *why);

/* Set eta in `values` such that the share `reuse` of the sets is reused: the best of ten trials of
 * three digits, by bisection, since a larger eta reuses less. */
bool qsac_choose_eta(double *values, qsac_trial *trial, void *context, struct error *why);
