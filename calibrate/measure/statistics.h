/* What samples say: quantiles, and how sure their median is.
 *
 * The interval of the median needs no shape of the distribution: the number of n samples below the
 * true median is binomial(n, 1/2), so that the true median lies between the r-th smallest and the
 * r-th largest sample with probability 1 - 2 P(B < r) (David and Nagaraja, Order Statistics, 7.1).
 * The largest r that keeps the wanted probability gives the narrowest such interval.
 */
#ifndef CALIBRATE_MEASURE_STATISTICS_H
#define CALIBRATE_MEASURE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

void samples_sort(double *samples, uint32_t count);

/* Of sorted samples, at least one. Linear between them: share 0 is the first, 1 the last. */
double samples_quantile(const double *sorted, uint32_t count, double share);

/* Where the true median lies with at least this probability. False: too few samples to say (under
 * 6 for 95 %). */
bool samples_median_interval(const double *sorted, uint32_t count, double confidence, double *low,
                             double *high);

/* Samples three quartile distances or more outside the quartiles (Tukey, Exploratory Data Analysis:
 * "far out"). */
uint32_t samples_stray(const double *sorted, uint32_t count);

#endif
