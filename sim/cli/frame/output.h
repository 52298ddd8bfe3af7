/* Output of results. A file appears under its name only when it is complete. */
#pragma once

#include <stdio.h>

#include "core/unfinished.h"

/* Write out the buffer of `out`; messages call it `name`. */
bool output_flush(FILE *out, const char *name, struct error *why);

/* A file being written, beside the one that it will replace (core/unfinished.h). */
struct output {
    FILE *file;
    char *path;                   /* as the user wrote it */
    struct unfinished unfinished; /* zeroed: `path` is not a plain file (a pipe, /dev/stdout) and is
                                     written directly */
};

/* Open for writing, then commit or discard; both close it. A commit that fails leaves no new file,
 * and an existing file at `path` unchanged. */
bool output_open(const char *path, struct output *out, struct error *why);
bool output_commit(struct output *output, struct error *why);
void output_discard(struct output *output);

/* Could a file be written at `path`? Asked before long work; what stands there is left alone. */
bool output_check(const char *path, struct error *why);

/* Standard output and error, on which a terminal obeys nothing that a name or a file says (QUOTE_LINE). */

/* Call it once, before anything is printed. Without memory the streams stay as they are. */
void visible_streams(void);
