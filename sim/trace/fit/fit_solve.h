/* One head of a trace in memory, the figures that a fit uses, and the parameters that follow from them in
 * closed form: levels and spreads from how often units of each octave of distance are among the best of
 * the context (a normal quantile for each rank, and a line through them), shares that last from
 * correlations (least squares without negative shares). Anchors are units that are among the best 1.25 %
 * in four steps of five. Internal to this folder. */
#pragma once

#include "trace/format/trace.h"
#include "trace/generate/trace_profile.h"

enum { FIT_LAGS = 8, FIT_RANKS = 5 };

/* Steps: 1, 2, 4 ... 128. A recording has lags of up to half its steps. */
extern const uint32_t fit_lags[FIT_LAGS];

/* Shares of the context: 1.25, 2.5 ... 20 %. A recording has those that its rows keep. */
extern const double fit_ranks[FIT_RANKS];

struct fit_sample {
    uint32_t steps, keep; /* units of each step */
    uint32_t context, first_unit, end_unit;
    uint32_t query_heads, head_dim;
    uint32_t *units;            /* [steps * keep] best first */
    uint8_t *codes;             /* of these units */
    int8_t *query;              /* [query head][step][head_dim] */
    double sinks, recent, born; /* mean mass */
};

struct fit_figures {
    uint32_t lags, ranks; /* that the recording has */
    double overlap[FIT_LAGS];
    double cosine[FIT_LAGS];
    double cosine_spread[2]; /* over steps, of the mean of the group, at lags 1 and 16 */
    double agreement;        /* correlation over steps of the cosines of two query heads, lag 1 */
};

/* How often units of each octave are among the best. Only the recording is measured for this. */
struct fit_levels {
    uint32_t first_octave;
    double units[PROFILE_KNOTS];             /* in the octave, mean over steps; anchors left out */
    double chosen[FIT_RANKS][PROFILE_KNOTS]; /* of these units, those among the best of the rank */
    double threshold[FIT_RANKS];             /* mass at the rank, in octaves */
    double anchors;                          /* units */
    double anchor_level, anchor_spread, anchor_drift;
};

/* Load the rows of all KV heads of `layer` into samples[0 ... kv_heads). A failure leaves nothing. */
bool fit_samples_load(const struct trace *trace, uint32_t layer, uint32_t steps,
                      struct fit_sample *samples, struct error *why);
void fit_samples_release(struct fit_sample *samples, uint32_t count);

bool fit_measure(const struct fit_sample *sample, uint32_t wanted, struct fit_figures *out,
                 struct error *why);
bool fit_measure_levels(const struct fit_sample *sample, uint32_t first_octave,
                        struct fit_levels *out, struct error *why);

/* Level, spread, slope and anchors, from how often units of each octave are chosen. */
void fit_solve_levels(const struct fit_levels *levels, uint32_t ranks,
                      struct trace_profile_head *head);

/* The shares of parts whose correlation is nearest to `target` at the first `lags` of fit_lags. */
void fit_solve_shares(const double *target, uint32_t lags, double shares[PROFILE_PARTS]);
