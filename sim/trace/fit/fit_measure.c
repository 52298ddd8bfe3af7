/* The figures of a head, computed alike for a recording and for its twin. */
#include "trace/fit/fit_sample.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>

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

/* ---- demands ---- */

/* The wanted units of each step as bits, `words` words per step. */
static uint64_t *make_sets(const struct fit_sample *sample, uint32_t wanted, size_t words,
                           struct error *why)
{
    uint64_t *sets = array_zeroed(sample->steps * words, sizeof *sets, why);
    for (uint32_t s = 0; sets != NULL && s < sample->steps; s++) {
        for (uint32_t i = 0; i < wanted; i++) {
            uint32_t unit = sample->units[(size_t)s * sample->keep + i];
            sets[s * words + unit / 64] |= (uint64_t)1 << unit % 64;
        }
    }
    return sets;
}

static uint64_t count_both(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t both = 0;
    for (size_t i = 0; i < words; i++) {
        both += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    }
    return both;
}

static bool measure_overlap(const struct fit_sample *sample, uint32_t wanted,
                            struct fit_figures *out, struct error *why)
{
    size_t words = (size_t)sample->context / 64 + 1;
    uint64_t *sets = make_sets(sample, wanted, words, why);
    if (sets == NULL) {
        return false;
    }
    for (uint32_t l = 0; l < out->lags; l++) {
        uint64_t both = 0;
        for (uint32_t s = fit_lags[l]; s < sample->steps; s++) {
            both += count_both(sets + s * words, sets + (s - fit_lags[l]) * words, words);
        }
        out->overlap[l] = (double)both / ((double)wanted * (sample->steps - fit_lags[l]));
    }
    free(sets);
    return true;
}

/* ---- queries ---- */

static int32_t fit_measure_dot(const int8_t *a, const int8_t *b, uint32_t count)
{
    int32_t sum = 0; /* at most 1024 * 128 * 128 */
    for (uint32_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double fit_measure_cosine(const struct fit_sample *sample, uint32_t head, uint32_t step,
                                 uint32_t lag)
{
    const int8_t *a = sample->query + ((size_t)head * sample->steps + step) * sample->head_dim;
    const int8_t *b = a - (size_t)lag * sample->head_dim;
    double squares =
        (double)fit_measure_dot(a, a, sample->head_dim) * fit_measure_dot(b, b, sample->head_dim);
    return squares > 0 ? fit_measure_dot(a, b, sample->head_dim) / sqrt(squares) : 0;
}

/* Mean correlation over steps between the cosines of two query heads. It follows from the variance
 * of the group's mean, which is (1 + (heads - 1) * correlation) / heads of that of one head. */
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
                double value = fit_measure_cosine(sample, q, s, fit_lags[l]);
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

/* The number of steps in which each unit is among the best ANCHOR_RANK. */
static uint32_t *count_best(const struct fit_sample *sample, struct error *why)
{
    uint32_t best = rank_units(sample, ANCHOR_RANK);
    uint32_t *steps = array_zeroed(sample->context, sizeof *steps, why);
    for (uint32_t s = 0; steps != NULL && s < sample->steps; s++) {
        for (uint32_t i = 0; i < best; i++) {
            steps[sample->units[(size_t)s * sample->keep + i]]++;
        }
    }
    return steps;
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

static double octaves_of_mass(uint8_t code)
{
    return -0.1 * code;
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
                fit_measure_add(&anchors[units[from]], octaves_of_mass(codes[from]));
            } else {
                out->chosen[r][octave_of(sample, out, units[from], step)] += each;
            }
        }
        out->threshold[r] += octaves_of_mass(codes[end - 1]) * each;
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
    uint32_t *best = count_best(sample, why);
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
