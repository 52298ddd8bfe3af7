/* The peak of matrix products: when the GPU is warm enough to measure it, how many FLOPs its SMs do
 * in a clock, and shares of the peak. Arithmetic alone; product_speed.cu measures. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

/* Products run back to back in windows of about this long. */
#define PEAK_WINDOW_NS 50e6

/* Zeroed before the first window. */
struct peak_warm_up {
    double spent_ns; /* of all windows */
    double rate;     /* of the last window */
    bool steady;     /* the clock no longer rises */
};

/* Take in a window of `ns` in which products ran at `rate`. Returns whether to run another: an idle
 * SM runs at a sixth of its clock and speeds up within some 100 ms, so windows go on for at least
 * 200 ms and until a rate is at most 1 % above the one before, but end after 2 s. */
bool peak_warm_up(struct peak_warm_up *warm, double ns, double rate);

/* FLOPs a clock of all SMs together, per SM: a power of two on every GPU so far.
 *   rate     FLOP/s of large products
 *   most_hz  clock at most, times SMs
 *   now_hz   clock while these products ran, times SMs; 0: not known
 * Large products reach more than half of the peak at the highest clock. If a power cap holds the
 * clock down further, the clock of now tells. */
double peak_flops_a_clock(double rate, double most_hz, double now_hz);

/* The share of `peak` at which a product runs. Events count in steps of 0.5 us, and intervals take
 * 200 us or more, so a rate may be stated up to 0.5 % too high: up to 1.005 it counts as 1. Fails
 * above: then the peak is wrong, and every share of it. */
bool peak_share(double rate, double peak, double *share, struct error *why);

#ifdef __cplusplus
}
#endif
