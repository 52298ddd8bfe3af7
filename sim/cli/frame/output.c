#include "cli/frame/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/quote.h"

static bool output_write_error(const char *name, int number, struct error *why)
{
    return error_set(why, name, 0, "cannot be written%s%s", number != 0 ? ": " : "",
                     number != 0 ? strerror(number) : "");
}

bool output_flush(FILE *out, const char *name, struct error *why)
{
    errno = 0;
    return (fflush(out) == 0 && !ferror(out)) || output_write_error(name, errno, why);
}

/* A stream with its own descriptor: an unfinished file stays locked until it is published. NULL: errno. */
static FILE *open_stream(int descriptor)
{
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && (fcntl(copy, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        close(copy);
        errno = EBADF;
        return NULL;
    }
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (file == NULL && copy >= 0) {
        close(copy);
    }
    return file;
}

/* Open a descriptor of this process, a plain file or, as a shell's `>` would, what is neither. */
static bool open_destination(const struct destination *to, struct output *output, struct error *why)
{
    struct stat info;
    if (to->descriptor >= 0) {
        output->file = open_stream(to->descriptor);
        return true;
    }
    if (stat(to->path, &info) == 0 && !S_ISREG(info.st_mode)) {
        output->file = fopen(to->path, "w");
        return true;
    }
    return unfinished_open(to->path, &output->unfinished, why);
}

static void output_release(struct output *output)
{
    free(output->path);
    *output = (struct output){.file = NULL};
}

bool output_open(const char *path, struct output *output, struct error *why)
{
    struct destination to;
    *output = (struct output){.path = strdup(path)};
    if (output->path == NULL) {
        return error_set(why, path, 0, "out of memory");
    }
    bool good = destination_find(path, &to, why) && open_destination(&to, output, why);
    if (good && output->unfinished.name != NULL) {
        output->file = open_stream(output->unfinished.fd);
    }
    if (good && output->file == NULL) {
        good = output_write_error(path, errno, why);
        unfinished_discard(&output->unfinished);
    }
    if (!good) {
        output_release(output);
    }
    return good;
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
    bool ok = fclose(output->file) == 0 || output_write_error(output->path, errno, why);
    if (ok && output->unfinished.name != NULL) {
        ok = unfinished_publish(&output->unfinished, false, why);
    }
    unfinished_discard(&output->unfinished);
    output_release(output);
    return ok;
}

bool output_check(const char *path, struct error *why)
{
    struct output output;
    if (!output_open(path, &output, why)) {
        return false;
    }
    output_discard(&output);
    return true;
}

/* A stream, and the bytes of a character that is not yet whole. */
struct visible {
    FILE *out;
    char kept[5];
    size_t count;
};

static void put_kept(struct visible *visible)
{
    visible->kept[visible->count] = '\0';
    visible->count = 0;
    quote_write(QUOTE_LINE, visible->kept, visible->out);
}

static void put_byte(struct visible *visible, unsigned char byte)
{
    bool plain = (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';
    if (visible->count > 0 && (byte & 0xc0) != 0x80) {
        put_kept(visible);
    }
    if (plain) {
        putc_unlocked(byte, visible->out);
        return;
    }
    visible->kept[visible->count++] = (char)byte;
    unsigned char lead = (unsigned char)visible->kept[0];
    if (visible->count >= (lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4)) {
        put_kept(visible);
    }
}

static ssize_t write_visible(void *cookie, const char *bytes, size_t size)
{
    struct visible *visible = cookie;
    for (size_t i = 0; i < size; i++) {
        put_byte(visible, (unsigned char)bytes[i]);
    }
    return fflush(visible->out) == 0 && !ferror(visible->out) ? (ssize_t)size : 0;
}

static FILE *visible_stream(FILE *out, int buffer, struct visible *visible)
{
    *visible = (struct visible){.out = out};
    FILE *stream = fopencookie(visible, "w", (cookie_io_functions_t){.write = write_visible});
    if (stream == NULL) {
        return out;
    }
    setvbuf(out, NULL, _IOFBF, BUFSIZ);
    setvbuf(stream, NULL, buffer, BUFSIZ);
    return stream;
}

void visible_streams(void)
{
    static struct visible out, complaints;
    stdout = visible_stream(stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, &out);
    stderr = visible_stream(stderr, _IONBF, &complaints);
}
