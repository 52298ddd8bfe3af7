/* Text files that are read once, so that a file that changes meanwhile cannot make two points of one answer
 * differ. Safe from several threads. NULL stands for "keep nothing": the file is read each time. */
#pragma once

#include "core/error.h"

#include <stdio.h>

struct files;
struct node;

struct files *files_create(struct error *why);
void files_destroy(struct files *files); /* NULL is fine */

/* All bytes of a file, as node_file() reads them. The caller frees them. */
char *files_text(struct files *files, const char *path, size_t *size, struct error *why);

/* The file as node_load() reads it, shared: nobody changes it. The caller gives it back by files_drop(). */
const struct node *files_tree(struct files *files, const char *path, struct error *why);
void files_drop(const struct files *files, const struct node *tree);

/* Open a regular file, or a link to one; else refused and never waited for, as a FIFO would be. */
FILE *regular_open(const char *path, struct error *why);
