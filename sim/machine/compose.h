/* Puts a machine together from the files that its description names. Private to this folder. */
#pragma once

#include "core/node.h"

#include <stddef.h>

struct files;
struct takeover;

/* Resolve `hardware` (a name, or a map of extends, gpu, link, host) by replacing every name with
 * what its file states. The result is a map of parts, each a map of figures as written; the caller
 * destroys it. `name` gets the machine's name, `takeover` what its GPU takes over from another (see
 * struct profile).
 * `files` keeps the files that are read (NULL: none). NULL with `why` on failure. */
struct node *machine_compose(struct files *files, const struct node *hardware, char *name,
                             size_t size, struct takeover *takeover, struct error *why);
