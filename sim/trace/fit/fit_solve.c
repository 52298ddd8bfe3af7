/* The model of profile.h, inverted: normal quantiles for levels, non-negative least squares for shares. */

#include "trace/fit/fit_solve.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#include "core/array.h"
#include "trace/format/format.h"
#include "trace/stats.h"

/* An octave is fitted if it has OCTAVE_UNITS units at a step and two ranks chose a share within limits. */
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
    double t[FIT_RANKS], z[FIT_RANKS], weight[FIT_RANKS], level_at_0, steep, unused[4];
    size_t used = 0;
    for (uint32_t r = 0; r < ranks && levels->units[o] >= OCTAVE_UNITS; r++) {
        double share = levels->chosen[r][o] / levels->units[o];
        if (share > CHOSEN_LEAST && share < 1 - CHOSEN_LEAST) {
            t[used] = levels->threshold[r];
            z[used] = gsl_cdf_ugaussian_Pinv(share);
            weight[used++] = fmin(share, 1 - share);
        }
    }
    if (used < 2 || !(gsl_stats_max(t, 1, used) > gsl_stats_min(t, 1, used))) {
        return false;
    }
    gsl_fit_wlinear(t, 1, weight, 1, z, 1, used, &level_at_0, &steep, &unused[0], &unused[1],
                    &unused[2], &unused[3]);
    double mean = gsl_stats_wmean(weight, 1, t, 1, used);
    *spread = fmin(fmax(-1 / fmin(steep, -1e-3), SPREAD_LEAST), SPREAD_MOST);
    *level = (level_at_0 + steep * mean) * *spread + mean;
    return true;
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
    }
    uint32_t first = 0; /* that is fitted */
    while (first < PROFILE_KNOTS && !fitted[first]) {
        first++;
    }
    /* An octave that cannot be fitted copies the one before it, or else the first fitted one. */
    for (uint32_t o = 0; first < PROFILE_KNOTS && o < head->knots; o++) {
        if (!fitted[o]) {
            head->level[o] = head->level[o < first ? first : o - 1];
            head->spread[o] = head->spread[o < first ? first : o - 1];
        }
    }
    uint32_t last = head->knots - 1, back = last < 2 ? last : 2;
    double fall = back > 0 ? (head->level[last] - head->level[last - back]) / back : 0;
    double units = levels->anchors;
    for (uint32_t o = 0; o < PROFILE_KNOTS; o++) {
        units += levels->units[o];
    }
    head->slope = fmin(fmax(fall, -SLOPE_MOST), 0);
    head->anchor_share = levels->anchors / units;
    head->anchor_level = levels->anchor_level;
    head->anchor_spread = fmin(levels->anchor_spread, SPREAD_MOST);
    head->anchor_drift = fmin(levels->anchor_drift, SPREAD_MOST);
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

/* The figures of a head, computed alike for a recording and for its twin. */

const uint32_t fit_lags[FIT_LAGS] = {1, 2, 4, 8, 16, 32, 64, 128};
const double fit_ranks[FIT_RANKS] = {0.0125, 0.025, 0.05, 0.1, 0.2};

/* Anchors are among the best ANCHOR_RANK of the context in ANCHOR_STEPS of the steps. */
#define ANCHOR_RANK 0.0125
#define ANCHOR_STEPS 0.8

/* Running mean and variance. */
struct moments {
    double count, mean, squares;
};

static void fit_measure_add(struct moments *moments, double value)
{
    double off = value - moments->mean;
    moments->count++;
    moments->mean += off / moments->count;
    moments->squares += off * (value - moments->mean);
}

static double deviation(const struct moments *moments)
{
    return moments->count > 0 ? sqrt(moments->squares / moments->count) : 0;
}

static bool measure_overlap(const struct fit_sample *sample, uint32_t wanted,
                            struct fit_figures *out, struct error *why)
{
    size_t words = (size_t)sample->context / 64 + 1;
    uint64_t *sets = array_zeroed(sample->steps * words, sizeof *sets, why);
    if (sets == NULL) {
        return false;
    }
    for (uint32_t s = 0; s < sample->steps; s++) { /* the wanted units of each step as bits */
        for (uint32_t i = 0; i < wanted; i++) {
            uint32_t unit = sample->units[(size_t)s * sample->keep + i];
            sets[s * words + unit / 64] |= (uint64_t)1 << unit % 64;
        }
    }
    for (uint32_t l = 0; l < out->lags; l++) {
        uint64_t both = 0;
        for (size_t i = fit_lags[l] * words; i < sample->steps * words; i++) {
            both += (uint64_t)__builtin_popcountll(sets[i] & sets[i - fit_lags[l] * words]);
        }
        out->overlap[l] = (double)both / ((double)wanted * (sample->steps - fit_lags[l]));
    }
    free(sets);
    return true;
}

/* ---- queries ---- */

/* Mean correlation of two query heads' cosines: the group's mean varies by (1 + (heads - 1) * it) / heads. */
static double correlation(double of_mean, double of_one, uint32_t heads)
{
    if (heads < 2 || of_one == 0) {
        return 1;
    }
    double ratio = of_mean * of_mean / (of_one * of_one);
    return fmin(fmax((ratio * heads - 1) / (heads - 1), 0), 1);
}

