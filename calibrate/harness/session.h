/* A measurement that keeps what it has, whatever happens.
 *
 * Each group runs in a process of its own (apart.h). A group that fails, hangs, crashes or finds a
 * figure that no machine can have is absent from the profile, which says why under
 * `observed: group.NAME`; the others are measured all the same. The same command again measures
 * what is absent and adds it to the profile.
 *
 * After each group, all findings so far are written to PROFILE.part, in the profile's own format.
 * The file is written under another name, flushed to the disk, loaded as a simulation would load
 * it, and then renamed, so that PROFILE.part is always complete and valid. A session that was cut
 * short resumes from PROFILE.part if it is of the same machine and was measured in the same way. At
 * the end, PROFILE.part is renamed to PROFILE; an older profile stays until then.
 *
 * A PROFILE of the same machine that lacks some of the session's groups is added to. If it lacks
 * none of them, nothing is measured, or, if that is asked for, they are measured again and replace
 * their older figures. A PROFILE of another measurement is refused.
 *
 * A session that has to end in time says first how long each group may take (budget.h). It measures
 * restless groups of the PROFILE again, after those that are absent: the fewer groups, the more
 * samples of each.
 */
#pragma once

#include "calibrate/harness/budget.h"
#include "calibrate/harness/machine.h"
#include "calibrate/harness/profile_write.h"
#include "calibrate/measure/group.h"

#include <stdio.h>

/* Of the time of a session that has to end: for the last description of the machine, and to kill
 * what hangs. */
#define SESSION_END_SECONDS 5

struct session {
    const char *path;                  /* of the profile */
    const struct group *const *groups; /* in order; ends with NULL */
    const struct effort *effort;
    struct budget_terms terms; /* how long groups may take */
    bool again;                /* measure the groups again if the profile has all of them */
    uint64_t seed;
    enum machine_part machine; /* the part that is measured */
    FILE *log;                 /* a line for each group */
};

/* Run the groups that are not measured yet, add their findings to `calibration`, and write the
 * profile. On entry, `calibration` states the base, the machine and any imported figures. `*failed`
 * is the number of groups that are absent. Fails, and leaves an older profile as it is, if nothing
 * was measured, after an interrupt, and if a file cannot be written. */
bool session_run(const struct session *session, struct calibration *calibration, uint32_t *failed,
                 struct error *why);

/* How many of the session's groups it lacks. */
uint32_t session_lacks(const struct session *session, const struct calibration *calibration);

/* Begin `calibration` with what earlier sessions measured: with `part`, the file that a session
 * left which was cut short; if that is missing or of another measurement, with the profile. Fails
 * if the profile is of another measurement, too, or is not as it was measured. */
bool session_adopt(const struct session *session, const char *part, struct calibration *calibration,
                   struct error *why);
