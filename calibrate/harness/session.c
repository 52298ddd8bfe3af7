#include "calibrate/harness/session.h"

#include "base/array.h"
#include "base/text.h"
#include "calibrate/harness/apart.h"
#include "calibrate/harness/session_files.h"
#include "hardware/profile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Has a calibration the figures of a group? */
static bool session_has(const struct calibration *calibration, const struct group *group)
{
    return provenance_has(&calibration->provenance, FACT_GROUPS, group->name);
}

uint32_t session_lacks(const struct session *session, const struct calibration *calibration)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; session->groups[i] != NULL; i++) {
        missing += !session_has(calibration, session->groups[i]);
    }
    return missing;
}

static uint32_t count_groups(const struct session *session)
{
    uint32_t count = 0;
    while (session->groups[count] != NULL) {
        count++;
    }
    return count;
}

/* ---- measuring ---- */

/* A group that is measured in a process of its own, which leaves its findings in a file. */
struct session_task {
    const struct session *session;
    const struct group *group;
    const char *path;
    struct calibration *found; /* base and provenance are those of the session */
};

/* Saving finds figures that no machine can have; the name of the file then says nothing. */
static bool save_task(const struct session_task *task, struct error *why)
{
    bool ok = profile_save(task->found, task->path, why);
    if (!ok) {
        why->file[0] = '\0';
        why->line = 0;
    }
    return ok;
}

static bool run_task(void *state, struct error *why)
{
    const struct session_task *task = state;
    const struct group *group = task->group;
    struct effort effort = *task->session->effort;
    effort.seconds = task->session->seconds * group->share;
    return group->run(&effort, task->session->seed, &task->found->findings, why) &&
           save_task(task, why);
}

static bool measure_group(const struct session *session, const struct group *group,
                          const struct session_files *files, struct calibration *found,
                          struct error *why)
{
    struct session_task task = {session, group, files->fresh, found};
    const struct apart apart = {.name = group->name,
                                .seconds = 2 * session->seconds * group->share + session->patience,
                                .run = run_task,
                                .state = &task};
    bool ok = apart_run(&apart, why) && profile_read(files->fresh, found, why);
    unlink(files->fresh);
    return ok;
}

/* The finding that says why a group is absent. */
struct absence {
    char name[64];
};

static struct absence absence_of(const struct group *group)
{
    struct absence absence;
    snprintf(absence.name, sizeof absence.name, "group.%s", group->name);
    return absence;
}

static bool session_note_absence(const struct session *session, const struct group *group,
                                 struct calibration *calibration, const struct error *reason,
                                 struct error *why)
{
    char text[ERROR_TEXT];
    error_format(reason, text, sizeof text);
    fprintf(session->log, "%s failed: %s\n", group->name, text);
    for (char *end = text; (end = strchr(end, '\n')) != NULL;) {
        *end = ';';
    }
    return findings_note(&calibration->findings, absence_of(group).name, text, why);
}

/* Measure a group and keep its findings, or why it failed. Fails only if that cannot be kept, or
 * after an interrupt. */
static bool try_group(const struct session *session, const struct group *group,
                      const struct session_files *files, struct calibration *calibration,
                      struct error *why)
{
    struct calibration found = {.provenance = calibration->provenance};
    struct error reason;
    text_copy(found.base, sizeof found.base, calibration->base);
    bool measured = measure_group(session, group, files, &found, &reason), ok = true;
    if (measured) {
        findings_drop(&calibration->findings, absence_of(group).name);
        ok = findings_take(&calibration->findings, &found.findings, why);
        provenance_add(&calibration->provenance, FACT_GROUPS, group->name);
    } else if (measure_interrupted != 0) {
        *why = reason;
        ok = false;
    } else {
        ok = session_note_absence(session, group, calibration, &reason, why);
    }
    calibration_release(&found);
    return ok && session_files_save(files, calibration, why);
}

/* The groups to measure; those that failed before come last, in case they hang again. Returns
 * their number. */
static uint32_t order_groups(const struct session *session, const struct calibration *calibration,
                             const struct group **order)
{
    uint32_t count = 0;
    for (int failed = 0; failed < 2; failed++) {
        for (uint32_t i = 0; session->groups[i] != NULL; i++) {
            const struct group *group = session->groups[i];
            bool absent = findings_get(&calibration->findings, absence_of(group).name) != NULL;
            if (!session_has(calibration, group) && absent == (failed == 1)) {
                order[count++] = group;
            }
        }
    }
    return count;
}

