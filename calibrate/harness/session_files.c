#include "calibrate/harness/session_files.h"

#include "core/files.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "machine/measured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool session_files_write_error(const char *path, struct error *why)
{
    return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
}

/* True if no file is there, or if its first line says that it is a measured profile, of any format.
 * A mistyped name must not destroy a file that a person wrote. */
static bool may_replace(const char *path, struct error *why)
{
    char line[256] = "";
    struct stat info;
    if (stat(path, &info) != 0 && errno == ENOENT) {
        return true;
    }
    FILE *file = regular_open(path, why);
    if (file == NULL) {
        return false;
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

/* Find out before measuring, not minutes later, that a file cannot be written. What a killed
 * session left under the fresh file's name goes; anything else there is refused. */
static bool session_files_check_place(const struct session_files *files, struct error *why)
{
    struct unfinished fresh;
    if (!may_replace(files->profile, why) || !may_replace(files->part, why) ||
        !unfinished_open(files->part, &fresh, why)) {
        return false;
    }
    unfinished_discard(&fresh);
    return true;
}

bool session_files_init(const char *profile, struct session_files *files, struct error *why)
{
    struct destination to;
    *files = (struct session_files){.profile = NULL};
    if (profile[0] == '\0') {
        return error_usage(why, NULL, 0, "the name of the profile to write is empty");
    }
    if (!destination_find(profile, &to, why)) {
        return false;
    }
    if (to.descriptor >= 0) {
        return error_set(why, profile, 0, "is not a regular file");
    }
    profile = to.path;
    /* A slash marks it as a path, not as a name in the data folder. */
    const char *here = strchr(profile, '/') == NULL ? "./" : "";
    if ((files->profile = text_duplicate(profile, why)) == NULL ||
        asprintf(&files->part, "%s%s.part", here, profile) < 0 ||
        asprintf(&files->fresh, "%s%s.part" UNFINISHED_SUFFIX, here, profile) < 0) {
        return error_set(why, profile, 0, "out of memory");
    }
    return session_files_check_place(files, why);
}

void session_files_release(struct session_files *files)
{
    free(files->profile);
    free(files->part);
    free(files->fresh);
}

bool session_files_save(const struct session_files *files, const struct calibration *calibration,
                        struct error *why)
{
    return profile_save(calibration, files->fresh, why) &&
           (rename(files->fresh, files->part) == 0 || session_files_write_error(files->part, why));
}

bool session_files_finish(const struct session_files *files, struct error *why)
{
    return rename(files->part, files->profile) == 0 ||
           session_files_write_error(files->profile, why);
}
