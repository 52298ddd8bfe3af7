/* Where an error band puts a figure.
 *
 * A run's error band says how far published rates of systems of its class lie from predicted ones
 * (decode/error_band.h). A band of -20 … +25 % puts the rate between 0.8 and 1.25 times the
 * prediction, and so a time or a cost between 1/1.25 and 1/0.8 of it. A server's TTFT, TPOT and
 * tokens a second have bands of their own, of means and medians.
 */
#pragma once

#include "predict/result/result.h"

/* The band of a figure of this run, as shares of the rate; NULL: the figure is not a time, a rate
 * or a cost of tokens, or no band stands. It belongs to the result. */
const double *band_of(const struct result *result, const struct column *column);

/* The ends between which `band` puts a figure of that column, in the unit of `value`. */
void band_ends(const struct column *column, const double band[2], double value, double *least,
               double *most);