static bool measure_groups(const struct session *session, const struct session_files *files,
                           struct calibration *calibration, struct error *why)
{
    uint32_t all = count_groups(session);
    const struct group **order = array_zeroed(all, sizeof *order, why);
    if (order == NULL) {
        return false;
    }
    uint32_t count = order_groups(session, calibration, order);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        fprintf(session->log, "%u/%u %s: %s\n", all - count + i + 1, all, order[i]->name,
                order[i]->what);
        ok = try_group(session, order[i], files, calibration, why);
    }
    free(order);
    return ok;
}

/* ---- the profile ---- */

static bool session_is_measured(const struct calibration *calibration, const char *curve)
{
    const struct finding *finding = findings_get(&calibration->findings, curve);
    return finding != NULL && finding->count > 0;
}

static bool is_any_measured(const struct calibration *calibration, const char *part)
{
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        if (strncmp(curve_kinds[id].name, part, strlen(part)) == 0 &&
            session_is_measured(calibration, curve_kinds[id].name)) {
            return true;
        }
    }
    return false;
}

/* List the missing curves; a part without any measured curve is one word. */
static void state_unmeasured(struct calibration *calibration)
{
    static const char *const parts[] = {"gpu", "link", "host"};
    struct provenance *provenance = &calibration->provenance;
    provenance_set(provenance, FACT_NOT_MEASURED, "%s", "");
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        const char *name = curve_kinds[id].name;
        for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
            if (strncmp(name, parts[part], strlen(parts[part])) == 0 &&
                !session_is_measured(calibration, name)) {
                bool any = is_any_measured(calibration, parts[part]);
                provenance_add(provenance, FACT_NOT_MEASURED, any ? name : parts[part]);
            }
        }
    }
}

/* A machine that can no longer be described costs only the description. */
static void describe_end(const struct session *session, struct calibration *calibration)
{
    struct error why;
    if (!machine_describe(session->machine, FACT_CLOCKS_END, &calibration->provenance, &why)) {
        provenance_set(&calibration->provenance, FACT_CLOCKS_END, "not stated: %s", why.found);
    }
}

static bool session_finish(const struct session *session, const struct session_files *files,
                           struct calibration *calibration, struct error *why)
{
    state_unmeasured(calibration);
    describe_end(session, calibration);
    return session_files_save(files, calibration, why) && session_files_finish(files, why);
}

static bool session_is_empty(const struct calibration *calibration)
{
    const struct provenance *provenance = &calibration->provenance;
    return provenance->facts[FACT_GROUPS][0] == '\0' && provenance->facts[FACT_FROM][0] == '\0';
}

/* Without any figure there is no profile, and an older one stays. */
static bool refuse_empty(const struct session_files *files, struct error *why)
{
    unlink(files->part);
    return error_set(why, files->profile, 0, "not written, because every group failed");
}

static bool run_groups(const struct session *session, const struct session_files *files,
                       struct calibration *calibration, uint32_t *failed, struct error *why)
{
    if (!session_adopt(session, files->part, calibration, why) ||
        !measure_groups(session, files, calibration, why)) {
        return false;
    }
    *failed = session_lacks(session, calibration);
    if (session->groups[0] != NULL && access(files->part, F_OK) != 0) {
        fprintf(session->log, "%s lacks nothing; --group measures a group again\n", session->path);
        return true;
    }
    return *failed > 0 && session_is_empty(calibration)
               ? refuse_empty(files, why)
               : session_finish(session, files, calibration, why);
}

bool session_run(const struct session *session, struct calibration *calibration, uint32_t *failed,
                 struct error *why)
{
    struct session_files files;
    bool ok = session_files_init(session->path, &files, why) &&
              run_groups(session, &files, calibration, failed, why);
    if (!ok && files.part != NULL && access(files.part, F_OK) == 0) {
        fprintf(session->log,
                "%s keeps the measurements so far: the same command resumes from there\n",
                files.part);
    }
    session_files_release(&files);
    return ok;
}
