/* The time of a kernel by its size, fitted to measured times in the form in which the simulator
 * computes it (sim/decode/cost/kernel_time.h): a fixed time, a time for each pair of a sequence and a
 * KV head, and bytes at a share of the peak of HBM. Arithmetic alone.
 *
 * Least squares of the relative errors: a time of 5 us that is 10 % off counts as much as one of
 * 5 ms. No time is negative, and no share is above 1.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "calibrate/measure/finding.h"

/* A measured kernel; `ns` and `bytes` are above 0. */
struct kernel_time {
    double ns, pairs, bytes;
};

struct kernel_fit {
    double fixed_ns, pair_ns, bytes_ns; /* bytes_ns: of each byte */
    double share;                       /* of the peak; 0: the peak is not known */
    double median, worst;               /* of |fitted over measured, less 1| */
    double low, high;                   /* 10th and 90th percentile of measured over fitted */
    uint32_t count;                     /* of the times */
};

/* Fit `count` times. `peak` is the memory's, in bytes/s, 0 if it is not known. Fails if there are
 * fewer than 4 times, if one of them reads at over 100.5 % of the peak, or if the times do not grow
 * with the bytes. */
bool kernel_fit_times(const struct kernel_time *times, uint32_t count, double peak,
                      struct kernel_fit *out, struct error *why);

/* Add a fitted figure, `value`, with its note. Its p10 and p90 are those of measured over fitted
 * times: `inverse` for a share, which falls as times rise. */
bool kernel_fit_state(const struct kernel_fit *fit, const char *name, double value, bool inverse,
                      const char *note, struct findings *findings, struct error *why);

#ifdef __cplusplus
}
#endif
