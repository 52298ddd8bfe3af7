/* The mean of a few draws of a figure, its confidence interval, and the spread of the draws.
 *
 * The interval of the mean is Student's ("The Probable Error of a Mean", Biometrika 6, 1908): the
 * mean of n independent draws lies within t(n - 1) · deviation / √n of the true mean in 95 of 100
 * cases. The interval narrows as draws are added; the range from p5 to p95 does not.
 */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

struct interval {
    double mean, deviation; /* of a draw, from n - 1 */
    double half;            /* half-width of the 95 % interval of the mean */
    double p5, median, p95; /* of draws, linear between neighbours; interval_mean() omits them */
};

/* Mean, deviation and half-width of `count` values (at least 2), `stride` doubles apart. */
struct interval interval_mean(const double *values, size_t stride, uint32_t count);

/* The same with the quantiles. Fails only if memory runs out. */
bool interval_of(const double *values, size_t stride, uint32_t count, struct interval *out,
                 struct error *why);
