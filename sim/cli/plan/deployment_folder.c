#include "cli/plan/deployment_folder.h"

#include "cli/frame/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark_name[] = ".spillway-deploy";
static const char mark_text[] = "--deploy of spillway made this folder, and replaces its files.\n";

static bool is_marked(int folder)
{
    struct stat mark;
    return fstatat(folder, mark_name, &mark, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(mark.st_mode);
}

static bool is_empty(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry = NULL;
    while (files != NULL && (entry = readdir(files)) != NULL &&
           (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)) {
    }
    if (files != NULL) {
        closedir(files);
    }
    return files != NULL && entry == NULL;
}

/* A descriptor of the folder, which is there; -1. */
static int open_own(const char *path, struct error *why)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || faccessat(folder, ".", W_OK | X_OK, 0) != 0) {
        error_set(why, path, 0, "cannot be a folder for files: %s", strerror(errno));
    } else if (is_marked(folder) || is_empty(folder)) {
        return folder;
    } else {
        error_set(why, path, 0, "has files that --deploy has not made");
        error_expect(why, "a new or empty folder, or one of an earlier --deploy");
    }
    if (folder >= 0) {
        close(folder);
    }
    return -1;
}

/* Make the folder unless it is there, and open it. */
static int make_own(const char *path, bool *made, struct error *why)
{
    *made = mkdir(path, 0777) == 0;
    if (!*made && errno != EEXIST) {
        error_set(why, path, 0, "cannot be a folder for files: %s", strerror(errno));
        return -1;
    }
    return open_own(path, why);
}

bool deployment_folder_check(const char *path, struct error *why)
{
    bool made;
    int folder = make_own(path, &made, why);
    if (made) {
        rmdir(path);
    }
    return folder >= 0 && close(folder) == 0;
}

int deployment_folder_open(const char *path, struct error *why)
{
    bool made;
    struct output mark;
    int folder = make_own(path, &made, why);
    if (folder < 0) {
        return -1;
    }
    if (output_open_at(folder, mark_name, &mark, why)) {
        fputs(mark_text, mark.file);
        if (output_commit(&mark, why)) {
            return folder;
        }
    }
    close(folder);
    return -1;
}
