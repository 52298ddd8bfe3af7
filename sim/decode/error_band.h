/* How far published rates lay from predicted ones, by class of system.
 *
 * `compare` writes the file from all published figures that it can compare. Every result carries
 * the band of its class: the smallest and the largest error over those figures. A band is not a
 * confidence interval, and it always contains 0. It says nothing of machines without such a figure.
 */
#ifndef DECODE_ERROR_BAND_H
#define DECODE_ERROR_BAND_H

#include "base/error.h"
#include "decode/system_class.h"

#include <stdint.h>
#include <stdio.h>

struct files;

struct error_band {
    uint64_t rows;       /* figures compared; 0: the band is unknown */
    double below, above; /* shares of the predicted rate: 0.1, 0.3 is "-10 ... +30 %" */
    char machines[128];  /* of these figures: "a40-no-ecc, h100-sxm" */
};

/* Read scenarios/error-bands.yaml; `files` keeps it (NULL: nothing is kept). A class that the file
 * lacks has 0 rows. */
bool error_band_load(struct files *files, struct error_band out[SYSTEM_CLASS_COUNT],
                     struct error *why);

/* Write that file to `out`; classes without rows are left out. */
void error_band_write(const struct error_band bands[SYSTEM_CLASS_COUNT], FILE *out);

/* Widen the band by one figure, of a machine: `error` is the published rate over the predicted one,
 * less 1. */
void error_band_add(struct error_band *band, const char *machine, double error);

/* Is one of the band's figures of that machine? */
bool error_band_covers(const struct error_band *band, const char *machine);

#endif
