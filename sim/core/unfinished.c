/* A lock belongs to an open file, not to its name. Between opening and locking, another command may
 * have published or removed the file under that name; then the name is opened again. */
#include "core/unfinished.h"

#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as the kernel follows */

/* Bytes of a path up to its last part, with the slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (int)(slash + 1 - path) : 0;
}

/* The descriptor that a path names directly; -1 if it names none. */
static int descriptor_of(const char *path)
{
    char folder[PATH_MAX], *end;
    const char *name = path + folder_length(path);
    long number = strtol(name, &end, 10);
    snprintf(folder, sizeof folder, "%.*s", folder_length(path), path);
    char real[PATH_MAX], own[PATH_MAX];
    bool in_own = realpath(folder, real) != NULL && realpath("/proc/self/fd", own) != NULL &&
                  strcmp(real, own) == 0;
    return in_own && end > name && *end == '\0' && number >= 0 && number <= INT_MAX ? (int)number
                                                                                    : -1;
}

/* Replace a link by its target. Returns 0, or an errno: EINVAL or ENOENT if it is no link. */
static int unfinished_follow(char path[PATH_MAX])
{
    char target[PATH_MAX], from[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) {
        return errno;
    }
    target[length] = '\0';
    strcpy(from, path);
    int written = snprintf(path, PATH_MAX, "%.*s%s", target[0] == '/' ? 0 : folder_length(from),
                           from, target);
    return written < PATH_MAX ? 0 : ENAMETOOLONG;
}

bool destination_find(const char *path, struct destination *out, struct error *why)
{
    int fault = strlen(path) < PATH_MAX ? 0 : ENAMETOOLONG;
    text_copy(out->path, PATH_MAX, path);
    out->descriptor = descriptor_of(out->path);
    for (int links = 0; fault == 0 && out->descriptor < 0; links++) {
        fault = links < MOST_LINKS ? unfinished_follow(out->path) : ELOOP;
        out->descriptor = descriptor_of(out->path);
    }
    return (fault != ELOOP && fault != ENAMETOOLONG) ||
           error_set(why, path, 0, "cannot be written: %s", strerror(fault));
}

static bool unfinished_write_error(const char *path, struct error *why)
{
    return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
}

static bool in_the_way(const struct unfinished *file, struct error *why)
{
    error_set(why, file->name, 0, "is in the way: not a file that an interrupted command left");
    return error_expect(why, "nothing under that name");
}

/* Open, lock, and only then empty the file: until then it may be another command's. Opening must not wait. */
static bool open_locked(struct unfinished *file, struct error *why)
{
    const int how = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat opened, named;
    do {
        if (file->fd >= 0) {
            close(file->fd);
        }
        file->fd = open(file->name, how, 0666);
        if (file->fd < 0) {
            bool other = errno == ELOOP || errno == ENXIO || errno == EISDIR;
            return other ? in_the_way(file, why) : unfinished_write_error(file->path, why);
        }
        if (flock(file->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            return error_set(why, file->path, 0, "is being written by another command");
        }
    } while (fstat(file->fd, &opened) != 0 || lstat(file->name, &named) != 0 ||
             opened.st_dev != named.st_dev || opened.st_ino != named.st_ino);
    if (!S_ISREG(opened.st_mode) || opened.st_nlink != 1) {
        return in_the_way(file, why); /* a file with a second name is somebody's */
    }
    return ftruncate(file->fd, 0) == 0 || unfinished_write_error(file->path, why);
}

static void unfinished_release(struct unfinished *file)
{
    if (file->fd >= 0) {
        close(file->fd);
    }
    free(file->path);
    free(file->name);
    *file = (struct unfinished){.fd = -1};
}

bool unfinished_open(const char *path, struct unfinished *out, struct error *why)
{
    struct stat info;
    struct destination to;
    *out = (struct unfinished){.fd = -1};
    if (!destination_find(path, &to, why)) {
        return false;
    }
    if (to.descriptor >= 0 || (lstat(to.path, &info) == 0 && !S_ISREG(info.st_mode))) {
        return error_set(why, path, 0, "exists and is not a regular file");
    }
    out->path = text_duplicate(to.path, why);
    if (out->path == NULL || asprintf(&out->name, "%s" UNFINISHED_SUFFIX, to.path) < 0) {
        out->name = NULL;
        unfinished_release(out);
        return error_set(why, path, 0, "out of memory");
    }
    if (!open_locked(out, why)) {
        unfinished_release(out);
        return false;
    }
    return true;
}

bool unfinished_publish(struct unfinished *file, bool durable, struct error *why)
{
    bool ok = ((!durable || fsync(file->fd) == 0) && rename(file->name, file->path) == 0) ||
              unfinished_write_error(file->path, why);
    if (ok) {
        unfinished_release(file);
    } else {
        unfinished_discard(file);
    }
    return ok;
}

void unfinished_discard(struct unfinished *file)
{
    if (file->name != NULL) {
        unlink(file->name);
        unfinished_release(file);
    }
}
