#include "calibrate/measure/statistics.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

static int statistics_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void samples_sort(double *samples, uint32_t count)
{
    qsort(samples, count, sizeof *samples, statistics_compare);
}

double samples_quantile(const double *sorted, uint32_t count, double share)
{
    double at = share * (count - 1);
    uint32_t below = (uint32_t)at;
    uint32_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

bool samples_median_interval(const double *sorted, uint32_t count, double confidence, double *low,
                             double *high)
{
    double tail = (1 - confidence) / 2;
    uint32_t rank = 0; /* r: the interval leaves out r - 1 samples at each end */
    while (rank < count / 2 && gsl_cdf_binomial_P(rank, 0.5, count) <= tail) {
        rank++;
    }
    if (rank == 0) {
        return false;
    }
    *low = sorted[rank - 1];
    *high = sorted[count - rank];
    return true;
}

uint32_t samples_stray(const double *sorted, uint32_t count)
{
    double lower = samples_quantile(sorted, count, 0.25);
    double upper = samples_quantile(sorted, count, 0.75);
    double fence = 3 * (upper - lower);
    uint32_t stray = 0;
    for (uint32_t i = 0; i < count; i++) {
        stray += fence > 0 && (sorted[i] <= lower - fence || sorted[i] >= upper + fence);
    }
    return stray;
}
