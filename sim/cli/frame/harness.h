/* The harness: the program that measures, which stands beside this one and may need CUDA where this
 * one never does. It has the same commands by the same rows, so that help and errors are the same
 * here and there. */
#ifndef CLI_FRAME_HARNESS_H
#define CLI_FRAME_HARNESS_H

#include "cli/frame/arguments.h"

/* Become the harness that knows the GPU, or with `host` or where that one was not built, the one
 * that knows only the host, which says what is missing. Returns only when neither can be run. */
bool harness_become(const struct arguments *arguments, bool host, struct error *why);

/* Run a command of the harness, with one operand, for what it prints: `*out`, the caller's to free.
 * Which harness, as with harness_become(). */
bool harness_read(const char *command, const char *operand, bool host, char **out,
                  struct error *why);

#endif
