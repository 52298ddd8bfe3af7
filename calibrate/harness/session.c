#include "calibrate/harness/session.h"

#include "core/array.h"
#include "core/text.h"
#include "calibrate/harness/apart.h"
#include "calibrate/harness/session_files.h"
#include "machine/profile.h"

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

/* ---- what is missing ---- */

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

/* ---- measuring ---- */

/* A group that is measured in a process of its own, which leaves its findings in a file. */
struct session_task {
    const struct session *session;
    const struct budget *budget;
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
    struct effort effort = *task->session->effort;
    effort.seconds = task->budget->samples_s;
    return task->budget->group->run(&effort, task->session->seed, &task->found->findings, why) &&
           save_task(task, why);
}

static bool measure_group(const struct session *session, const struct budget *budget,
                          const struct session_files *files, struct calibration *found,
                          struct error *why)
{
    struct session_task task = {session, budget, files->fresh, found};
    const struct apart apart = {.name = budget->group->name,
                                .seconds = budget_left(&session->terms, budget, clock_ns()),
                                .run = run_task,
                                .state = &task};
    if (apart.seconds <= 0) {
        return error_set(why, NULL, 0, "not begun, because no time was left");
    }
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

/* A group that was measured before keeps its older figures. */
static bool session_note_absence(const struct session *session, const struct group *group,
                                 struct calibration *calibration, const struct error *reason,
                                 struct error *why)
{
    char text[ERROR_TEXT];
    error_format(reason, text, sizeof text);
    fprintf(session->log, "%s failed: %s\n", group->name, text);
    if (session_has(calibration, group)) {
        return true;
    }
    for (char *end = text; (end = strchr(end, '\n')) != NULL;) {
        *end = ';';
    }
    return findings_note(&calibration->findings, absence_of(group).name, text, why);
}

/* A group is restless if one of its curves did not settle. */
static void note_rest(const struct group *group, const struct findings *found,
                      struct calibration *calibration)
{
    provenance_drop(&calibration->provenance, FACT_RESTLESS, group->name);
    for (uint32_t i = 0; i < found->count; i++) {
        if (finding_is_curve(&found->all[i]) && finding_is_restless(&found->all[i])) {
            provenance_add(&calibration->provenance, FACT_RESTLESS, group->name);
        }
    }
}

static bool keep_found(const struct group *group, struct calibration *found,
                       struct calibration *calibration, struct error *why)
{
    findings_drop(&calibration->findings, absence_of(group).name);
    provenance_add(&calibration->provenance, FACT_GROUPS, group->name);
    note_rest(group, &found->findings, calibration);
    return findings_take(&calibration->findings, &found->findings, why);
}

static bool session_save(const struct session_files *files, struct calibration *calibration,
                         struct error *why)
{
    state_unmeasured(calibration);
    return session_files_save(files, calibration, why);
}

/* Measure a group and keep its findings, or why it failed. Fails only if that cannot be kept, or
 * after an interrupt. */
static bool try_group(const struct session *session, const struct budget *budget,
                      const struct session_files *files, struct calibration *calibration,
                      struct error *why)
{
    struct calibration found = {.provenance = calibration->provenance};
    struct error reason;
    text_copy(found.base, sizeof found.base, calibration->base);
    bool measured = measure_group(session, budget, files, &found, &reason), ok = true;
    if (measured) {
        ok = keep_found(budget->group, &found, calibration, why);
    } else if (measure_interrupted != 0) {
        *why = reason;
        ok = false;
    } else {
        ok = session_note_absence(session, budget->group, calibration, &reason, why);
    }
    calibration_release(&found);
    return ok && session_save(files, calibration, why);
}

/* In which turn a group is measured: first those that take no samples, because others build on what
 * they state; late those that failed before, in case they hang again; last those that are measured
 * again. */
enum turn { TURN_STATED, TURN_NEW, TURN_FAILED, TURN_RESTLESS, TURNS, TURN_NONE = TURNS };

static enum turn turn_of(const struct session *session, const struct calibration *calibration,
                         const struct group *group)
{
    bool restless = provenance_has(&calibration->provenance, FACT_RESTLESS, group->name);
    if (session_has(calibration, group)) {
        return restless && session->terms.end_ns > 0 ? TURN_RESTLESS : TURN_NONE;
    }
    bool failed = findings_get(&calibration->findings, absence_of(group).name) != NULL;
    return failed ? TURN_FAILED : group->share > 0 ? TURN_NEW : TURN_STATED;
}

/* The groups to measure, in order. Returns their number. */
static uint32_t order_groups(const struct session *session, const struct calibration *calibration,
                             struct budget *order)
{
    uint32_t count = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; session->groups[i] != NULL; i++) {
            if (turn_of(session, calibration, session->groups[i]) == (enum turn)turn) {
                order[count++].group = session->groups[i];
            }
        }
    }
    return count;
}

static void print_plan(const struct session *session, const struct budget *order, uint32_t count)
{
    for (uint32_t i = 0; session->terms.end_ns > 0 && i < count; i++) {
        fprintf(session->log, "planned: %5.1f s  %s: %s\n", order[i].planned_s,
                order[i].group->name, order[i].group->what);
    }
}

static bool measure_groups(const struct session *session, const struct session_files *files,
                           struct calibration *calibration, struct error *why)
{
    uint32_t all = count_groups(session);
    struct budget *order = array_zeroed(all, sizeof *order, why);
    if (order == NULL) {
        return false;
    }
    uint32_t count = order_groups(session, calibration, order);
    bool ok = true;
    budget_deal(&session->terms, clock_ns(), order, count);
    print_plan(session, order, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        fprintf(session->log, "%u/%u %s: %s\n", all - count + i + 1, all, order[i].group->name,
                order[i].group->what);
        ok = try_group(session, &order[i], files, calibration, why);
    }
    free(order);
    return ok;
}

/* ---- the profile ---- */

/* A machine that can no longer be described costs only the description, and no more than the time
 * that was kept for it. */
static void describe_end(const struct session *session, struct calibration *calibration)
{
    struct error why;
    double seconds = session->terms.end_ns > 0 ? SESSION_END_SECONDS : DESCRIBE_SECONDS;
    if (!machine_describe(session->machine, FACT_CLOCKS_END, seconds, &calibration->provenance,
                          &why)) {
        provenance_set(&calibration->provenance, FACT_CLOCKS_END, "not stated: %s", why.found);
    }
}

static bool session_finish(const struct session *session, const struct session_files *files,
                           struct calibration *calibration, struct error *why)
{
    describe_end(session, calibration);
    return session_save(files, calibration, why) && session_files_finish(files, why);
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
