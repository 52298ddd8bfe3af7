#include "cli/frame/visible.h"

#include "core/quote.h"

#include <stdio.h>
#include <unistd.h>

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