static void measure_cosines(const struct fit_sample *sample, struct fit_figures *out)
{
    for (uint32_t l = 0; l < out->lags; l++) {
        struct moments group = {0};
        double of_one = 0;
        struct moments one[64] = {{0}};
        uint32_t watched = sample->query_heads < 64 ? sample->query_heads : 64;
        for (uint32_t s = fit_lags[l]; s < sample->steps; s++) {
            double sum = 0;
            for (uint32_t q = 0; q < watched; q++) {
                const int8_t *a =
                    sample->query + ((size_t)q * sample->steps + s) * sample->head_dim;
                const int8_t *b = a - (size_t)fit_lags[l] * sample->head_dim;
                double squares =
                    (double)trace_dot(a, a, sample->head_dim) * trace_dot(b, b, sample->head_dim);
                double value = squares > 0 ? trace_dot(a, b, sample->head_dim) / sqrt(squares) : 0;
                fit_measure_add(&one[q], value);
                sum += value;
            }
            fit_measure_add(&group, sum / watched);
        }
        for (uint32_t q = 0; q < watched; q++) {
            of_one += one[q].squares / one[q].count / watched;
        }
        out->cosine[l] = group.mean;
        if (fit_lags[l] == 1) {
            out->cosine_spread[0] = deviation(&group);
            out->agreement = correlation(deviation(&group), sqrt(of_one), watched);
        }
        if (fit_lags[l] == 16) {
            out->cosine_spread[1] = deviation(&group);
        }
    }
}

static void count_shown(const struct fit_sample *sample, uint32_t *lags, uint32_t *ranks)
{
    *lags = *ranks = 0;
    while (*lags < FIT_LAGS && 2 * fit_lags[*lags] <= sample->steps) {
        ++*lags;
    }
    while (*ranks < FIT_RANKS && fit_ranks[*ranks] * sample->context <= sample->keep) {
        ++*ranks;
    }
}

bool fit_measure(const struct fit_sample *sample, uint32_t wanted, struct fit_figures *out,
                 struct error *why)
{
    *out = (struct fit_figures){0};
    count_shown(sample, &out->lags, &out->ranks);
    measure_cosines(sample, out);
    return measure_overlap(sample, wanted, out, why);
}

/* ---- levels ---- */

static uint32_t octave_of(const struct fit_sample *sample, const struct fit_levels *levels,
                          uint32_t unit, uint32_t step)
{
    uint32_t distance = sample->context + step - unit;
    uint32_t octave = 31 - (uint32_t)__builtin_clz(distance);
    octave = octave > levels->first_octave ? octave - levels->first_octave : 0;
    return octave < PROFILE_KNOTS ? octave : PROFILE_KNOTS - 1;
}

static uint32_t rank_units(const struct fit_sample *sample, double rank)
{
    uint32_t units = (uint32_t)(rank * sample->context + 0.5);
    return units < 1 ? 1 : units < sample->keep ? units : sample->keep;
}

/* Level of anchors, their spread around it and in time, from the steps whose rows kept them. */
static void measure_anchors(const struct fit_sample *sample, const struct moments *anchors,
                            struct fit_levels *out)
{
    struct moments between = {0};
    double within = 0;
    for (uint32_t unit = sample->first_unit; unit < sample->end_unit; unit++) {
        if (anchors[unit].count > 0) {
            fit_measure_add(&between, anchors[unit].mean);
            within += anchors[unit].squares / anchors[unit].count;
        }
    }
    out->anchors = between.count;
    if (between.count > 0) {
        out->anchor_level = between.mean;
        out->anchor_spread = deviation(&between);
        out->anchor_drift = sqrt(within / between.count);
    }
}

static void fit_measure_add_step(const struct fit_sample *sample, uint32_t step,
                                 const uint32_t *best, uint32_t ranks, struct moments *anchors,
                                 struct fit_levels *out)
{
    const uint32_t *units = sample->units + (size_t)step * sample->keep;
    const uint8_t *codes = sample->codes + (size_t)step * sample->keep;
    double each = 1.0 / sample->steps;
    uint32_t from = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t end = rank_units(sample, fit_ranks[r]);
        for (; from < end; from++) {
            bool is_anchor = best[units[from]] >= ANCHOR_STEPS * sample->steps;
            if (is_anchor) {
                fit_measure_add(&anchors[units[from]], -0.1 * codes[from]);
            } else {
                out->chosen[r][octave_of(sample, out, units[from], step)] += each;
            }
        }
        out->threshold[r] += -0.1 * codes[end - 1] * each;
    }
    for (uint32_t unit = sample->first_unit; unit < sample->end_unit; unit++) {
        if (best[unit] < ANCHOR_STEPS * sample->steps) {
            out->units[octave_of(sample, out, unit, step)] += each;
        }
    }
}

