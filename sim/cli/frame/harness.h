/* The harness: the program that measures. It lies beside this program and may need CUDA, which this
 * program never does. It has the same commands from the same rows, so help and errors are the same. */
#pragma once

#include "cli/frame/arguments.h"

/* Replace this process by the harness for the GPU; with `host`, or if that one was not built, by
 * the harness for the host alone, which says what is missing. Returns only if neither can be run. */
bool harness_become(const struct arguments *arguments, bool host, struct error *why);

/* Run a command of the harness with one operand. The caller frees what it prints, `*out`. */
bool harness_read(const char *command, const char *operand, bool host, char **out,
                  struct error *why);

/* Run another program to its end and return what it prints. */

/* Run the program at `path`, or of this name on the PATH, with `words` (words[0] is its name; NULL ends
 * them). `*out` gets its standard output, which the caller frees. Fails unless it exits with 0. What it says
 * on standard error is its own, and of a `quiet` one is passed on only then. */
bool child_read(const char *path, const char *const *words, bool quiet, char **out,
                struct error *why);
