#include "calibrate/disk/drive.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A file system in a line of mountinfo: "36 35 254:0 / / rw - ext4 /dev/vda rw". */
struct mounted {
    char type[64], source[128];
};

static bool drive_read_line(const char *line, unsigned major, unsigned minor, struct mounted *out)
{
    unsigned at[2];
    const char *after = strstr(line, " - ");
    return after != NULL && sscanf(line, "%*d %*d %u:%u", &at[0], &at[1]) == 2 && at[0] == major &&
           at[1] == minor && sscanf(after, " - %63s %127s", out->type, out->source) == 2;
}

static bool drive_find(unsigned major, unsigned minor, struct mounted *out)
{
    char line[4096];
    bool found = false;
    FILE *file = fopen("/proc/self/mountinfo", "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = drive_read_line(line, major, minor, out);
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

/* The model that the drive states, or its driver. A partition's drive is the folder above it. */
static bool drive_read_model(const char *block, char model[64])
{
    static const char *const paths[] = {"device/model", "../device/model"};
    char path[PATH_MAX], target[PATH_MAX];
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(path, sizeof path, "%s/%s", block, paths[i]);
        FILE *file = fopen(path, "r");
        bool read = file != NULL && fscanf(file, " %63[^\n]", model) == 1;
        if (file != NULL) {
            fclose(file);
        }
        if (read) {
            model[strcspn(model, "\n")] = '\0';
            return true;
        }
    }
    snprintf(path, sizeof path, "%s/device/driver", block);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(target, '/');
    snprintf(model, 64, "%.63s", name != NULL ? name + 1 : "");
    return model[0] != '\0';
}

void drive_describe(int file, char *text, size_t size)
{
    struct stat info;
    struct mounted mounted = {"an unnamed file system", ""};
    char block[64], model[64];
    if (fstat(file, &info) != 0 || !drive_find(major(info.st_dev), minor(info.st_dev), &mounted)) {
        snprintf(text, size, "%s", mounted.type);
        return;
    }
    const char *name = strrchr(mounted.source, '/');
    snprintf(block, sizeof block, "/sys/dev/block/%u:%u", major(info.st_dev), minor(info.st_dev));
    int used = snprintf(text, size, "%s on %s", mounted.type, name ? name + 1 : mounted.source);
    if (drive_read_model(block, model) && used > 0 && (size_t)used < size) {
        snprintf(text + used, size - (size_t)used, " (%s)", model);
    }
}
