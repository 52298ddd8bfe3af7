/* The model of profile.h, inverted: normal quantiles for levels, the correlation of a bivariate
 * normal for overlaps, non-negative least squares for shares. */
#include "trace/fit/fit_solve.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

/* An octave is fitted if it has OCTAVE_UNITS units at a step and two ranks chose a share of it
 * within these limits. */
#define OCTAVE_UNITS 40
#define CHOSEN_LEAST 3e-4
#define SPREAD_LEAST 0.05
#define SPREAD_MOST 6.0
#define SLOPE_MOST 4.0

/* ---- levels ---- */

/* Level and spread of octave `o`: the share of its units above a threshold t is
 * normal((level - t) / spread), a line in t. Weights follow from the error of counting. */
static bool solve_octave(const struct fit_levels *levels, uint32_t ranks, uint32_t o, double *level,
                         double *spread)
{
    double w = 0, wt = 0, wz = 0, wtt = 0, wtz = 0;
    uint32_t used = 0;
    for (uint32_t r = 0; r < ranks && levels->units[o] >= OCTAVE_UNITS; r++) {
        double share = levels->chosen[r][o] / levels->units[o];
        if (share > CHOSEN_LEAST && share < 1 - CHOSEN_LEAST) {
            double t = levels->threshold[r], z = gsl_cdf_ugaussian_Pinv(share);
            double weight = fmin(share, 1 - share);
            w += weight;
            wt += weight * t;
            wz += weight * z;
            wtt += weight * t * t;
            wtz += weight * t * z;
            used++;
        }
    }
    double spare = w * wtt - wt * wt;
    if (used < 2 || !(spare > 0)) {
        return false;
    }
    double steep = -(w * wtz - wt * wz) / spare;
    *spread = fmin(fmax(1 / fmax(steep, 1e-3), SPREAD_LEAST), SPREAD_MOST);
    *level = wz / w * *spread + wt / w;
    return true;
}

/* An octave that cannot be fitted copies the one before it, or else the first fitted one. */
static void fill_gaps(const bool *fitted, uint32_t knots, struct trace_profile_head *head)
{
    uint32_t first = 0;
    while (!fitted[first]) {
        first++;
    }
    for (uint32_t o = 0; o < knots; o++) {
        uint32_t like = o < first ? first : o - 1;
        if (!fitted[o]) {
            head->level[o] = head->level[like];
            head->spread[o] = head->spread[like];
        }
    }
}

static double mean_slope(const struct trace_profile_head *head)
{
    uint32_t last = head->knots - 1, back = last < 2 ? last : 2;
    double fall = back > 0 ? (head->level[last] - head->level[last - back]) / back : 0;
    return fmin(fmax(fall, -SLOPE_MOST), 0);
}

static void solve_anchors(const struct fit_levels *levels, struct trace_profile_head *head)
{
    double units = levels->anchors;
    for (uint32_t o = 0; o < PROFILE_KNOTS; o++) {
        units += levels->units[o];
    }
    head->anchor_share = levels->anchors / units;
    head->anchor_level = levels->anchor_level;
    head->anchor_spread = fmin(levels->anchor_spread, SPREAD_MOST);
    head->anchor_drift = fmin(levels->anchor_drift, SPREAD_MOST);
}

void fit_solve_levels(const struct fit_levels *levels, uint32_t ranks,
                      struct trace_profile_head *head)
{
    bool fitted[PROFILE_KNOTS] = {false};
    head->knots = 0;
    for (uint32_t o = 0; o < PROFILE_KNOTS; o++) {
        fitted[o] = solve_octave(levels, ranks, o, &head->level[o], &head->spread[o]);
        head->knots = fitted[o] ? o + 1 : head->knots;
    }
    if (head->knots == 0) { /* a context too short to tell distances apart: one level */
        head->knots = 1;
        head->level[0] = levels->threshold[0];
        head->spread[0] = 1;
    } else {
        fill_gaps(fitted, head->knots, head);
    }
    head->slope = mean_slope(head);
    solve_anchors(levels, head);
}

/* ---- correlations ---- */

/* Probability that two normal variables of correlation `rho` are both below `z`. Given their common
 * part they are independent; the trapezium rule is exact to 1e-6 here. */
