/* A measurement that may be interrupted at any moment and resumes after the last complete group.
 *
 * After each group, all findings so far are written to PROFILE.part, in the profile's own format.
 * The file is written under another name, flushed to the disk, loaded as a simulation would load
 * it, and then renamed, so that PROFILE.part is always complete and valid. The next session for the
 * same profile reads PROFILE.part if it is of the same machine and was measured in the same way,
 * and measures the missing groups. When all groups are there, PROFILE.part is renamed to PROFILE;
 * an older profile stays until then.
 */
#ifndef CALIBRATE_HARNESS_SESSION_H
#define CALIBRATE_HARNESS_SESSION_H

#include "calibrate/harness/machine.h"
#include "calibrate/harness/profile_write.h"
#include "calibrate/measure/group.h"

#include <stdio.h>

struct session {
    const char *path;                  /* of the profile */
    const struct group *const *groups; /* in order; ends with NULL */
    const struct effort *effort;
    double seconds; /* of a group whose share is 1 */
    uint64_t seed;
    enum machine_part machine; /* the part that is measured */
    FILE *log;                 /* a line for each group */
};

/* Run the groups that are not measured yet, add their findings to `calibration`, and write the
 * profile. On entry, `calibration` states the base, the machine and any imported figures. */
bool session_run(const struct session *session, struct calibration *calibration, struct error *why);

#endif
