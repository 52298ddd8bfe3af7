/* What a few draws of a figure say: their mean, how surely that is known, and how far they lie
 * apart.
 *
 * The interval of the mean is Student's ("The Probable Error of a Mean", Biometrika 6, 1908): the
 * mean of n independent draws lies within t(n - 1) · deviation / √n of the true one, 95 times in a
 * hundred. It narrows as draws are added; what the middle nine of ten draws span does not.
 */
#ifndef STUDY_SWEEP_INTERVAL_H
#define STUDY_SWEEP_INTERVAL_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct interval {
    double mean, deviation; /* of a draw, from n - 1 */
    double half;            /* the mean is surely this far above and below, at 95 % */
    double p5, median, p95; /* of the draws, linear between neighbours; not of interval_mean() */
};

/* Of `count` values, 2 or more, each `stride` doubles behind the last one. */
struct interval interval_mean(const double *values, size_t stride, uint32_t count);

/* With the quantiles as well. Fails only where memory is out. */
bool interval_of(const double *values, size_t stride, uint32_t count, struct interval *out,
                 struct error *why);

#endif
