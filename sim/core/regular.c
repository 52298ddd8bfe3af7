#include "core/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *regular_open(const char *path, struct error *why)
{
    struct stat info;
    int opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool regular = opened >= 0 && fstat(opened, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = regular ? fdopen(opened, "rb") : NULL;
    if (file == NULL && opened >= 0 && !regular) {
        error_set(why, path, 0, "is not a regular file");
    } else if (file == NULL) {
        error_set(why, path, 0, "cannot be opened: %s", strerror(errno));
    }
    if (file == NULL && opened >= 0) {
        close(opened);
    }
    return file;
}
