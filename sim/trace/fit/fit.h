/* Fitting a trace profile (trace/generate/trace_profile.h) to a recording.
 *
 * Some parameters are solved for (fit_solve.h). The rest is corrected, and so are correlations, which
 * begin as the overlaps of demands and the cosines of queries: a twin of the recording is generated and
 * measured by the same code, and the targets are moved by the twin's error, for a few rounds. The
 * differences that remain in a report are what the model cannot express, or chance.
 *
 * Only the first sequence and at most FIT_MOST_STEPS steps are read. Each thread keeps one layer of
 * them in memory. */
#pragma once

#include "trace/format/trace.h"
#include "trace/generate/trace_profile.h"

enum { FIT_LEAST_STEPS = 64, FIT_MOST_STEPS = 1024 };

/* Fit all heads of `recording` for demands of `share` of the context, for any number of threads. Fails on
 * fewer than FIT_LEAST_STEPS steps, without queries, with units that are not single tokens, or rows that keep
 * less than `share`. The caller releases the profile. */
bool trace_fit(const struct trace *recording, double share, uint32_t threads,
               struct trace_profile *profile, struct error *why);
