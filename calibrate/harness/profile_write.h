/* Findings as a profile that was measured (hardware/measured.h), and back.
 *
 * Everything found stands under `observed`; the curves of gpu, link and host are made from it
 * (curve_write.h). What is derived is derived from the rounded figures that are written, so that a
 * profile that was read is written again as the same bytes.
 */
#ifndef CALIBRATE_HARNESS_PROFILE_WRITE_H
#define CALIBRATE_HARNESS_PROFILE_WRITE_H

#include "calibrate/measure/finding.h"
#include "calibrate/measure/provenance.h"

#include <stdio.h>

/* What a profile says, as the harness sees it. */
struct calibration {
    char base[1024]; /* the profile that states what is not measured */
    struct provenance provenance;
    struct findings findings;
};

/* Writing is checked by whoever closes `out`. */
bool profile_write(const struct calibration *calibration, FILE *out, struct error *why);

/* Read what profile_write() wrote. On failure `out` is zeroed. */
bool profile_read(const char *path, struct calibration *out, struct error *why);
void calibration_release(struct calibration *calibration);

#endif
