/* Where the data that ships with the program lives: models, hardware profiles,
 * system presets, traces, plot scripts.
 *
 * $SPILLWAY_DATA names the folder of all of them. Without it, each folder above the program
 * is tried, nearest first: itself (as built, build/spillway → the repository), then its
 * share/spillway (as installed, PREFIX/bin → PREFIX/share/spillway), then its lib/spillway (as a
 * Python wheel installs it: an environment has a lib, and keeps no empty share behind).
 */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

/* The data folder, without a final slash. It is looked up once and stays the same for the life of
 * the process. NULL with `why` when no data folder is found. */
const char *find_data(struct error *why);

/* Write the path DATA/FOLDER/NAME.SUFFIX into `path`. `suffix` has no dot ("yaml"); with "" the
 * path is DATA/FOLDER/NAME. The file need not exist. */
bool find_path(const char *folder, const char *name, const char *suffix, char *path, size_t size,
               struct error *why);

/* The sorted NAMEs of all regular files DATA/FOLDER/NAME.SUFFIX that are not hidden; none if there is no
 * such folder. The caller frees each name and the array. */
bool find_names(const char *folder, const char *suffix, char ***names, size_t *count,
                struct error *why);

/* Was the file DATA/FOLDER/NAME left out of a package that must be small? DATA/FOLDER/ELSEWHERE has a
 * line for each such file, "NAME BYTES". Writes its name, which `name` may spell in any way
 * (name_same()), into `out`, and its size. */
bool find_left_out(const char *folder, const char *name, char *out, size_t size, uint64_t *bytes);
