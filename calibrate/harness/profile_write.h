/* Writes findings as a measured profile (machine/measured.h), and reads them back.
 *
 * All findings stand under `observed`; the curves of gpu, link, host and disk are derived from them
 * (curve_write.h). The rounded figures, as written, are the input, so that a profile that is read
 * and written again has the same bytes.
 */
#pragma once

#include "calibrate/measure/finding.h"
#include "calibrate/measure/provenance.h"

#include <stdio.h>

/* The contents of a measured profile. */
struct calibration {
    char base[1024]; /* the profile that states everything that is not measured */
    struct provenance provenance;
    struct findings findings;
};

/* The caller closes `out` and checks that it was written. */
bool profile_write(const struct calibration *calibration, FILE *out, struct error *why);

/* Write the new file `path`, onto the disk, and check that a simulation can load it: a figure that
 * no machine can have is refused, and so is a file that is there. After a failure there is no new
 * file. */
bool profile_save(const struct calibration *calibration, const char *path, struct error *why);

/* Can a simulation load the profile of that name or path? Messages say that it stands in `file`. */
bool profile_check(const char *profile_name, const char *file, struct error *why);

/* Read a profile that profile_write() wrote. On failure `out` is zeroed. */
bool profile_read(const char *path, struct calibration *out, struct error *why);
void calibration_release(struct calibration *calibration);
