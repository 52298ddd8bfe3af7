/* Arithmetic of measured copies: the fixed time that goes with a rate, the number of copies to time
 * at once, and the progress of copies that run side by side. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fixed time in ns, at least 0, for which fixed + size / rate comes closest to times_ns[], the
 * measured times of copies of sizes[] bytes (least squares of the relative errors). `worst` becomes
 * the largest relative error. rate > 0 is in bytes/s; times are > 0; count > 0. */
double copy_fixed_ns(const double *sizes, const double *times_ns, uint32_t count, double rate,
                     double *worst);

/* How many copies of `size` bytes to time at once: as many as move `moved` bytes, from 1 to `most`.
 */
uint32_t copy_repeats(size_t size, size_t moved, uint32_t most);

/* Pieces done at time `at`, with fractions. `count` equal pieces run one after the other from time
 * 0; ends[], ascending, says when each is done. */
double pieces_done(const double *ends, uint32_t count, double at);

#ifdef __cplusplus
}
#endif
