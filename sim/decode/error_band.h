/* How far published rates lay from predicted ones, by class of system.
 *
 * `compare` writes the file (study/papers/class_errors.h): for each class the largest factor
 * between a published rate and the predicted one. It is not a confidence interval. A result on a
 * machine with such a figure carries the band of its class; read_band() in scenario/resolve.c and
 * has_band() in serving/answer.c have the other conditions.
 */
#ifndef DECODE_ERROR_BAND_H
#define DECODE_ERROR_BAND_H

#include "base/error.h"
#include "decode/system_class.h"

#include <stdint.h>
#include <stdio.h>

struct files;

struct error_band {
    uint64_t rows;      /* figures compared; 0: the band is unknown */
    double factor;      /* 1.25: from 1 / 1.25 of the predicted rate to 1.25 times it */
    char machines[128]; /* of these figures: "a40-no-ecc, h100-sxm" */
};

/* Its ends as shares of the predicted rate: 1.25 gives -0.2, 0.25. */
void error_band_ends(const struct error_band *band, double ends[2]);

/* Read scenarios/error-bands.yaml; `files` keeps it (NULL: nothing is kept). A class that the file
 * lacks has 0 rows. */
bool error_band_load(struct files *files, struct error_band out[SYSTEM_CLASS_COUNT],
                     struct error *why);

/* Write that file to `out`; classes without rows are left out. */
void error_band_write(const struct error_band bands[SYSTEM_CLASS_COUNT], FILE *out);

/* Widen the band by one figure of a machine, off by `factor`, at least 1. */
void error_band_add(struct error_band *band, const char *machine, double factor);

/* Is one of the band's figures of that machine? */
bool error_band_covers(const struct error_band *band, const char *machine);

#endif
