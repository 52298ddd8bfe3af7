/* A measurement that may be cut at any moment and goes on where it was.
 *
 * After each group all that was found so far is written beside the profile, as PROFILE.part, in the
 * profile's own format: under another name, flushed to the disk, loaded as a simulation would load
 * it, then renamed, so that what stands there is always whole and of use. The next session for the
 * same profile takes it up if it is of the same machine, measured in the same way, and measures the
 * groups that are missing. When all are there, the part takes the profile's name: until then, an
 * older profile of that name stays.
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
    enum machine_part machine; /* that is measured */
    FILE *log;                 /* a line for each group */
};

/* Measure what `calibration` does not have yet; it states base, machine and what came from
 * elsewhere. What was found is added to it, and the profile written. */
bool session_run(const struct session *session, struct calibration *calibration, struct error *why);

#endif
