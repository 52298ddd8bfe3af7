/* Puts a machine together from the files that its description names. Private to this folder. */
#pragma once

#include "core/node.h"
#include "machine/profile.h"

struct files;

/* Resolve `hardware` (a name, or a map) by replacing every name with what its file states: a map of parts of
 * figures as written, which the caller destroys. `name` gets the machine's. NULL with `why` on failure. */
struct node *machine_compose(struct files *files, const struct node *hardware, char *name,
                             size_t size, struct error *why);

/* Finds the file that the name of a profile stands for. Private to this folder. */

/* The parts of a machine. MACHINE stands for the whole machine. */
enum profile_part {
#define PART(id, ...) PART_##id,
#include "core/machine_parts.def"
    PART_COUNT,
    MACHINE = PART_COUNT
};

/* "gpu", "link", ... */
extern const char *const part_names[PART_COUNT];

/* The file of the part or machine that `name` names: a path, which need not exist, or a shipped one's. */
bool locate_profile(const struct node *name, enum profile_part part, char *path, size_t size,
                    struct error *why);

/* The canonical name of the part or machine that `name` means; false for a path and for none. */
bool locate_canonical(const char *name, enum profile_part part, char out[NAMED_SIZE]);

/* Append the name of a profile, without folder and suffix, to `text`, behind a '+' if it holds some. */
void append_profile_name(const char *name, char *text, size_t size);

/* The GPU's compute capability, such as 8.9; 0: the profile does not state it. */
double profile_capability(const struct profile *profile);
