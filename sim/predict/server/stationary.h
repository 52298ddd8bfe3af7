/* What a run of a stochastic system tells about its steady state: where the warm-up ends, and how far
 * means and quantiles are known.
 *
 *   warm-up    MSER-5 (K. P. White, "An effective truncation heuristic for bias reduction in simulation
 *              output", Simulation 69, 1997): of a series of batch means, the first d are left out for
 *              which the half-width of the mean of the others is the least. In the second half of a series
 *              the rule says nothing: then the run was too short
 *   mean       batch means: the observations, in order, are divided into batches that are so long that
 *              their means are nearly independent; Student's interval of these (A. M. Law, "Simulation
 *              Modeling and Analysis", 5th ed., 9.5.3)
 *   quantile   sectioning: the quantile of all, with the interval of those of the batches (S. Asmussen and
 *              P. W. Glynn, "Stochastic Simulation", 2007, III.4c)
 *
 * Intervals are of 95 %. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Batches of a mean, and of a quantile, whose batches must be longer. */
enum { STATIONARY_BATCHES = 20, STATIONARY_SECTIONS = 10 };

/* Observations beyond a quantile, of which it is known. */
enum { STATIONARY_BEYOND = 2 * STATIONARY_SECTIONS };

struct estimate {
    double value, half; /* half: of the interval; INFINITY: unknown */
};

/* The number of batch means at the beginning that belong to the warm-up; `count`: there is no end of it. */
uint32_t stationary_warm_up(const double *means, uint32_t count);

/* The interval around `value` of `count` batches' figures. */
struct estimate stationary_interval(double value, const double *batches, uint32_t count);

/* Of `count` observations in order. */
struct estimate stationary_mean(const double *values, size_t count);

/* The same of a quantile. `scratch` has room for them. */
struct estimate stationary_quantile(const double *values, size_t count, double share,
                                    double *scratch);
