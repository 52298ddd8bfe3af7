/* The error bands of a point (decode/error_band.h).
 *
 * Weights and KV must be of 16 bits, and a figure of the band must be of the same machine and as
 * many GPUs; of decode steps, one must also be of the same system. A server must keep all KV in
 * HBM, with an engine's memory and limits, be alone, and divide all matrices among its GPUs. It has
 * the band of its class of machines, else that of all machines; which load it has, and what else
 * only the result shows, predict/answer.c checks.
 */
#pragma once

#include "predict/scenario/point.h"

/* Read the bands that stand under a resolved point into it. Fails if their file is invalid. */
bool resolve_bands(struct point *out, struct error *why);

/* Over what the setup's GPUs exchange, or two of them would: BAND_NVLINK or BAND_PCIE;
 * BAND_MACHINES_ALL where the profile does not say. */
enum band_machines resolve_band_machines(const struct setup *setup);
