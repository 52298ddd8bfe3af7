/* Replications: the spread of a result, given the uncertainty of the machine's figures.
 *
 * A replication is one draw. For every figure of the machine that has a range, a quantile is drawn;
 * the figure then takes the value of its own distribution (machine/profile.h) at that quantile, and
 * the run is timed on that machine. Generated data (traces, arrivals, lots) uses the seed plus the
 * number of the replication; a recorded trace stays as it is, but of several families of recordings
 * (predict/scenario/resolve.h) each draw takes one. The plan stays too: a system plans by the
 * figures of its profile, and memory is not drawn.
 *
 * The quantile is a hash of the seed, the replication and the figure's name, so replication r is the same
 * machine for every system and point. These are common random numbers: two systems then differ by what they
 * do, not by chance (Law, "Simulation Modeling and Analysis", on variance reduction). Figures are drawn
 * independently of each other. Replication 0 is a draw like any other; the run itself has no draws. */
#pragma once

#include "core/error.h"
#include "predict/decode/context.h"
#include "predict/result/result.h"
#include "predict/scenario/point.h"

enum { REPLICATIONS_LEAST = 2, REPLICATIONS_MOST = 100000 };

/* The quantile, in (0, 1), at which a figure of this name is drawn, or "trace". */
double replication_quantile(uint64_t seed, uint32_t replication, const char *name);

/* Hash the ranges that are drawn from, as 16 hex digits. With a run's hash it names a set of draws. */
void replication_ranges(const struct setup *setup, char ranges[17]);

/* The figure that runs are compared by: a step's time, or a server's mean TTFT. NULL: neither. */
const struct column *replication_main(const struct result *result);

/* answer_run(), with its replications in result->draws. A run without a time has none. `context->threads` is
 * the number of draws made at once; `context->shared` needs room for twice as many. Fails when stopped. */
bool replication_run(const struct point *point, uint32_t count, const struct run_context *context,
                     struct result *result, struct error *why);

/* The mean of a few draws of a figure, its confidence interval, and the spread of the draws. The interval of
 * the mean is Student's ("The Probable Error of a Mean", Biometrika 6, 1908): the mean of n independent draws
 * lies within t(n - 1) · deviation / √n of the true mean in 95 of 100 cases. The interval narrows as draws
 * are added; the range from p5 to p95 does not. */

struct interval {
    double mean, deviation; /* of a draw, from n - 1 */
    double half;            /* half-width of the 95 % interval of the mean */
    double p5, median, p95; /* of draws, linear between neighbours; interval_mean() omits them */
};

/* Mean, deviation and half-width of `count` values (at least 2), `stride` doubles apart. */
struct interval interval_mean(const double *values, size_t stride, uint32_t count);

/* The same with the quantiles. Fails only if memory runs out. */
bool interval_of(const double *values, size_t stride, uint32_t count, struct interval *out,
                 struct error *why);
