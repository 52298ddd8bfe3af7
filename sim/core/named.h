/* Files that ship with the program are found by name; any file can be given by its path.
 *
 * Models, machines and their parts, systems, traces and workloads are all looked up here, so that a name may
 * be spelt as people spell it. It means, in this order, the file of exactly this name; the one whose name
 * differs in case and separators only (name_same()); and the one that lists it among its further names, as
 * "a100" or a Hugging Face id, whole or without its organisation. No two files of a kind share a spelling
 * (tests/unit/core/test_named.c).
 *
 * Where a name is kept (in a scenario, a result, a database), it is the canonical one: that of the file. */
#pragma once

#include "core/error.h"

/* What names of one kind stand for: DATA/FOLDER/NAME.SUFFIX. */
struct named_kind {
    const char *what; /* "model", for messages */
    const char *folder, *suffix;
    const char *also; /* key of such a file with its further names, a list; NULL: it has none */
    const char *list; /* the command that prints all names; NULL: none does */
    const char *path; /* what a path leads to: "a config.json" */
};
extern const struct named_kind named_model, named_machine, named_system, named_trace,
    named_trace_profile, named_workload;

/* The same for a part of a machine, such as "gpu"; all of them, then NULL. */
#define PART(id, name, folder, also) extern const struct named_kind named_##name;
#include "core/machine_parts.def"
extern const struct named_kind *const named_parts[];

enum { NAMED_SIZE = 256 }; /* bytes of a canonical name, with the final 0 */

/* Write the canonical name of the file that `name` means. Returns false if there is none, or for a path. */
bool named_canonical(const struct named_kind *kind, const char *name, char out[NAMED_SIZE]);

/* Write the path of the file that `name` means into `path`. A path (named_by_path()) that holds a
 * slash need not exist. Any other name must mean a shipped file; the message names the nearest
 * ones. `file` and `line` say where the name stood (as in error_set()). */
bool named_file(const struct named_kind *kind, const char *name, const char *file, int line,
                char *path, size_t size, struct error *why);

/* Add the names of these kinds (ending with NULL) nearest to `name`, and the command that prints all. */
bool named_expect(const struct named_kind *const *kinds, const char *name, struct error *why);

/* Is this name a path: does it hold a slash or end in .SUFFIX? */
bool named_by_path(const char *name, const char *suffix);

/* Is `name` like a Hugging Face id, "ORGANISATION/NAME", and no path to a file of this suffix? */
bool named_id(const char *name, const char *suffix);

/* Write a Hugging Face id among the further names of the file that `name` means into `out`: the
 * first whose last part ends with `name`, in any case, or else begins with it, or else contains
 * it, or else the first. Returns false if there is none (also for a path). */
bool named_first_id(const struct named_kind *kind, const char *name, char out[NAMED_SIZE]);

/* The same among the further names of file `canonical`; false if none contains the last part of `name`. */
bool named_id_of(const struct named_kind *kind, const char *canonical, const char *name,
                 char out[NAMED_SIZE]);

/* Resolve `path` into `out`. A relative path starts at the folder of `file`, which states it, or, if typed
 * (no file, or "--set"), at the working directory. Returns false when `out` is too small. */
bool named_from(const char *path, const char *file, char *out, size_t size);

/* ---- the data that ships with the program ----
 *
 * $SPILLWAY_DATA names its folder. Without it, each folder above the program
 * is tried, nearest first: itself (as built, build/spillway → the repository), then its
 * share/spillway (as installed, PREFIX/bin → PREFIX/share/spillway), then its lib/spillway (as a
 * Python wheel installs it: an environment has a lib, and keeps no empty share behind). */

/* The data folder, without a final slash; the same for the life of the process. NULL: none is found. */
const char *find_data(struct error *why);

/* Write the path DATA/FOLDER/NAME.SUFFIX; with a suffix of "" DATA/FOLDER/NAME. The file need not exist. */
bool find_path(const char *folder, const char *name, const char *suffix, char *path, size_t size,
               struct error *why);

/* The sorted NAMEs of regular files DATA/FOLDER/NAME.SUFFIX. The caller frees each name and the array. */
bool find_names(const char *folder, const char *suffix, char ***names, size_t *count,
                struct error *why);
