/* Layer by layer: measure the recording, solve, generate a twin, measure it, move the targets, repeat. */
#include "trace/fit/fit.h"

#include "core/array.h"
#include "core/parallel.h"
#include "core/text.h"
#include "trace/fit/fit_locality.h"
#include "trace/fit/fit_solve.h"
#include "trace/generate/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6 };

/* Targets stay within the range of the model. */
#define SCORE_MOST 0.9999
#define COSINE_LEAST 0.01
#define COSINE_MOST 0.999

struct fit {
    const struct trace *recording;
    struct trace_profile *profile;
    double share;
    uint32_t steps;
    uint32_t rounds; /* of correction */
};

/* A head while it is fitted: the figures it should have, and the correlations of scores and queries after
 * each lag from which shares follow. Scores must correlate more than demands overlap; how much more, the
 * first twin shows. */
struct fit_head {
    struct fit_figures shown; /* of the recording */
    double score[FIT_LAGS], query[FIT_LAGS];
    struct trace_profile_head *parameters;
};

static double fit_within(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

static void fit_solve_head(struct fit_head *head)
{
    fit_solve_shares(head->score, head->shown.lags, head->parameters->score);
    fit_solve_shares(head->query, head->shown.lags, head->parameters->query);
}

/* First guesses are typical values of fitted heads. */
static bool start_head(const struct fit_sample *sample, const struct trace_profile *profile,
                       uint32_t wanted, struct fit_head *head, struct error *why)
{
    struct fit_levels levels;
    if (!fit_measure(sample, wanted, &head->shown, why) ||
        !fit_measure_levels(sample, profile->first_octave, &levels, why)) {
        return false;
    }
    memcpy(head->score, head->shown.overlap, sizeof head->score);
    memcpy(head->query, head->shown.cosine, sizeof head->query);
    struct trace_profile_head *parameters = head->parameters;
    fit_solve_levels(&levels, head->shown.ranks, parameters);
    parameters->sinks = sample->sinks;
    parameters->recent = sample->recent;
    parameters->born = sample->born;
    double window = sample->sinks + sample->recent + sample->born;
    if (window > 0.999) { /* masses are rounded: something must be left */
        parameters->sinks *= 0.999 / window;
        parameters->recent *= 0.999 / window;
        parameters->born *= 0.999 / window;
    }
    parameters->decay = 0.95;
    parameters->novelty = 0.3;
    parameters->own = fit_within(0.7 * (1 - head->shown.agreement), 0, 0.9);
    fit_solve_head(head);
    return true;
}

/* Cosines vary more from step to step if fewer directions matter, and at lag 1 if steps bring news
 * more unevenly. Query heads agree less if more of their motion is their own. */
static void correct_head(const struct fit_figures *twin, double gain, struct fit_head *head)
{
    const struct fit_figures *shown = &head->shown;
    struct trace_profile_head *parameters = head->parameters;
    for (uint32_t l = 0; l < shown->lags; l++) {
        head->score[l] += gain * (shown->overlap[l] - twin->overlap[l]);
        head->score[l] = fit_within(head->score[l], 0, l > 0 ? head->score[l - 1] : SCORE_MOST);
        head->query[l] += gain * (shown->cosine[l] - twin->cosine[l]);
        head->query[l] = fit_within(head->query[l], COSINE_LEAST, COSINE_MOST);
    }
    if (shown->cosine_spread[0] > 0 && twin->cosine_spread[0] > 0) {
        double ratio = shown->cosine_spread[0] / twin->cosine_spread[0];
        parameters->novelty = fit_within(parameters->novelty * ratio, 0.05, 0.8);
    }
    if (shown->cosine_spread[1] > 0 && twin->cosine_spread[1] > 0) {
        double ratio = shown->cosine_spread[1] / twin->cosine_spread[1];
        parameters->decay = fit_within(1 - (1 - parameters->decay) * ratio, 0.6, 0.999);
    }
    double apart = twin->agreement - shown->agreement;
    parameters->own = fit_within(parameters->own + 0.5 * apart, 0, 0.9);
    fit_solve_head(head);
}

static bool correct_layer(const struct fit *fit, struct trace_profile *profile, uint32_t round,
                          struct fit_sample *samples, struct fit_head *heads, uint32_t wanted,
                          struct error *why)
{
    const struct trace_header *header = trace_header(fit->recording);
    struct trace_geometry geometry = trace_geometry_of(header);
    geometry.layers = 1;
    geometry.keep = (double)wanted / header->context;
    geometry.steps = fit->steps;
    geometry.seed = round;
    struct trace *twin = trace_open_generated(profile, "twin", &geometry, why);
    bool ok = twin != NULL && fit_samples_load(twin, 0, fit->steps, samples, why);
    for (uint32_t number = 0; ok && number < header->kv_heads; number++) {
        struct fit_figures shown;
        ok = fit_measure(&samples[number], wanted, &shown, why);
        if (ok) {
            correct_head(&shown, round < 3 ? 1 : 0.5, &heads[number]);
        }
    }
    fit_samples_release(samples, header->kv_heads);
    trace_close(twin);
    return ok;
}

static bool fit_layer(uint32_t layer, uint32_t thread, void *context, struct error *why)
{
    const struct fit *fit = context;
    const struct trace_header *header = trace_header(fit->recording);
    uint32_t wanted = (uint32_t)lround(fit->share * header->context);
    struct trace_profile profile = *fit->profile; /* of this layer alone */
    (void)thread;
    profile.layers = 1;
    profile.heads += (size_t)layer * header->kv_heads;
    struct fit_sample *samples = array_zeroed(header->kv_heads, sizeof *samples, why);
    struct fit_head *heads =
        samples != NULL ? array_zeroed(header->kv_heads, sizeof *heads, why) : NULL;
    bool ok = heads != NULL && fit_samples_load(fit->recording, layer, fit->steps, samples, why);
    for (uint32_t number = 0; ok && number < header->kv_heads; number++) {
        heads[number].parameters = &profile.heads[number];
        ok = start_head(&samples[number], &profile, wanted, &heads[number], why);
    }
    if (samples != NULL) {
        fit_samples_release(samples, header->kv_heads);
    }
    for (uint32_t round = 0; ok && round < fit->rounds; round++) {
        ok = correct_layer(fit, &profile, round, samples, heads, wanted, why);
    }
    free(samples);
    free(heads);
    return ok;
}

static bool check_recording(const struct trace *recording, double share, struct error *why)
{
    const struct trace_header *header = trace_header(recording);
    const char *path = trace_path(recording);
    if (header->unit_kind != TRACE_POSITIONS || header->unit_tokens != 1) {
        return error_set(why, path, 0, "only a recording of single tokens can be fitted");
    }
    if (!header->has_queries) {
        return error_set(why, path, 0, "a recording without queries cannot be fitted");
    }
    if (header->steps < FIT_LEAST_STEPS) {
        error_set(why, path, 0, "%u steps are too few to fit", header->steps);
        return error_expect(why, "at least %d", FIT_LEAST_STEPS);
    }
    double wanted = round(share * header->context);
    uint32_t window = header->sinks + header->recent;
    if (!(share > 0 && wanted >= 1 && wanted <= header->keep &&
          wanted + window < header->context)) {
        error_set(why, path, 0, "demands want %g %% of the context, but rows keep %g %%",
                  100 * share, 100.0 * header->keep / header->context);
        return error_expect(why, "a share of at least one unit, at most what rows keep");
    }
    return true;
}

bool trace_fit(const struct trace *recording, double share, uint32_t threads,
               struct trace_profile *profile, struct error *why)
{
    const struct trace_header *header = trace_header(recording);
    if (!check_recording(recording, share, why)) {
        return false;
    }
    struct fit fit = {
        .recording = recording,
        .profile = profile,
        .share = share,
        .steps = header->steps < FIT_MOST_STEPS ? header->steps : FIT_MOST_STEPS,
    };
    uint32_t nearest =
        31 - (uint32_t)__builtin_clz(header->recent + 1); /* that a demand can have */
    *profile = (struct trace_profile){
        .layers = header->layers,
        .kv_heads = header->kv_heads,
        .query_heads = header->query_heads,
        .head_dim = header->head_dim,
        .context = header->context,
        .sinks = header->sinks,
        .recent = header->recent,
        .first_octave = nearest < 16 ? nearest : 16,
        .basis = BASIS_MEASURED,
    };
    struct trace_source source; /* "SmolLM2-135M-Instruct, policy.txt.gz, 384 steps at ..." */
    trace_source_read(header, &source);
    text_copy(profile->model, sizeof profile->model, source.model);
    snprintf(profile->source, sizeof profile->source, "%.100s, %.200s, %u steps at %u tokens",
             source.model[0] != '\0' ? source.model : "unknown model",
             source.text[0] != '\0' ? source.text : "unknown text", fit.steps, header->context);
    profile->heads =
        array_zeroed((size_t)header->layers * header->kv_heads, sizeof *profile->heads, why);
    /* Locality is found for heads as the formulas have them; then heads are corrected by twins that have it. */
    bool ok = profile->heads != NULL &&
              parallel_for(header->layers, threads, fit_layer, &fit, why) &&
              fit_locality_solve(recording, share, threads, profile, why);
    fit.rounds = ROUNDS;
    ok = ok && parallel_for(header->layers, threads, fit_layer, &fit, why);
    if (!ok) {
        trace_profile_release(profile);
    }
    return ok;
}
