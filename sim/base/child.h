/* Another program, run to its end for what it prints. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/error.h"

/* Run the file `path` with these words (words[0] its name; NULL behind the last) and wait for it.
 * What it printed is in `*out`, ended by a 0, the caller's to free. Fails, with nothing to free,
 * where it cannot be run, was killed, or ended with another status than 0: then `why` is what it
 * complained of, with its status. */
bool child_read(const char *path, const char *const *words, char **out, struct error *why);

#endif
