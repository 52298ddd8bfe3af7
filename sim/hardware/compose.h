/* Putting a machine together from the files that its description names. For the files of this
 * folder. */
#ifndef HARDWARE_COMPOSE_H
#define HARDWARE_COMPOSE_H

#include "base/node.h"

#include <stddef.h>

struct files;

/* What `hardware` (a name, or a map of extends, gpu, link, host) comes to when every name is
 * replaced by what its file states: a map of parts, each a map of figures as they were written. The
 * caller destroys it. `name` is what to call it (see struct profile). `files` keeps the files that are read (NULL: none). NULL with `why` on failure.
 */
struct node *machine_compose(struct files *files, const struct node *hardware, char *name,
                             size_t size, struct error *why);

#endif
