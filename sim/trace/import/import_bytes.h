/* The bytes of a file, decompressed where it is a zstd file. Internal to this folder. */
#ifndef TRACE_IMPORT_IMPORT_BYTES_H
#define TRACE_IMPORT_IMPORT_BYTES_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <zstd.h>

enum { IMPORT_BLOCK = 1 << 16 };

struct import_bytes {
    const char *path; /* the caller's */
    FILE *file;
    ZSTD_DStream *stream; /* NULL: not compressed */
    size_t hint;          /* of the decompressor: 0 between frames */
    ZSTD_inBuffer in;
    uint8_t block[IMPORT_BLOCK]; /* compressed */
};

/* The reader is large and the caller's. A failed open leaves nothing to close. */
bool import_bytes_open(struct import_bytes *bytes, const char *path, struct error *why);
void import_bytes_close(struct import_bytes *bytes);

/* Up to `size` bytes; `*got` is smaller only where the file ends. */
bool import_bytes_read(struct import_bytes *bytes, void *into, size_t size, size_t *got,
                       struct error *why);

#endif
