#include "calibrate/harness/session.h"

#include "hardware/measured.h"
#include "hardware/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static bool write_error(const char *path, struct error *why)
{
    return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
}

/* Write to the disk, not only to the system's memory. */
static bool write_whole(const struct calibration *calibration, const char *path, struct error *why)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return write_error(path, why);
    }
    bool ok =
        profile_write(calibration, out, why) &&
        ((fflush(out) == 0 && !ferror(out) && fsync(fileno(out)) == 0) || write_error(path, why));
    if (fclose(out) != 0 && ok) {
        ok = write_error(path, why);
    }
    return ok;
}

/* The names of what a session writes; owned. */
struct names {
    char *part, *fresh;
};

static void names_release(struct names *names)
{
    free(names->part);
    free(names->fresh);
}

static bool names_init(const char *path, struct names *names, struct error *why)
{
    *names = (struct names){.part = NULL};
    /* A slash marks it as a path, not as a name in the data folder. */
    const char *here = strchr(path, '/') == NULL ? "./" : "";
    if (asprintf(&names->part, "%s%s.part", here, path) < 0 ||
        asprintf(&names->fresh, "%s%s.part.new", here, path) < 0) {
        return error_set(why, path, 0, "out of memory");
    }
    return true;
}

/* True if no file is there, or if its first line says that it is a measured profile, of any format.
 * A mistyped name must not destroy a file that a person wrote. */
static bool may_replace(const char *path, struct error *why)
{
    char line[256] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return errno == ENOENT ||
               error_set(why, path, 0, "cannot be read before it is replaced: %s", strerror(errno));
    }
    bool empty = fgets(line, sizeof line, file) == NULL && !ferror(file);
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    if (empty || strcmp(line, measured_first_line) == 0) {
        return true;
    }
    error_set(why, path, 0, "not a measured profile; the file is unchanged");
    return error_expect(why, "a new file, or a profile that calibrate wrote");
}

/* Find out before measuring, not minutes later, that the file cannot be written. */
static bool check_place(const char *path, const struct names *names, struct error *why)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return error_set(why, path, 0, "cannot be replaced: it is not a regular file");
    }
    if (!may_replace(path, why)) {
        return false;
    }
    FILE *file = fopen(names->fresh, "w");
    if (file == NULL) {
        return write_error(path, why);
    }
    fclose(file);
    unlink(names->fresh);
    return true;
}

/* Can a simulation load the file that was written? */
static bool check_loads(char *path, struct error *why)
{
    const struct node name = {.kind = NODE_SCALAR, .file = path, .text = path};
    struct profile profile;
    if (!profile_load(NULL, &name, &profile, why)) {
        return false;
    }
    profile_release(&profile);
    return true;
}

static bool save(const struct calibration *calibration, const struct names *names,
                 struct error *why)
{
    bool ok = write_whole(calibration, names->fresh, why) && check_loads(names->fresh, why) &&
              (rename(names->fresh, names->part) == 0 || write_error(names->part, why));
    if (!ok) {
        unlink(names->fresh);
    }
    return ok;
}

/* ---- what an earlier session left ---- */

static bool adopt_finding(struct calibration *calibration, struct finding *finding,
                          struct error *why)
{
    if (findings_get(&calibration->findings, finding->name) != NULL) {
        return true;
    }
    struct finding *place =
        findings_add(&calibration->findings, finding->name, finding->axis, finding->unit, why);
    if (place != NULL) {
        *place = *finding;
        finding->points = NULL;
    }
    return place != NULL;
}

static bool adopt(struct calibration *calibration, struct calibration *left, struct error *why)
{
    static const enum fact begun[] = {FACT_DATE, FACT_GROUPS, FACT_CLOCKS_START};
    for (size_t i = 0; i < sizeof begun / sizeof begun[0]; i++) {
        provenance_set(&calibration->provenance, begun[i], "%s", left->provenance.facts[begun[i]]);
    }
    for (uint32_t i = 0; i < left->findings.count; i++) {
        if (!adopt_finding(calibration, &left->findings.all[i], why)) {
            return false;
        }
    }
    return true;
}

