/* Finds the file that the name of a profile stands for. Private to this folder. */
#pragma once

#include "core/named.h"
#include "core/node.h"

#include <stddef.h>

/* The parts of a machine. MACHINE stands for the whole machine. */
enum profile_part {
#define PART(id, ...) PART_##id,
#include "core/machine_parts.def"
    PART_COUNT,
    MACHINE = PART_COUNT
};

/* "gpu", "link", ... */
extern const char *const part_names[PART_COUNT];

/* The file of the part or machine that the scalar `name` names: a path, a part's file, or a
 * machine's. A path need not exist. A name must; otherwise the error names the nearest. */
bool locate_profile(const struct node *name, enum profile_part part, char *path, size_t size,
                    struct error *why);

/* The canonical name (core/named.h) of the part or machine that `name` means; false for a path and
 * for a name that means none. */
bool locate_canonical(const char *name, enum profile_part part, char out[NAMED_SIZE]);

/* Is `path` a file of the data folder for this part, such as hwprofiles/gpus/l40s.yaml? */
bool located_in_data(const char *path, enum profile_part part);

/* Append the name of a profile, without folder and suffix, to `text`; a '+' separates it from what
 * `text` already holds. */
void append_profile_name(const char *name, char *text, size_t size);
