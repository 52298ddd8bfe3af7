/* Taking over what earlier sessions measured: of their part, or of the profile. */
#include "calibrate/harness/session.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The fact that keeps this session from adding to what was measured; NULL if it can. */
static const char *session_adopt_difference(const struct calibration *left,
                                            const struct calibration *now)
{
    enum fact differs;
    if (strcmp(left->base, now->base) != 0) {
        return "base";
    }
    return provenance_matches(&left->provenance, &now->provenance, &differs) ? NULL
                                                                             : fact_name(differs);
}

static bool adopt(struct calibration *calibration, struct calibration *left, struct error *why)
{
    static const enum fact begun[] = {FACT_DATE, FACT_GROUPS, FACT_RESTLESS, FACT_CLOCKS_START};
    for (size_t i = 0; i < sizeof begun / sizeof begun[0]; i++) {
        provenance_set(&calibration->provenance, begun[i], "%s", left->provenance.facts[begun[i]]);
    }
    return findings_take(&calibration->findings, &left->findings, why);
}

/* Go on from the part that an earlier session left, if it fits; `*resumed` says so. */
static bool resume(const struct session *session, const char *part, struct calibration *calibration,
                   bool *resumed, struct error *why)
{
    struct calibration left;
    struct error unusable;
    *resumed = false;
    if (!profile_read(part, &left, &unusable)) {
        fprintf(session->log, "%s is not a complete profile: starting again\n", part);
        return true;
    }
    const char *differs = session_adopt_difference(&left, calibration);
    bool ok = true;
    if (differs != NULL) {
        fprintf(session->log, "%s is of another measurement (%s differs): starting again\n", part,
                differs);
    } else {
        fprintf(session->log, "resuming from %s\n", part);
        *resumed = true;
        ok = adopt(calibration, &left, why);
    }
    calibration_release(&left);
    return ok;
}

/* Measure all of the session's groups again. */
static void forget_groups(const struct session *session, struct calibration *calibration)
{
    for (uint32_t i = 0; session->groups[i] != NULL; i++) {
        provenance_drop(&calibration->provenance, FACT_GROUPS, session->groups[i]->name);
    }
}

static bool is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

/* Add to a profile of the same machine. A profile of another measurement, or one that a person
 * changed, is not replaced. */
static bool session_adopt_extend(const struct session *session, struct calibration *calibration,
                                 struct error *why)
{
    struct calibration profile;
    if (!is_there(session->path)) {
        return true;
    }
    if (!profile_read(session->path, &profile, why)) {
        return error_expect(why, "another file; or remove this one");
    }
    const char *differs = session_adopt_difference(&profile, calibration);
    bool ok = differs == NULL;
    if (!ok) {
        error_set(why, session->path, 0, "of another measurement: its '%s' differs", differs);
        error_expect(why, "the same options on the same machine; or another file");
    } else {
        fprintf(session->log, "adding to %s\n", session->path);
        ok = adopt(calibration, &profile, why);
        if (session->again && session_lacks(session, calibration) == 0) {
            forget_groups(session, calibration);
        }
    }
    calibration_release(&profile);
    return ok;
}

bool session_adopt(const struct session *session, const char *part, struct calibration *calibration,
                   struct error *why)
{
    bool resumed = false;
    return (access(part, F_OK) != 0 || resume(session, part, calibration, &resumed, why)) &&
           (resumed || session_adopt_extend(session, calibration, why));
}
