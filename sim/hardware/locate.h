/* Which file the name of a profile stands for. For the files of this folder. */
#ifndef HARDWARE_LOCATE_H
#define HARDWARE_LOCATE_H

#include "base/node.h"

#include <stddef.h>

/* The parts of a machine. Where a whole machine is meant, MACHINE stands for all of them. */
enum part { PART_GPU, PART_LINK, PART_HOST, PART_COUNT, MACHINE = PART_COUNT };

/* "gpu", "link", "host". */
extern const char *const part_names[PART_COUNT];

/* The file of the part or machine that the scalar `name` names: a path, a part's file, or a
 * machine's. A path need not exist, a name must: else the error lists what there is. */
bool locate_profile(const struct node *name, enum part part, char *path, size_t size,
                    struct error *why);

/* Write the name of a profile, less folder and suffix, behind what `text` holds, with a '+'
 * between. */
void append_profile_name(const char *name, char *text, size_t size);

#endif
