#include "cli/frame/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_error(const char *name, int number, struct error *why)
{
    return error_set(why, name, 0, "cannot be written%s%s", number != 0 ? ": " : "",
                     number != 0 ? strerror(number) : "");
}

bool output_flush(FILE *out, const char *name, struct error *why)
{
    errno = 0;
    return (fflush(out) == 0 && !ferror(out)) || write_error(name, errno, why);
}

static bool open_file(struct output *output, struct error *why)
{
    struct stat info;
    bool plain = stat(output->path, &info) != 0 || S_ISREG(info.st_mode);
    if (plain && asprintf(&output->temporary, "%s.%ld.part", output->path, (long)getpid()) < 0) {
        output->temporary = NULL;
        return error_set(why, output->path, 0, "out of memory");
    }
    output->file = fopen(plain ? output->temporary : output->path, "w");
    return output->file != NULL || write_error(output->path, errno, why);
}

static void output_release(struct output *output)
{
    free(output->path);
    free(output->temporary);
    *output = (struct output){.file = NULL};
}

bool output_open(const char *path, struct output *output, struct error *why)
{
    *output = (struct output){.path = strdup(path)};
    if (output->path == NULL) {
        return error_set(why, path, 0, "out of memory");
    }
    if (!open_file(output, why)) {
        output_release(output);
        return false;
    }
    return true;
}

void output_discard(struct output *output)
{
    fclose(output->file);
    if (output->temporary != NULL) {
        unlink(output->temporary);
    }
    output_release(output);
}

bool output_commit(struct output *output, struct error *why)
{
    if (!output_flush(output->file, output->path, why)) {
        output_discard(output);
        return false;
    }
    bool ok = (fclose(output->file) == 0 &&
               (output->temporary == NULL || rename(output->temporary, output->path) == 0)) ||
              write_error(output->path, errno, why);
    if (!ok && output->temporary != NULL) {
        unlink(output->temporary);
    }
    output_release(output);
    return ok;
}
