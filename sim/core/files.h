/* Text files that are read once.
 *
 * A command resolves many points of one scenario, and each point names the same models, machines
 * and systems. What was read first is what all of them get, so that a file that changes meanwhile
 * cannot make two points of one answer differ.
 *
 * Safe from several threads. NULL stands for "keep nothing": the file is read each time. */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdio.h>

struct files;
struct node;

struct files *files_create(struct error *why);
void files_destroy(struct files *files); /* NULL is fine */

/* All bytes of a file, as node_file() reads them. The caller frees them. */
char *files_text(struct files *files, const char *path, size_t *size, struct error *why);

/* The file as a YAML tree, as node_load() reads it. It may be everybody's, and nobody changes it; the
 * caller gives it back by files_drop(), NULL too. */
const struct node *files_tree(struct files *files, const char *path, struct error *why);
void files_drop(const struct files *files, const struct node *tree);

/* Open a file whose bytes must be there already: a regular file, or a link to one. Anything else is
 * refused and never waited for, as a FIFO would be. The caller closes it. */
FILE *regular_open(const char *path, struct error *why);
