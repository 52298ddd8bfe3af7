/* The error bands of a point (decode/error_band.h).
 *
 * Weights and KV must be of 16 bits, and a figure of the band must be of the same machine and as
 * many GPUs. A server must keep all KV in HBM, with an engine's memory and limits, and be alone.
 * What only the result shows, serving/answer.c checks.
 */
#ifndef SCENARIO_RESOLVE_BAND_H
#define SCENARIO_RESOLVE_BAND_H

#include "scenario/point.h"

/* Read the bands that stand under a resolved point into it. Fails if their file is invalid. */
bool resolve_bands(struct point *out, struct error *why);

#endif
