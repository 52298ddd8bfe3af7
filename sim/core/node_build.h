/* How the files behind node.h make and extend trees. Only those files include this one. */
#pragma once

#include "core/node.h"

#define NODE_DEEPEST 32
#define NODE_LONGEST_KEY 1000 /* libyaml reads no more than some 1024 */

/* The one copy of a file name, kept for the life of the process. */
const char *node_intern(const char *file, struct error *why);

/* A node without key, text or children; `file` is interned. */
struct node *node_create(enum node_kind kind, const char *file, int line, struct error *why);

/* Nodes of a tree, each with one more for every 64 bytes of its text, so that a limit on them bounds the
 * memory of copies; and how deep its lists and maps are nested. */
size_t node_measure(const struct node *node, size_t *depth);

/* Hand `child` over to `parent`. On failure it is still the caller's. */
bool node_append(struct node *parent, struct node *child, struct error *why);
