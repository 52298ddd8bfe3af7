/* Where results go: a write that did not arrive is an error, and a file that a command makes
 * appears under its name only when it is whole. */
#ifndef CLI_FRAME_OUTPUT_H
#define CLI_FRAME_OUTPUT_H

#include "base/error.h"

#include <stdio.h>

/* Write out what is buffered. `name` is what messages call `out`. */
bool output_flush(FILE *out, const char *name, struct error *why);

/* A file in the making, beside the one that it is to replace. */
struct output {
    FILE *file;
    char *path; /* as the user wrote it */
    char *
        temporary; /* NULL: `path` is no plain file (a pipe, /dev/stdout) and is written as it is */
};

/* Open for writing; then either commit or discard it, which close it. A commit that fails leaves
 * nothing behind, and what was at `path` as it was. */
bool output_open(const char *path, struct output *out, struct error *why);
bool output_commit(struct output *output, struct error *why);
void output_discard(struct output *output);

#endif
