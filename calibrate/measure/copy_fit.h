/* Arithmetic of measured copies: the fixed time and the rate that the simulator reckons with, how
 * large copies may be and how many are timed in one go, and how far each of several that run side
 * by side has come. */
#ifndef CALIBRATE_MEASURE_COPY_FIT_H
#define CALIBRATE_MEASURE_COPY_FIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fixed time, at least 0, with which fixed + size / rate comes closest to times_ns[] of copies
 * of sizes[] bytes: least squares of the relative errors. `worst` becomes the largest of these.
 * rate > 0 is in bytes/s, times are > 0; count > 0. */
double copy_fixed_ns(const double *sizes, const double *times_ns, uint32_t count, double rate,
                     double *worst);

/* The largest copy to measure: `wanted`, halved until it is at most an eighth of what the GPU and
 * what the host have free, but not below `least`. */
size_t copy_largest(size_t wanted, size_t least, size_t gpu_free, size_t host_free);

/* Copies of one size to time in one go: as many as move `moved` bytes, but 1 to `most`. */
uint32_t copy_repeats(size_t size, size_t moved, uint32_t most);

/* Pieces done by `at`, of `count` equal ones that run one after the other from 0 and are done at
 * ends[], ascending; part of a piece counts as part. */
double pieces_done(const double *ends, uint32_t count, double at);

#ifdef __cplusplus
}
#endif
#endif
