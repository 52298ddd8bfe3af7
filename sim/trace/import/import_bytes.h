/* The bytes of a file, decompressed if it is a zstd file. Internal to this folder. */
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
    size_t hint;          /* from the decompressor: 0 between frames */
    ZSTD_inBuffer in;
    uint8_t block[IMPORT_BLOCK]; /* compressed */
};

/* A pipe can be read only once. */
bool import_can_read_twice(const char *path, struct error *why);

/* The caller owns the reader, which is large. A failed open leaves nothing to close. */
bool import_bytes_open(struct import_bytes *bytes, const char *path, struct error *why);
void import_bytes_close(struct import_bytes *bytes);

/* Read up to `size` bytes; `*got` is smaller only at the end of the file. */
bool import_bytes_read(struct import_bytes *bytes, void *into, size_t size, size_t *got,
                       struct error *why);

#endif
