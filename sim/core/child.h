/* Run another program to its end and return what it prints. */
#pragma once

#include "core/error.h"

/* Run the program at `path` with the arguments `words` (words[0] is its name; NULL ends the list)
 * and wait for it. `*out` gets its standard output, ended by a 0; the caller frees it. Fails when
 * the program cannot be run, is killed, or exits with a status other than 0: `why` then holds its
 * status and what it wrote to standard error, and there is nothing to free. */
bool child_read(const char *path, const char *const *words, char **out, struct error *why);
