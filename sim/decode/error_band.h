/* How far published rates lay from predicted ones, by class of system.
 *
 * `compare` makes the file from all published figures that can be compared, and every result
 * carries the band of its class: least and most over those figures, no confidence interval. It
 * reaches at least to 0.
 */
#ifndef DECODE_ERROR_BAND_H
#define DECODE_ERROR_BAND_H

#include "base/error.h"
#include "decode/system_class.h"

#include <stdint.h>
#include <stdio.h>

struct files;

struct error_band {
    uint64_t rows;       /* figures that were compared; 0: nothing is known */
    double below, above; /* shares of the predicted rate: 0.1, 0.3 is "-10 ... +30 %" */
};

/* Read scenarios/error-bands.yaml; `files` keeps it (NULL: does not). */
bool error_band_load(struct files *files, struct error_band out[SYSTEM_CLASS_COUNT],
                     struct error *why);

/* Write it. */
void error_band_write(const struct error_band bands[SYSTEM_CLASS_COUNT], FILE *out);

/* Widen by one figure: published over predicted rate, less 1. */
void error_band_add(struct error_band *band, double error);

#endif