bool fit_measure_levels(const struct fit_sample *sample, uint32_t first_octave,
                        struct fit_levels *out, struct error *why)
{
    uint32_t lags, ranks;
    *out = (struct fit_levels){.first_octave = first_octave};
    count_shown(sample, &lags, &ranks);
    uint32_t *best = array_zeroed(sample->context, sizeof *best, why);
    uint32_t anchor_rank = rank_units(sample, ANCHOR_RANK);
    for (uint32_t s = 0; best != NULL && s < sample->steps; s++) {
        for (uint32_t i = 0; i < anchor_rank; i++) { /* the steps in which each is among the best */
            best[sample->units[(size_t)s * sample->keep + i]]++;
        }
    }
    struct moments *anchors =
        best != NULL ? array_zeroed(sample->context, sizeof *anchors, why) : NULL;
    if (anchors != NULL) {
        for (uint32_t s = 0; s < sample->steps; s++) {
            fit_measure_add_step(sample, s, best, ranks, anchors, out);
        }
        for (uint32_t r = 1; r < ranks; r++) { /* sum up each rank and all before it */
            for (uint32_t o = 0; o < PROFILE_KNOTS; o++) {
                out->chosen[r][o] += out->chosen[r - 1][o];
            }
        }
        measure_anchors(sample, anchors, out);
    }
    free(best);
    free(anchors);
    return anchors != NULL;
}

/* Loads the heads of a layer: rows sorted best first, queries contiguous for each query head. */

void fit_samples_release(struct fit_sample *samples, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free(samples[i].units);
        free(samples[i].codes);
        free(samples[i].query);
        samples[i] = (struct fit_sample){0};
    }
}

static double mass_of(const uint8_t *codes, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)trace_mass[codes[i]];
    }
    return sum;
}

static bool load_row(const struct trace_header *header, const struct trace_frame *frame,
                     uint32_t number, uint32_t s, struct demand_buffer *buffer,
                     struct fit_sample *sample, struct error *why)
{
    uint32_t step = frame->first_step + s, row = number * frame->steps + s;
    const uint32_t *start = frame->rows.start + row;
    struct demand_shape shape = {
        .wanted = sample->keep, .first_unit = sample->first_unit, .end_unit = sample->end_unit};
    struct demand demand;
    if (!demand_from_frame(header, frame, number, s, &shape, buffer, &demand, why)) {
        return false;
    }
    if (demand.recorded != sample->keep) {
        error_set(why, NULL, 0, "head %u keeps %u units at step %u", number, demand.recorded, step);
        return error_expect(why, "%u, the same number at every step", sample->keep);
    }
    size_t place = (size_t)step * sample->keep;
    memcpy(sample->units + place, demand.units, sample->keep * sizeof *sample->units);
    memcpy(sample->codes + place, demand.mass, sample->keep);
    uint32_t recent = header->units - sample->end_unit;
    sample->sinks += mass_of(frame->rows.mass + start[0], sample->first_unit) / sample->steps;
    sample->recent += mass_of(frame->rows.mass + start[1] - recent, recent) / sample->steps;
    sample->born += (double)frame->born[row] / sample->steps;
    for (uint32_t q = 0; q < sample->query_heads; q++) {
        size_t from = (size_t)(number * sample->query_heads + q) * frame->steps + s;
        memcpy(sample->query + ((size_t)q * sample->steps + step) * header->head_dim,
               frame->query + from * header->head_dim, header->head_dim);
    }
    return true;
}

bool fit_samples_load(const struct trace *trace, uint32_t layer, uint32_t steps,
                      struct fit_sample *samples, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_frame frame = {0};
    struct demand_buffer buffer = {0};
    bool ok = true;
    uint32_t made = 0;
    uint32_t group = header->query_heads / header->kv_heads;
    for (; ok && made < header->kv_heads; made++) {
        struct fit_sample *sample = &samples[made];
        *sample = (struct fit_sample){.steps = steps,
                                      .context = header->context,
                                      .query_heads = group,
                                      .head_dim = header->head_dim};
        trace_window(header, header->sinks, header->recent, &sample->first_unit, &sample->end_unit);
        uint32_t outside = sample->end_unit - sample->first_unit;
        sample->keep = header->keep < outside ? header->keep : outside;
        size_t rows = (size_t)steps * sample->keep;
        ok = (sample->units = array_zeroed(rows, sizeof *sample->units, why)) &&
             (sample->codes = array_zeroed(rows, 1, why)) &&
             (sample->query = array_zeroed((size_t)group * steps, header->head_dim, why));
    }
    for (uint32_t tile = 0; ok && tile * header->steps_per_tile < steps; tile++) {
        ok = trace_read(trace, 0, tile, layer, &frame, why);
        for (uint32_t i = 0; ok && i < header->kv_heads * frame.steps; i++) {
            uint32_t number = i / frame.steps, s = i % frame.steps;
            ok = frame.first_step + s >= steps ||
                 load_row(header, &frame, number, s, &buffer, &samples[number], why) ||
                 frame_blame(&frame, trace_path(trace), 0, why);
        }
    }
    trace_frame_release(&frame);
    demand_buffer_release(&buffer);
    if (!ok) {
        fit_samples_release(samples, made);
    }
    return ok;
}
