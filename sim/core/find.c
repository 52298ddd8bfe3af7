/* A data folder is recognised by two of its folders. */
#include "core/find.h"

#include "core/array.h"
#include "core/name.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char data[PATH_MAX]; /* "" if there is none; data_error then says why */
static struct error data_error;

static bool is_folder(const char *base, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/%s", base, name);
    return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

static bool holds_data(const char *folder)
{
    return is_folder(folder, "models") && is_folder(folder, "hwprofiles");
}

/* Is it this folder, or one in which an installation has the data? Writes which. */
static bool find_installed(const char *folder)
{
    static const char *const places[] = {"", "/share/spillway", "/lib/spillway"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int written = snprintf(data, sizeof data, "%s%s", folder, places[i]);
        if (written > 0 && (size_t)written < sizeof data && holds_data(data)) {
            return true;
        }
    }
    data[0] = '\0';
    return false;
}

/* Try the folders above the program, nearest first. Leaves `data` empty when none fits. */
static void find_above_program(void)
{
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    for (char *slash; (slash = strrchr(folder, '/')) != NULL;) {
        *slash = '\0';
        if (find_installed(folder)) {
            return;
        }
    }
}

static void find_once(void)
{
    const char *given = getenv("SPILLWAY_DATA");
    if (given == NULL || given[0] == '\0') {
        find_above_program();
        if (data[0] == '\0') {
            error_set(&data_error, NULL, 0, "no data folder near the program");
            error_expect(&data_error,
                         "the folder with 'models' and 'hwprofiles' in $SPILLWAY_DATA");
        }
        return;
    }
    size_t length = strlen(given);
    while (length > 1 && given[length - 1] == '/') {
        length--;
    }
    if (length < sizeof data && holds_data(given)) {
        memcpy(data, given, length);
    } else {
        error_usage(&data_error, NULL, 0, "$SPILLWAY_DATA is '%.150s', which is not a data folder",
                    given);
        error_expect(&data_error, "a folder with 'models' and 'hwprofiles'");
    }
}

const char *find_data(struct error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_once);
    if (data[0] == '\0') {
        *why = data_error;
        return NULL;
    }
    return data;
}

bool find_path(const char *folder, const char *name, const char *suffix, char *path, size_t size,
               struct error *why)
{
    const char *base = find_data(why);
    if (base == NULL) {
        return false;
    }
    int length = snprintf(path, size, "%s/%s/%s%s%s", base, folder, name,
                          suffix[0] != '\0' ? "." : "", suffix);
    return (length > 0 && (size_t)length < size) ||
           error_set(why, NULL, 0, "the path of '%.100s' in '%s' is too long", name, folder);
}

/* Length of NAME in NAME.SUFFIX, 0 when `file` is hidden or has another suffix. */
static size_t find_name_length(const char *file, const char *suffix)
{
    size_t length = strlen(file);
    size_t tail = suffix[0] != '\0' ? strlen(suffix) + 1 : 0;
    if (file[0] == '.' || length <= tail) {
        return 0;
    }
    const char *dot = file + length - tail;
    return tail == 0 || (dot[0] == '.' && strcmp(dot + 1, suffix) == 0) ? length - tail : 0;
}

static bool append_name(char ***names, size_t *count, size_t *capacity, const char *file,
                        size_t length, struct error *why)
{
    if (!array_reserve(names, capacity, *count + 1, sizeof **names, why)) {
        return false;
    }
    char *name = strndup(file, length);
    if (name == NULL) {
        return error_set(why, NULL, 0, "out of memory");
    }
    (*names)[(*count)++] = name;
    return true;
}

/* Can it be read? A FIFO of a fitting name would be waited for. */
static bool find_is_listed(DIR *folder, const char *name, const char *suffix)
{
    struct stat status;
    return fstatat(dirfd(folder), name, &status, 0) == 0 &&
           (S_ISREG(status.st_mode) || (S_ISDIR(status.st_mode) && suffix[0] == '\0'));
}

static bool find_read_names(DIR *folder, const char *suffix, char ***names, size_t *count,
                            struct error *why)
{
    size_t capacity = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = find_name_length(entry->d_name, suffix);
        if (length > 0 && find_is_listed(folder, entry->d_name, suffix) &&
            !append_name(names, count, &capacity, entry->d_name, length, why)) {
            return false;
        }
    }
    return true;
}

static int find_compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool find_names(const char *folder, const char *suffix, char ***names, size_t *count,
                struct error *why)
{
    char path[PATH_MAX];
    *names = NULL;
    *count = 0;
    if (!find_path(folder, "", "", path, sizeof path, why)) {
        return false;
    }
    DIR *opened = opendir(path);
    if (opened == NULL && errno == ENOENT) { /* no such files ship */
        return true;
    }
    if (opened == NULL) {
        return error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    bool done = find_read_names(opened, suffix, names, count, why);
    closedir(opened);
    if (!done) {
        for (size_t i = 0; i < *count; i++) {
            free((*names)[i]);
        }
        free(*names);
        *names = NULL;
        *count = 0;
        return false;
    }
    if (*count > 0) {
        qsort(*names, *count, sizeof **names, find_compare_names);
    }
    return true;
}

bool find_left_out(const char *folder, const char *name, char *out, size_t size, uint64_t *bytes)
{
    char path[PATH_MAX], line[PATH_MAX], found[256];
    struct error unread;
    bool good = false;
    FILE *list =
        find_path(folder, "ELSEWHERE", "", path, sizeof path, &unread) ? fopen(path, "r") : NULL;
    while (list != NULL && !good && fgets(line, sizeof line, list) != NULL) {
        good = sscanf(line, "%255s %" SCNu64, found, bytes) == 2 && name_same(found, name);
    }
    if (list != NULL) {
        fclose(list);
    }
    return good && snprintf(out, size, "%s", found) < (int)size;
}
