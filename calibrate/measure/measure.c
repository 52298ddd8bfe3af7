#include "calibrate/measure/measure.h"

#include "core/array.h"
#include "core/random.h"
#include "core/text.h"
#include "calibrate/measure/statistics.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The seconds are most of the 90 seconds and 8 minutes of all groups together; setting up takes the
 * rest. 9 samples are the fewest whose interval of the median leaves out the smallest and the
 * largest sample; with 200 samples the interval is about a fifth as wide as with 9. */
const struct effort effort_quick = {"quick", 1, 9, 40, 0.02, 75};
const struct effort effort_full = {"full", 3, 15, 200, 0.02, 420};

#define CONFIDENCE 0.95

volatile sig_atomic_t measure_interrupted;

double clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The samples of one probe, as taken and sorted. */
struct measure_samples {
    double *taken, *sorted;
    uint32_t count;
    bool precise;
};

struct measure_run {
    const struct probe *probes;
    struct measure_samples *samples;
    uint32_t *order; /* of the probes, in the round */
    uint32_t count;
    const struct effort *effort;
    double end_ns;
};

static void run_release(struct measure_run *run)
{
    for (uint32_t i = 0; run->samples != NULL && i < run->count; i++) {
        free(run->samples[i].taken);
    }
    free(run->samples);
    free(run->order);
}

static bool run_init(struct measure_run *run, struct error *why)
{
    run->samples = array_zeroed(run->count, sizeof *run->samples, why);
    run->order = run->samples == NULL ? NULL : array_zeroed(run->count, sizeof *run->order, why);
    bool ok = run->order != NULL;
    for (uint32_t i = 0; ok && i < run->count; i++) {
        struct measure_samples *samples = &run->samples[i];
        run->order[i] = i;
        samples->taken = array_zeroed((size_t)run->effort->most * 2, sizeof(double), why);
        ok = samples->taken != NULL;
        samples->sorted = ok ? samples->taken + run->effort->most : NULL;
    }
    return ok;
}

bool measure_name_failed(const char *figure, double size, struct error *why)
{
    char found[sizeof why->found];
    int used = snprintf(found, sizeof found, "'%s' at %g: ", figure, size);
    text_copy(found + used, sizeof found - (size_t)used, why->found);
    text_copy(why->found, sizeof why->found, found);
    return false;
}

static bool measure_take(const struct probe *probe, double *value, struct error *why)
{
    *value = NAN;
    if (measure_interrupted != 0) {
        return error_set(why, NULL, 0, "interrupted");
    }
    if (!probe->sample(probe->state, value, why)) {
        return measure_name_failed(probe->figure, probe->size, why);
    }
    return (isfinite(*value) && *value >= 0) ||
           error_set(why, NULL, 0, "a sample of '%s' at %g is %g", probe->figure, probe->size,
                     *value);
}

static void sort_samples(struct measure_samples *samples)
{
    memcpy(samples->sorted, samples->taken, samples->count * sizeof(double));
    samples_sort(samples->sorted, samples->count);
}

static bool measure_is_precise(const struct measure_samples *samples, double precision)
{
    double low, high;
    return samples_median_interval(samples->sorted, samples->count, CONFIDENCE, &low, &high) &&
           (high - low) / 2 <= precision * samples_quantile(samples->sorted, samples->count, 0.5);
}

static bool sample_once(struct measure_run *run, uint32_t index, struct error *why)
{
    struct measure_samples *samples = &run->samples[index];
    if (!measure_take(&run->probes[index], &samples->taken[samples->count], why)) {
        return false;
    }
    samples->count++;
    sort_samples(samples);
    samples->precise =
        samples->count >= run->effort->least && measure_is_precise(samples, run->effort->precision);
    return true;
}

static bool measure_is_done(const struct measure_run *run, uint32_t index)
{
    const struct measure_samples *samples = &run->samples[index];
    bool late = samples->count > 0 && clock_ns() >= run->end_ns;
    return samples->precise || samples->count == run->effort->most || late;
}

static bool measure_warm_up(const struct measure_run *run, struct error *why)
{
    for (uint32_t i = 0; i < run->count; i++) {
        double ignored;
        for (uint32_t n = 0; n < run->effort->warmup && (n == 0 || clock_ns() < run->end_ns); n++) {
            if (!measure_take(&run->probes[i], &ignored, why)) {
                return false;
            }
        }
    }
    return true;
}

/* Rounds over all probes that are not done yet, until all are. */
static bool sample_all(struct measure_run *run, gsl_rng *random, struct error *why)
{
    bool more = run->count > 0;
    while (more) {
        more = false;
        gsl_ran_shuffle(random, run->order, run->count, sizeof *run->order);
        for (uint32_t i = 0; i < run->count; i++) {
            if (!measure_is_done(run, run->order[i])) {
                more = true;
                if (!sample_once(run, run->order[i], why)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static double drift_of(const struct measure_samples *samples)
{
    uint32_t half = samples->count / 2;
    if (half == 0) {
        return 1;
    }
    double *halves = samples->taken; /* last use: they may be sorted in place */
    double *later = halves + samples->count - half;
    samples_sort(halves, half);
    samples_sort(later, half);
    double before = samples_quantile(halves, half, 0.5);
    return before > 0 ? samples_quantile(later, half, 0.5) / before : 1;
}

static bool measure_report(const struct probe *probe, const struct measure_samples *samples,
                           struct findings *findings, struct error *why)
{
    const struct finding *known = findings_get(findings, probe->figure);
    struct finding *finding = findings_add(findings, probe->figure, "", UNIT_COUNT, why);
    if (finding == NULL) {
        return false;
    }
    if (known == NULL && !finding_is_curve(finding)) {
        return error_set(why, NULL, 0, "'%s' is neither a curve nor an observation that was added",
                         probe->figure);
    }
    if (!(samples_quantile(samples->sorted, samples->count, 0.5) > 0)) {
        return error_set(why, NULL, 0, "'%s' at %g is 0, which no machine can have", probe->figure,
                         probe->size);
    }
    const struct found_point point = {
        .size = probe->size,
        .median = samples_quantile(samples->sorted, samples->count, 0.5),
        .p10 = samples_quantile(samples->sorted, samples->count, 0.1),
        .p90 = samples_quantile(samples->sorted, samples->count, 0.9),
        .samples = samples->count,
        .precise = samples->precise,
        .drift = drift_of(samples),
        .stray = samples_stray(samples->sorted, samples->count),
    };
    return finding_put(finding, &point, why);
}

bool measure_probes(const struct probe *probes, uint32_t count, const struct effort *effort,
                    uint64_t seed, struct findings *findings, struct error *why)
{
    struct measure_run run = {.probes = probes,
                              .count = count,
                              .effort = effort,
                              .end_ns = clock_ns() + effort->seconds * 1e9};
    gsl_rng *random = random_stream(seed, "calibrate.order", 0, why);
    bool ok = random != NULL && run_init(&run, why) && measure_warm_up(&run, why) &&
              sample_all(&run, random, why);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = measure_report(&probes[i], &run.samples[i], findings, why);
    }
    run_release(&run);
    gsl_rng_free(random);
    return ok;
}
