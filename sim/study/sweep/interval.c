#include "study/sweep/interval.h"

#include "core/array.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>

#include <math.h>
#include <stdlib.h>

/* The quantiles 2.5 % and 97.5 % enclose 95 %. */
static const double upper_quantile = 0.975;

struct interval interval_mean(const double *values, size_t stride, uint32_t count)
{
    struct interval interval = {.mean = gsl_stats_mean(values, stride, count)};
    interval.deviation = gsl_stats_sd_m(values, stride, count, interval.mean);
    interval.half =
        gsl_cdf_tdist_Pinv(upper_quantile, count - 1) * interval.deviation / sqrt(count);
    return interval;
}

bool interval_of(const double *values, size_t stride, uint32_t count, struct interval *out,
                 struct error *why)
{
    double *sorted = array_zeroed(count, sizeof *sorted, why);
    if (sorted == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = values[i * stride];
    }
    gsl_sort(sorted, 1, count);
    *out = interval_mean(values, stride, count);
    out->p5 = gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.05);
    out->median = gsl_stats_median_from_sorted_data(sorted, 1, count);
    out->p95 = gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.95);
    free(sorted);
    return true;
}
