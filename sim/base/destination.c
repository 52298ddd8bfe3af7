#include "base/destination.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as the kernel follows */

/* Bytes of a path up to its last part, with the slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (int)(slash + 1 - path) : 0;
}

/* Is this the folder of this process's descriptors? */
static bool holds_descriptors(const char *folder)
{
    char real[PATH_MAX], own[PATH_MAX];
    return realpath(folder, real) != NULL && realpath("/proc/self/fd", own) != NULL &&
           strcmp(real, own) == 0;
}

/* The descriptor that a path names directly; -1 if it names none. */
static int descriptor_of(const char *path)
{
    char folder[PATH_MAX], *end;
    const char *name = path + folder_length(path);
    long number = strtol(name, &end, 10);
    snprintf(folder, sizeof folder, "%.*s", folder_length(path), path);
    return end > name && *end == '\0' && number >= 0 && number <= INT_MAX &&
                   holds_descriptors(folder)
               ? (int)number
               : -1;
}

/* Replace a link by its target. Returns 0, or an errno: EINVAL or ENOENT if it is no link. */
static int follow(char path[PATH_MAX])
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
        fault = links < MOST_LINKS ? follow(out->path) : ELOOP;
        out->descriptor = descriptor_of(out->path);
    }
    return (fault != ELOOP && fault != ENAMETOOLONG) ||
           error_set(why, path, 0, "cannot be written: %s", strerror(fault));
}
