/* Statistics of samples: quantiles, the confidence interval of the median, outliers.
 *
 * The interval of the median makes no assumption about the distribution: of n samples, the number
 * below the true median is binomial(n, 1/2), so the true median lies between the r-th smallest and
 * the r-th largest sample with probability 1 - 2 P(B < r) (David and Nagaraja, Order Statistics,
 * 7.1). The largest r that keeps the requested probability gives the narrowest interval.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void samples_sort(double *samples, uint32_t count);

/* The quantile of at least one sorted sample, linear between samples: share 0 is the first sample,
 * 1 the last. */
double samples_quantile(const double *sorted, uint32_t count, double share);

/* The interval that contains the true median with probability `confidence` or more. Returns false
 * for too few samples (fewer than 6 for 95 %). */
bool samples_median_interval(const double *sorted, uint32_t count, double confidence, double *low,
                             double *high);

/* How many samples lie three interquartile ranges or more outside the quartiles (Tukey, Exploratory
 * Data Analysis: "far out"). */
uint32_t samples_stray(const double *sorted, uint32_t count);
