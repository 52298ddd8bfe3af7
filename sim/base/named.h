/* Files that ship with the program, said by name; or any other, said by path.
 *
 * Models, profiles, systems and traces are all looked up this way, so that a wrong name gets
 * the same answer everywhere: what there is, and the nearest. */
#ifndef BASE_NAMED_H
#define BASE_NAMED_H

#include "base/error.h"

#include <stddef.h>

/* The path of `name` into `path`: itself when it holds a slash or ends in .SUFFIX (whether or not
 * the file exists), else DATA/FOLDER/NAME.SUFFIX, which must exist. `what` names the kind of thing
 * in the message; `file` and `line` are where the name stood (as in error_set()). */
bool named_file(const char *name, const char *folder, const char *suffix, const char *what,
                const char *file, int line, char *path, size_t size, struct error *why);

/* Is this name a path, by a slash or by ending in .SUFFIX? */
bool named_by_path(const char *name, const char *suffix);

/* A relative path is meant from the folder of the file that says it, or, where it was typed (`file`
 * is NULL or begins with "--"), from where the program runs. Into `out`; false where it has no
 * room.
 */
bool named_from(const char *path, const char *file, char *out, size_t size);

#endif
