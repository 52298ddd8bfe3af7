/* Cold caches before a step: the GPU's L2 and the CPUs' caches are filled with other data. In a
 * full model the layers that a miniature leaves out would do that; four layers of a miniature fit
 * into the L2, and a step would find there what the one before it read.
 *
 * The L2 is filled by loads. After stores, the step would share HBM with the lines that are written
 * back. The loads are plain ones: lines that are loaded for one use alone leave the L2 before those
 * that are to go.
 */
#pragma once

#include "calibrate/device/device.h"

struct gpu_cold {
    gpu_arena elsewhere; /* four times the L2, so that little remains whatever line is replaced */
    gpu_memory sums;     /* a word for each thread that reads, which keeps the loads */

    bool create(struct error *why);
    /* Fill the L2, and wait until that is done. */
    bool fill(const gpu_stream &stream, struct error *why) const;
};
