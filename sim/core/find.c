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

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A FIFO of a fitting name would be waited for. */
static bool is_regular(const char *folder, const char *file)
{
    char path[PATH_MAX];
    struct stat status;
    int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    return (size_t)length < sizeof path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool find_names(const char *folder, const char *suffix, char ***names, size_t *count,
                struct error *why)
{
    char path[PATH_MAX];
    struct dirent **files;
    *count = 0;
    *names = NULL;
    if (!find_path(folder, "", "", path, sizeof path, why)) {
        return false;
    }
    int found = scandir(path, &files, NULL, NULL);
    if (found < 0) { /* no such files may ship */
        return errno == ENOENT || error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    *names = array_zeroed((size_t)found, sizeof **names, why);
    for (int i = 0; i < found; i++) {
        char *file = files[i]->d_name, *dot = strrchr(file, '.');
        if (*names != NULL && dot != NULL && strcmp(dot + 1, suffix) == 0 && file[0] != '.' &&
            is_regular(path, file)) {
            (*names)[*count] = strndup(file, (size_t)(dot - file));
            *count += (*names)[*count] != NULL;
        }
        free(files[i]);
    }
    free(files);
    if (*names != NULL) {
        qsort(*names, *count, sizeof **names, compare_names);
    }
    return *names != NULL;
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
