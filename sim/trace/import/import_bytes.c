/* A zstd file is recognised by its first four bytes; it may hold several frames. */
#include "trace/import/import_bytes.h"

#include "trace/format/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

bool import_can_read_twice(const char *path, struct error *why)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode) ||
           error_set(why, path, 0, "not a regular file, but it must be read twice");
}

bool import_bytes_open(struct import_bytes *bytes, const char *path, struct error *why)
{
    uint8_t magic[4];
    bytes->path = path;
    bytes->stream = NULL;
    bytes->hint = 0;
    bytes->in = (ZSTD_inBuffer){.src = bytes->block};
    bytes->file = fopen(path, "rb");
    if (bytes->file == NULL) {
        return error_set(why, path, 0, "cannot open: %s", strerror(errno));
    }
    bool is_zstd = fread(magic, 1, sizeof magic, bytes->file) == sizeof magic &&
                   load_u32(magic) == ZSTD_MAGICNUMBER;
    if (fseek(bytes->file, 0, SEEK_SET) != 0) {
        error_set(why, path, 0, "cannot be read twice: %s", strerror(errno));
        goto fail;
    }
    if (is_zstd && (bytes->stream = ZSTD_createDStream()) == NULL) {
        error_set(why, path, 0, "out of memory");
        goto fail;
    }
    return true;
fail:
    fclose(bytes->file);
    return false;
}

void import_bytes_close(struct import_bytes *bytes)
{
    ZSTD_freeDStream(bytes->stream);
    fclose(bytes->file);
}

static bool read_file(struct import_bytes *bytes, void *into, size_t size, size_t *got,
                      struct error *why)
{
    *got = fread(into, 1, size, bytes->file);
    return !ferror(bytes->file) ||
           error_set(why, bytes->path, 0, "cannot read: %s", strerror(errno));
}

/* Refill the compressed block; `*more` tells whether the file had more. */
static bool refill(struct import_bytes *bytes, bool *more, struct error *why)
{
    bytes->in.pos = 0;
    if (!read_file(bytes, bytes->block, IMPORT_BLOCK, &bytes->in.size, why)) {
        return false;
    }
    *more = bytes->in.size > 0;
    return *more || bytes->hint == 0 ||
           error_set(why, bytes->path, 0, "the compressed file ends early");
}

bool import_bytes_read(struct import_bytes *bytes, void *into, size_t size, size_t *got,
                       struct error *why)
{
    if (bytes->stream == NULL) {
        return read_file(bytes, into, size, got, why);
    }
    ZSTD_outBuffer out = {.dst = into, .size = size};
    bool more = true;
    while (out.pos < size && more) {
        size_t moved = out.pos + bytes->in.pos;
        size_t hint = ZSTD_decompressStream(bytes->stream, &out, &bytes->in);
        if (ZSTD_isError(hint)) {
            return error_set(why, bytes->path, 0, "zstd: %s", ZSTD_getErrorName(hint));
        }
        if (out.pos + bytes->in.pos > moved) {
            bytes->hint = hint; /* a call that does nothing always asks for a new frame */
        } else if (!refill(bytes, &more, why)) {
            return false;
        }
    }
    *got = out.pos;
    return true;
}
