/* Rates of things that run side by side, from when their pieces were done. */
#ifndef CALIBRATE_OVERLAP_H
#define CALIBRATE_OVERLAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pieces done by `at`, of `count` equal ones that run one after the other from 0 and are done at
 * ends[], ascending; part of a piece counts as part. */
double pieces_done(const double *ends, uint32_t count, double at);

#ifdef __cplusplus
}
#endif
#endif
