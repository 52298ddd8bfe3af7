/* Solves for the parameters of a head in closed form. Internal to this folder. */
#pragma once

#include "trace/fit/fit_sample.h"

/* Level, spread, slope and anchors, from how often units of each octave are chosen. */
void fit_solve_levels(const struct fit_levels *levels, uint32_t ranks,
                      struct trace_profile_head *head);

/* Shares of `score` for which a demand of `wanted` units has these overlaps, under head's
 * levels. */
void fit_solve_score(const struct fit_levels *levels, const double *overlap, uint32_t lags,
                     uint32_t wanted, struct trace_profile_head *head);

/* The shares of parts whose correlation is nearest to `target` at the first `lags` of fit_lags. */
void fit_solve_shares(const double *target, uint32_t lags, double shares[PROFILE_PARTS]);