static double both_below(double z, double rho)
{
    const double step = 0.25, most = 6;
    double common = sqrt(rho), rest = sqrt(fmax(1 - rho, 1e-9)), sum = 0;
    for (double g = -most; g <= most; g += step) {
        double p = gsl_cdf_ugaussian_P((z + common * g) / rest);
        sum += p * p * exp(-g * g / 2);
    }
    return sum * step / 2.506628274631000502;
}

/* The overlap of demands of `wanted` units if their scores have correlation `rho`. */
static double overlap_at(const struct fit_levels *levels, const double *quantile, double wanted,
                         double rho)
{
    double both = 0;
    for (uint32_t o = 0; o < PROFILE_KNOTS; o++) {
        if (isfinite(quantile[o])) {
            both += levels->units[o] * both_below(quantile[o], rho);
        }
    }
    return (both + levels->anchors) / wanted;
}

/* Quantile of the threshold in each octave, where the line of its level and spread crosses it. The
 * chosen units add up to the demand. */
static void find_quantiles(const struct fit_levels *levels, const struct trace_profile_head *head,
                           double wanted, double quantile[PROFILE_KNOTS])
{
    double low = -60, high = 20;
    for (int i = 0; i < 50; i++) {
        double threshold = (low + high) / 2, chosen = levels->anchors;
        for (uint32_t o = 0; o < PROFILE_KNOTS; o++) {
            uint32_t knot = o < head->knots ? o : head->knots - 1;
            double level = head->level[knot] + head->slope * (o - knot);
            bool has_units = levels->units[o] > 0;
            quantile[o] = has_units ? (level - threshold) / head->spread[knot] : (double)NAN;
            chosen += has_units ? levels->units[o] * gsl_cdf_ugaussian_P(quantile[o]) : 0;
        }
        *(chosen > wanted ? &low : &high) = threshold;
    }
}

static double correlation_of(const struct fit_levels *levels, const double *quantile, double wanted,
                             double overlap)
{
    double low = 0, high = 0.9999;
    for (int i = 0; i < 24; i++) {
        double rho = (low + high) / 2;
        *(overlap_at(levels, quantile, wanted, rho) > overlap ? &high : &low) = rho;
    }
    return (low + high) / 2;
}

void fit_solve_score(const struct fit_levels *levels, const double *overlap, uint32_t lags,
                     uint32_t wanted, struct trace_profile_head *head)
{
    double quantile[PROFILE_KNOTS], rho[FIT_LAGS];
    find_quantiles(levels, head, wanted, quantile);
    for (uint32_t l = 0; l < lags; l++) {
        rho[l] = correlation_of(levels, quantile, wanted, overlap[l]);
        rho[l] = l > 0 ? fmin(rho[l], rho[l - 1]) : rho[l];
    }
    fit_solve_shares(rho, lags, head->score);
}

/* ---- shares ---- */

/* Correlation of part k after `lag` steps (generate.h). */
static double lasting(uint32_t k, uint32_t lag)
{
    if (profile_lasts[k] == 0) {
        return 1;
    }
    return fmax(1 - (double)lag / profile_lasts[k], 0);
}

/* Coordinate descent; part 0 has no effect at any lag and takes what is left of 1. */
void fit_solve_shares(const double *target, uint32_t lags, double shares[PROFILE_PARTS])
{
    double left[FIT_LAGS], sum = 0;
    memcpy(left, target, lags * sizeof *left);
    memset(shares, 0, PROFILE_PARTS * sizeof *shares);
    for (int sweep = 0; sweep < 2000; sweep++) {
        for (uint32_t k = 1; k < PROFILE_PARTS; k++) {
            double along = 0, squares = 0;
            for (uint32_t l = 0; l < lags; l++) {
                along += lasting(k, fit_lags[l]) * left[l];
                squares += lasting(k, fit_lags[l]) * lasting(k, fit_lags[l]);
            }
            double now = squares > 0 ? fmax(shares[k] + along / squares, 0) : 0;
            for (uint32_t l = 0; l < lags; l++) {
                left[l] -= lasting(k, fit_lags[l]) * (now - shares[k]);
            }
            shares[k] = now;
        }
    }
    for (uint32_t k = 1; k < PROFILE_PARTS; k++) {
        sum += shares[k];
    }
    for (uint32_t k = 1; k < PROFILE_PARTS && sum > 1; k++) {
        shares[k] /= sum;
    }
    shares[0] = fmax(1 - sum, 0);
}
