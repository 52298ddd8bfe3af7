/* A YAML document as a tree of nodes that remember where they stood.
 *
 * Scenarios, system presets, hardware profiles and head tables are read through
 * this tree, so that every message can name file and line. Read with libyaml's
 * events; anchors, aliases and tags are refused (nothing here needs them, and they
 * are how small files become huge trees), as are duplicate keys, more than one
 * document, nesting deeper than 32, files over 16 MiB or a million values, maps of more
 * than 1024 keys and keys of more than 128 bytes.
 *
 * A node owns its children and texts; node_destroy() frees the tree. Overrides
 * ("--set a.b=c") edit the tree in place and carry the file name "--set".
 */
#ifndef BASE_NODE_H
#define BASE_NODE_H

#include "base/error.h"
#include "base/units.h"

#include <stddef.h>

enum node_kind { NODE_NULL, NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    const char *file; /* interned for the life of the process: a program reads few */
    int line;         /* 1-based; 0 in an override */
    char *key;        /* of a map's child; else NULL */
    char *text;       /* of a scalar; else NULL */
    struct node **children;
    size_t count, capacity;
};

/* Read a file, or text that is known as `name` in messages. NULL on failure. An
 * empty document is a NODE_NULL root. */
struct node *node_load(const char *path, struct error *why);
struct node *node_parse(const char *text, size_t size, const char *name, struct error *why);
struct node *node_copy(const struct node *node, struct error *why);
void node_destroy(struct node *node);

/* All bytes of a file, for node_parse(); one of more than 16 MiB is cut to a little more than that,
 * which node_parse() refuses. The caller frees them. */
char *node_file(const char *path, size_t *size, struct error *why);

/* Child of a map by key, NULL when absent (or when `map` is NULL or no map). */
const struct node *node_get(const struct node *map, const char *key);

/* What a path as "mechanisms.sync" reaches, NULL when there is none. */
const struct node *node_find(const struct node *root, const char *path);

/* Set what `path` ("mechanisms.sync") reaches to the YAML text `value` (a scalar,
 * "[1, 2]" or "{a: b}"), making maps on the way. A NODE_NULL root becomes a map;
 * a scalar on the way is an error. */
bool node_set(struct node *root, const char *path, const char *value, struct error *why);

/* The same with a copy of `value`, which keeps its marks. */
bool node_put(struct node *root, const char *path, const struct node *value, struct error *why);

/* Take a child of a map away, where there is one. */
void node_remove(struct node *map, const char *key);

/* Lay `over` on `base`, in place: maps merge key by key, everything else replaces, but
 * nothing laid on a map leaves the map. `over` is copied and stays the caller's. */
bool node_merge(struct node *base, const struct node *over, struct error *why);

/* A scalar child as a typed value. When the key is absent or its value empty these leave
 * `*out` as it was and return true: the default is what the caller put there. Text is the
 * tree's, not a copy. */
bool node_text(const struct node *map, const char *key, const char **out, struct error *why);
bool node_quantity(const struct node *map, const char *key, enum unit unit, double *out,
                   struct error *why);
bool node_whole(const struct node *map, const char *key, enum unit unit, uint64_t most,
                uint64_t *out, struct error *why);
bool node_bool(const struct node *map, const char *key, bool *out, struct error *why);

/* Fail on the first child of `map` whose key is in no row of the table: "unknown key
 * 'x' in 'where'", with the keys and the nearest. `map` NULL or null passes; a list or scalar
 * is an error. */
bool node_check_keys(const struct node *map, const char *const *keys, const char *where,
                     struct error *why);

/* Set `why` to a complaint about this node: its file, line, text; usage error when
 * the node came from "--set". Returns false. */
bool node_error(const struct node *node, struct error *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Serialise canonically: keys sorted, one spelling, no marks, so that equal trees
 * give equal text. The caller frees it. */
char *node_canonical(const struct node *node, struct error *why);

#endif
