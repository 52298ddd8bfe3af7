#include "calibrate/harness/session_files.h"

#include "base/unfinished.h"
#include "hardware/measured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_error(const char *path, struct error *why)
{
    return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
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
static bool check_place(const struct session_files *files, struct error *why)
{
    struct stat info;
    if (stat(files->profile, &info) == 0 && !S_ISREG(info.st_mode)) {
        return error_set(why, files->profile, 0, "cannot be replaced: it is not a regular file");
    }
    if (!may_replace(files->profile, why)) {
        return false;
    }
    FILE *file = fopen(files->fresh, "w");
    if (file == NULL) {
        return write_error(files->profile, why);
    }
    fclose(file);
    unlink(files->fresh);
    return true;
}

bool session_files_init(const char *profile, struct session_files *files, struct error *why)
{
    *files = (struct session_files){.profile = profile};
    if (profile[0] == '\0') {
        return error_usage(why, NULL, 0, "the name of the profile to write is empty");
    }
    /* A slash marks it as a path, not as a name in the data folder. */
    const char *here = strchr(profile, '/') == NULL ? "./" : "";
    if (asprintf(&files->part, "%s%s.part", here, profile) < 0 ||
        asprintf(&files->fresh, "%s%s.part" UNFINISHED_SUFFIX, here, profile) < 0) {
        return error_set(why, profile, 0, "out of memory");
    }
    return check_place(files, why);
}

void session_files_release(struct session_files *files)
{
    free(files->part);
    free(files->fresh);
}

bool session_files_save(const struct session_files *files, const struct calibration *calibration,
                        struct error *why)
{
    return profile_save(calibration, files->fresh, why) &&
           (rename(files->fresh, files->part) == 0 || write_error(files->part, why));
}

bool session_files_finish(const struct session_files *files, struct error *why)
{
    return rename(files->part, files->profile) == 0 || write_error(files->profile, why);
}
