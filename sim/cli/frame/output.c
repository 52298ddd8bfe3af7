#include "cli/frame/output.h"

#include <errno.h>
#include <fcntl.h>
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

/* The stream has a descriptor of its own: closing it says whether all was written, and the
 * unfinished file stays locked until it is published. */
static FILE *open_stream(const struct unfinished *unfinished)
{
    int copy = fcntl(unfinished->fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (file == NULL && copy >= 0) {
        close(copy);
    }
    return file;
}

static bool open_file(struct output *output, struct error *why)
{
    struct stat info;
    bool plain = stat(output->path, &info) != 0 || S_ISREG(info.st_mode);
    if (plain && !unfinished_open(output->path, &output->unfinished, why)) {
        return false;
    }
    output->file = plain ? open_stream(&output->unfinished) : fopen(output->path, "w");
    if (output->file == NULL) {
        write_error(output->path, errno, why);
        unfinished_discard(&output->unfinished);
    }
    return output->file != NULL;
}

static void output_release(struct output *output)
{
    free(output->path);
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
    unfinished_discard(&output->unfinished);
    output_release(output);
}

bool output_commit(struct output *output, struct error *why)
{
    if (!output_flush(output->file, output->path, why)) {
        output_discard(output);
        return false;
    }
    bool ok = fclose(output->file) == 0 || write_error(output->path, errno, why);
    if (ok && output->unfinished.name != NULL) {
        ok = unfinished_publish(&output->unfinished, false, why);
    }
    unfinished_discard(&output->unfinished);
    output_release(output);
    return ok;
}
