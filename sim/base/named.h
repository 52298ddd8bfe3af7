/* Files that ship with the program are found by name; any file can be given by its path.
 *
 * Models, profiles, systems and traces are all looked up this way, so that every wrong name gets
 * the same answer: the valid names, and the nearest. */
#ifndef BASE_NAMED_H
#define BASE_NAMED_H

#include "base/error.h"

#include <stddef.h>

/* Write the path of `name` into `path`. A name that holds a slash or ends in .SUFFIX is a path, and
 * need not exist; any other stands for DATA/FOLDER/NAME.SUFFIX, which must exist. `what` names the
 * kind of file in messages; `file` and `line` say where the name stood (as in error_set()). */
bool named_file(const char *name, const char *folder, const char *suffix, const char *what,
                const char *file, int line, char *path, size_t size, struct error *why);

/* Is this name a path: does it hold a slash or end in .SUFFIX? */
bool named_by_path(const char *name, const char *suffix);

/* Resolve `path` into `out`. A relative path starts at the folder of `file`, which states it; a
 * typed one (`file` is NULL or begins with "--") starts at the working directory. Returns false
 * when `out` is too small. */
bool named_from(const char *path, const char *file, char *out, size_t size);

#endif
