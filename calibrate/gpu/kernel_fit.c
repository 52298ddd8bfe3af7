/* The fit is without constraint over each subset of the three factors; of the subsets whose factors
 * are all 0 or more, the one with the least squares is the answer (C. Lawson and R. Hanson, Solving
 * Least Squares Problems, 1974, chapter 23: it is unconstrained over those that are above 0). */
#include "calibrate/gpu/kernel_fit.h"

#include "core/array.h"
#include "calibrate/measure/statistics.h"

#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>

#define FACTORS 3
#define LEAST_TIMES 4
#define ROUNDING 1.005 /* events count in steps of 0.5 us, and intervals take 200 us or more */

struct factors {
    double of[FACTORS]; /* ns: fixed, of a pair, and of a byte beyond its time at the peak */
    double squares;
};

static double size_of(const struct kernel_time *time, int factor)
{
    const double sizes[FACTORS] = {1, time->pairs, time->bytes};
    return sizes[factor];
}

/* The least squares over the factors of `subset`, a bit each. */
static bool kernel_fit_solve(const struct kernel_time *times, uint32_t count, double peak_byte_ns,
                             unsigned subset, struct factors *out, struct error *why)
{
    size_t columns = (size_t)__builtin_popcount(subset);
    gsl_matrix *sizes = gsl_matrix_alloc(count, columns),
               *spread = gsl_matrix_alloc(columns, columns);
    gsl_vector *rest = gsl_vector_alloc(count), *found = gsl_vector_alloc(columns);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(count, columns);
    bool ok = sizes != NULL && spread != NULL && rest != NULL && found != NULL && work != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        size_t column = 0;
        for (int factor = 0; factor < FACTORS; factor++) {
            if ((subset >> factor & 1) != 0) {
                gsl_matrix_set(sizes, i, column++, size_of(&times[i], factor) / times[i].ns);
            }
        }
        gsl_vector_set(rest, i, 1 - times[i].bytes * peak_byte_ns / times[i].ns);
    }
    *out = (struct factors){.squares = 0};
    ok = ok && gsl_multifit_linear(sizes, rest, found, spread, &out->squares, work) == 0;
    for (int factor = 0, column = 0; ok && factor < FACTORS; factor++) {
        if ((subset >> factor & 1) != 0) {
            out->of[factor] = gsl_vector_get(found, (size_t)column++);
        }
    }
    gsl_multifit_linear_free(work);
    gsl_vector_free(found);
    gsl_vector_free(rest);
    gsl_matrix_free(spread);
    gsl_matrix_free(sizes);
    return ok || error_set(why, NULL, 0, "no least squares of %u times", count);
}

static bool is_negative(const struct factors *factors)
{
    return factors->of[0] < 0 || factors->of[1] < 0 || factors->of[2] < 0;
}

static bool find_factors(const struct kernel_time *times, uint32_t count, double peak_byte_ns,
                         struct factors *best, struct error *why)
{
    *best = (struct factors){.squares = INFINITY};
    for (unsigned subset = 1; subset < 1U << FACTORS; subset++) {
        struct factors found;
        if (!kernel_fit_solve(times, count, peak_byte_ns, subset, &found, why)) {
            return false;
        }
        if (!is_negative(&found) && found.squares < best->squares) {
            *best = found;
        }
    }
    return true;
}

static bool kernel_fit_sum_up(const struct kernel_time *times, struct kernel_fit *fit,
                              struct error *why)
{
    double *ratios = array_zeroed(fit->count, 2 * sizeof *ratios, why);
    if (ratios == NULL) {
        return false;
    }
    double *errors = ratios + fit->count;
    for (uint32_t i = 0; i < fit->count; i++) {
        double fitted =
            fit->fixed_ns + fit->pair_ns * times[i].pairs + fit->bytes_ns * times[i].bytes;
        ratios[i] = times[i].ns / fitted;
        errors[i] = fabs(fitted / times[i].ns - 1);
    }
    samples_sort(ratios, fit->count);
    samples_sort(errors, fit->count);
    fit->low = samples_quantile(ratios, fit->count, 0.1);
    fit->high = samples_quantile(ratios, fit->count, 0.9);
    fit->median = samples_quantile(errors, fit->count, 0.5);
    fit->worst = errors[fit->count - 1];
    free(ratios);
    return true;
}

static bool check_rates(const struct kernel_time *times, uint32_t count, double peak,
                        struct error *why)
{
    for (uint32_t i = 0; peak > 0 && i < count; i++) {
        double rate = times[i].bytes * 1e9 / times[i].ns;
        char found[32], most[32];
        if (rate > peak * ROUNDING) {
            return error_set(why, NULL, 0, "a kernel reads HBM at %s, above the peak of %s",
                             units_format(rate, UNIT_BYTES_PER_S, found, sizeof found),
                             units_format(peak, UNIT_BYTES_PER_S, most, sizeof most));
        }
    }
    return true;
}

bool kernel_fit_times(const struct kernel_time *times, uint32_t count, double peak,
                      struct kernel_fit *out, struct error *why)
{
    double peak_byte_ns = peak > 0 ? 1e9 / peak : 0;
    struct factors factors;
    if (count < LEAST_TIMES) {
        return error_set(why, NULL, 0, "%u times are too few for a fit", count);
    }
    if (!check_rates(times, count, peak, why) ||
        !find_factors(times, count, peak_byte_ns, &factors, why)) {
        return false;
    }
    double bytes_ns = peak_byte_ns + factors.of[2];
    if (!(bytes_ns > 0)) {
        return error_set(why, NULL, 0, "times of kernels do not grow with their bytes");
    }
    *out = (struct kernel_fit){.fixed_ns = factors.of[0],
                               .pair_ns = factors.of[1],
                               .bytes_ns = bytes_ns,
                               .share = peak_byte_ns / bytes_ns,
                               .count = count};
    return kernel_fit_sum_up(times, out, why);
}

bool kernel_fit_state(const struct kernel_fit *fit, const char *name, double value, bool inverse,
                      const char *note, struct findings *findings, struct error *why)
{
    const struct found_point point = {
        .median = value,
        .p10 = value * (inverse ? 1 / fit->high : fit->low),
        .p90 = value * (inverse ? 1 / fit->low : fit->high),
        .samples = fit->count,
        .precise = true,
        .drift = 1,
    };
    struct finding *finding = findings_add(findings, name, "", UNIT_COUNT, why);
    return finding != NULL && finding_put(finding, &point, why) &&
           findings_note(findings, name, note, why);
}
