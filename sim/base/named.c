/* A name is a file in the data folder; anything with a slash or the suffix is a path. */
#include "base/named.h"

#include "base/find.h"
#include "base/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool named_by_path(const char *name, const char *suffix)
{
    const char *dot = strrchr(name, '.');
    return strchr(name, '/') != NULL || (dot != NULL && strcmp(dot + 1, suffix) == 0);
}

static bool unknown_name(const char *name, const char *folder, const char *suffix, const char *what,
                         const char *file, int line, struct error *why)
{
    char **names;
    size_t count;
    if (!find_names(folder, suffix, &names, &count, why)) {
        return false;
    }
    const char **list = calloc(count + 1, sizeof *list);
    error_input(why, file, line, "unknown %s '%.100s'", what, name);
    if (list != NULL) {
        for (size_t i = 0; i < count; i++) {
            list[i] = names[i];
        }
        name_expect(name, list, why);
    }
    free(list);
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
    return false;
}

bool named_file(const char *name, const char *folder, const char *suffix, const char *what,
                const char *file, int line, char *path, size_t size, struct error *why)
{
    if (named_by_path(name, suffix)) {
        int length = snprintf(path, size, "%s", name);
        return (length > 0 && (size_t)length < size) ||
               error_input(why, file, line, "the path of this %s is too long", what);
    }
    if (name[0] == '\0') {
        return unknown_name(name, folder, suffix, what, file, line, why);
    }
    return find_path(folder, name, suffix, path, size, why) &&
           (access(path, F_OK) == 0 || unknown_name(name, folder, suffix, what, file, line, why));
}

bool named_from(const char *path, const char *file, char *out, size_t size)
{
    const char *slash = file != NULL && strncmp(file, "--", 2) != 0 ? strrchr(file, '/') : NULL;
    int folder = slash != NULL && path[0] != '/' ? (int)(slash + 1 - file) : 0;
    int length = snprintf(out, size, "%.*s%s", folder, folder > 0 ? file : "", path);
    return length >= 0 && (size_t)length < size;
}