/* The fact that keeps this session from resuming the part; NULL if it can resume. */
static const char *difference(const struct calibration *left, const struct calibration *now)
{
    enum fact differs;
    if (strcmp(left->base, now->base) != 0) {
        return "base";
    }
    return provenance_matches(&left->provenance, &now->provenance, &differs) ? NULL
                                                                             : fact_name(differs);
}

static bool resume(const struct session *session, const struct names *names,
                   struct calibration *calibration, struct error *why)
{
    struct calibration left;
    struct error unusable;
    if (access(names->part, F_OK) != 0) {
        return true;
    }
    if (!profile_read(names->part, &left, &unusable)) {
        fprintf(session->log, "%s is not a complete profile: starting again\n", names->part);
        return true;
    }
    const char *differs = difference(&left, calibration);
    bool ok = true;
    if (differs != NULL) {
        fprintf(session->log, "%s is of another measurement (%s differs): starting again\n",
                names->part, differs);
    } else {
        fprintf(session->log, "resuming from %s\n", names->part);
        ok = adopt(calibration, &left, why);
    }
    calibration_release(&left);
    return ok;
}

/* ---- measuring ---- */

static uint32_t count_groups(const struct session *session)
{
    uint32_t count = 0;
    while (session->groups[count] != NULL) {
        count++;
    }
    return count;
}

/* The findings of a group that fails are removed. */
static bool measure_group(const struct session *session, const struct group *group,
                          struct calibration *calibration, struct error *why)
{
    struct effort effort = *session->effort;
    effort.seconds = session->seconds * group->share;
    uint32_t before = calibration->findings.count;
    if (!group->run(&effort, session->seed, &calibration->findings, why)) {
        findings_cut(&calibration->findings, before);
        return false;
    }
    provenance_add(&calibration->provenance, FACT_GROUPS, group->name);
    return true;
}

/* After a group that fails, the others still run; an interrupt ends all. */
static bool measure_groups(const struct session *session, const struct names *names,
                           struct calibration *calibration, struct error *why)
{
    uint32_t count = count_groups(session), failed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct group *group = session->groups[i];
        char text[2048];
        if (provenance_has(&calibration->provenance, FACT_GROUPS, group->name)) {
            continue;
        }
        fprintf(session->log, "%u/%u %s: %s\n", i + 1, count, group->name, group->what);
        fflush(session->log);
        if (!measure_group(session, group, calibration, why)) {
            if (measure_interrupted != 0) {
                return false;
            }
            error_format(why, text, sizeof text);
            fprintf(session->log, "%s failed: %s\n", group->name, text);
            failed++;
        } else if (!save(calibration, names, why)) {
            return false;
        }
    }
    if (failed > 0) {
        error_set(why, NULL, 0, "%u of %u groups failed", failed, count);
        return error_expect(why, "the same command again, which measures these alone");
    }
    return true;
}

static bool is_measured(const struct calibration *calibration, const char *curve)
{
    const struct finding *finding = findings_get(&calibration->findings, curve);
    return finding != NULL && finding->count > 0;
}

static bool is_any_measured(const struct calibration *calibration, const char *part)
{
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        if (strncmp(curve_kinds[id].name, part, strlen(part)) == 0 &&
            is_measured(calibration, curve_kinds[id].name)) {
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
                !is_measured(calibration, name)) {
                bool any = is_any_measured(calibration, parts[part]);
                provenance_add(provenance, FACT_NOT_MEASURED, any ? name : parts[part]);
            }
        }
    }
}

static bool finish(const struct session *session, const struct names *names,
                   struct calibration *calibration, struct error *why)
{
    state_unmeasured(calibration);
    return machine_describe(session->machine, FACT_CLOCKS_END, &calibration->provenance, why) &&
           save(calibration, names, why) &&
           (rename(names->part, session->path) == 0 || write_error(session->path, why));
}

bool session_run(const struct session *session, struct calibration *calibration, struct error *why)
{
    struct names names;
    bool ok = names_init(session->path, &names, why) && check_place(session->path, &names, why) &&
              resume(session, &names, calibration, why) &&
              measure_groups(session, &names, calibration, why) &&
              finish(session, &names, calibration, why);
    if (!ok && names.part != NULL && access(names.part, F_OK) == 0) {
        fprintf(session->log,
                "%s keeps the measurements so far: the same command resumes from there\n",
                names.part);
    }
    names_release(&names);
    return ok;
}
