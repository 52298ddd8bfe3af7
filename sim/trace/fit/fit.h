/* Fitting a trace profile (trace/generate/profile.h) to a recording.
 *
 * What can be solved for is: how often units of each octave of distance are among the
 * best 1.25, 2.5, 5, 10 and 20 % of the context gives their level and spread (a normal quantile for
 * each, a line through them); how much of a demand recurs after 1, 2, 4 ... steps gives the
 * correlation of scores, and correlations give shares that last (least squares without negative
 * shares). The cosines of queries do the same. Anchors are units that are among the best 1.25 % at
 * four steps in five.
 *
 * What cannot is corrected: a twin of the recording is generated, measured by the same code, and
 * the targets are moved by what the twin missed, a few rounds. So what is left in a report is what
 * the model cannot show, or chance.
 *
 * Only the first sequence and at most FIT_MOST_STEPS steps are read; a layer of them is in memory
 * for each thread.
 */
#ifndef TRACE_FIT_FIT_H
#define TRACE_FIT_FIT_H

#include "trace/format/trace.h"
#include "trace/generate/profile.h"

enum { FIT_LEAST_STEPS = 64, FIT_MOST_STEPS = 1024 };

/* Fit all heads of `recording` for demands of `share` of the context, layers in parallel (0: on as
 * many threads as there are processors); the result is the same for any number. Fails on a
 * recording of fewer than FIT_LEAST_STEPS steps, without queries, of units that are not single
 * tokens, or with rows that keep less than `share`. The caller releases the profile. */
bool trace_fit(const struct trace *recording, double share, uint32_t threads,
               struct trace_profile *profile, struct error *why);

#endif
