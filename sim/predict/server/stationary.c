#include "predict/server/stationary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <string.h>

static const double confidence = 0.95;

uint32_t stationary_warm_up(const double *means, uint32_t count)
{
    double sum = 0, squares = 0, least = INFINITY;
    uint32_t best = 0;
    for (uint32_t d = count; d-- > 0;) {
        double kept = (double)(count - d);
        sum += means[d];
        squares += means[d] * means[d];
        double error = fmax(squares - sum * sum / kept, 0) / (kept * kept);
        if (d <= count / 2 && error <= least * (1 + 1e-9)) {
            least = error;
            best = d;
        }
    }
    return 2 * best >= count ? count : best;
}

struct estimate stationary_interval(double value, const double *batches, uint32_t count)
{
    struct estimate out = {.value = value, .half = INFINITY};
    if (count > 1) {
        double deviation = gsl_stats_sd(batches, 1, count);
        out.half = gsl_cdf_tdist_Pinv((1 + confidence) / 2, count - 1) * deviation / sqrt(count);
    }
    return out;
}

/* The first observation of a batch of so many. */
static size_t batch_begin(size_t count, uint32_t batch, uint32_t batches)
{
    return count * batch / batches;
}

struct estimate stationary_mean(const double *values, size_t count)
{
    double batches[STATIONARY_BATCHES];
    if (count < 2 * (size_t)STATIONARY_BATCHES) {
        return (struct estimate){count > 0 ? gsl_stats_mean(values, 1, count) : 0, INFINITY};
    }
    for (uint32_t i = 0; i < STATIONARY_BATCHES; i++) {
        size_t from = batch_begin(count, i, STATIONARY_BATCHES);
        size_t to = batch_begin(count, i + 1, STATIONARY_BATCHES);
        batches[i] = gsl_stats_mean(values + from, 1, to - from);
    }
    return stationary_interval(gsl_stats_mean(values, 1, count), batches, STATIONARY_BATCHES);
}

/* Only the two values around the quantile need be in their places. */
static double quantile_of_part(const double *values, size_t count, double share, double *scratch)
{
    double place = share * (double)(count - 1), around[2];
    size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
    memcpy(scratch, values, count * sizeof *scratch);
    around[0] = gsl_stats_select(scratch, 1, count, below);
    around[1] = gsl_stats_select(scratch, 1, count, above);
    return gsl_stats_quantile_from_sorted_data(around, 1, 2, place - (double)below);
}

struct estimate stationary_quantile(const double *values, size_t count, double share,
                                    double *scratch)
{
    double sections[STATIONARY_SECTIONS];
    /* A section needs a few observations beyond the quantile. */
    if ((1 - share) * (double)count < STATIONARY_BEYOND) {
        return (struct estimate){count > 0 ? quantile_of_part(values, count, share, scratch) : 0,
                                 INFINITY};
    }
    for (uint32_t i = 0; i < STATIONARY_SECTIONS; i++) {
        size_t from = batch_begin(count, i, STATIONARY_SECTIONS);
        size_t to = batch_begin(count, i + 1, STATIONARY_SECTIONS);
        sections[i] = quantile_of_part(values + from, to - from, share, scratch);
    }
    return stationary_interval(quantile_of_part(values, count, share, scratch), sections,
                               STATIONARY_SECTIONS);
}
