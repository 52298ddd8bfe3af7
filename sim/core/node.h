/* A YAML document as a tree of nodes that remember where they stood.
 *
 * Scenarios, system presets, hardware profiles and head tables are read through this tree, so that every
 * message can name file and line. Read with libyaml's events. An alias is a copy of what its anchor marks,
 * and "<<" merges maps. Tags are refused, and so are duplicate keys, more than one document, nesting deeper
 * than 32, files over 16 MiB or a million values, and keys over 1000 bytes.
 *
 * A node owns its children and texts; node_destroy() frees the tree. Overrides
 * ("--set a.b=c") edit the tree in place and carry the file name "--set". */
#pragma once

#include "core/name.h"
#include "core/units.h"

#include <stdio.h>

enum node_kind { NODE_NULL, NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    const char *file; /* interned for the life of the process: a program reads few */
    int line;         /* 1-based; 0 in an override */
    char *key;        /* of a map's child; else NULL */
    char *text;       /* of a scalar; else NULL */
    char *typed;      /* the text before node_set_text() first replaced it; else NULL */
    struct node **children;
    size_t count, capacity;
};

/* Read a file, or a text that messages call `name`. NULL on failure. An empty document is a
 * NODE_NULL root. */
struct node *node_load(const char *path, struct error *why);
struct node *node_parse(const char *text, size_t size, const char *name, struct error *why);
struct node *node_map(const char *file, struct error *why); /* an empty map, at no line */
struct node *node_copy(const struct node *node, struct error *why);
void node_destroy(struct node *node);

/* All bytes of a file but a byte order mark, and a 0 behind them. The caller frees them. A file of more
 * than NODE_FILE_MOST, or a stream of more than `most` bytes, is refused. */
enum { NODE_FILE_MOST = 16 << 20 };
char *node_file(const char *path, size_t *size, struct error *why);
char *node_stream(FILE *in, const char *name, size_t most, size_t *size, struct error *why);

/* Child of a map by key, NULL when absent (or when `map` is NULL or no map). */
const struct node *node_get(const struct node *map, const char *key);

/* The same, and NULL when it is empty. */
const struct node *node_stated(const struct node *map, const char *key);

/* The node at a path such as "mechanisms.sync", or NULL when there is no node. */
const struct node *node_find(const struct node *root, const char *path);

/* Set the node at `path` ("mechanisms.sync") to the YAML text `value` (a scalar, "[1, 2]" or "{a: b}"),
 * making maps on the way. A NODE_NULL root becomes a map; a scalar on the way is an error. */
bool node_set(struct node *root, const char *path, const char *value, struct error *why);

/* The same with a copy of `value`, which keeps its file names and lines. */
bool node_put(struct node *root, const char *path, const struct node *value, struct error *why);

/* Give a scalar another text, which is copied. */
bool node_set_text(struct node *scalar, const char *text, struct error *why);

/* Remove a child of a map, if it is there. */
void node_remove(struct node *map, const char *key);

/* Lay `over` on `base`, in place: maps merge key by key, any other value replaces the one below,
 * and an empty value leaves a map as it is. `over` is copied and stays the caller's. */
bool node_merge(struct node *base, const struct node *over, struct error *why);

/* A scalar child as a typed value. Without one `*out` stays as it was: the caller puts the default there. */
bool node_text(const struct node *map, const char *key, const char **out, struct error *why);

/* A text that must be one of `words`, which end with NULL, as its index. */
bool node_word(const struct node *map, const char *key, const char *const *words, int *out,
               struct error *why);
bool node_quantity(const struct node *map, const char *key, enum unit unit, double *out,
                   struct error *why);
bool node_whole(const struct node *map, const char *key, enum unit unit, uint64_t most,
                uint64_t *out, struct error *why);
bool node_bool(const struct node *map, const char *key, bool *out, struct error *why);

/* Fail on the first child of `map` (NULL or empty: none) whose key is not one of `keys`. */
bool node_check_keys(const struct node *map, struct names keys, const char *where,
                     struct error *why);

/* Complain about this node, with its file and line; a usage error if it is NULL or came from "--set". */
bool node_error(const struct node *node, struct error *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same about the value of a key; where the map leaves it out, the place is the map's. */
bool node_key_error(const struct node *map, const char *key, struct error *why, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* Serialise with sorted keys and one spelling, so that equal trees give equal text. The caller frees it. */
char *node_canonical(const struct node *node, struct error *why);

/* ---- a map as a struct ----
 *
 * A row of a table says which key is read, how, and where it goes. A key without a row is an error, with
 * the nearest one that has a row. A key that the map leaves out leaves the struct as it was: its caller
 * puts the default there. */

enum node_field_type {
    NODE_FIELD_TEXT,  /* const char *, which belongs to the tree */
    NODE_FIELD_YES,   /* bool */
    NODE_FIELD_REAL,  /* double, of the unit */
    NODE_FIELD_WHOLE, /* uint64_t or int64_t, of the unit */
    NODE_FIELD_SMALL, /* uint32_t, the same */
    NODE_FIELD_WORD,  /* int or an enum: its index among the words */
    NODE_FIELD_MAP,   /* a map, whose keys `inside` reads into a part of the struct */
    NODE_FIELD_LIST, /* a list of such maps, into an array of at most `most` structs, which are zero */
    NODE_FIELD_ROWS, /* the same of a map of maps; the first member of a struct gets its map's name */
    NODE_FIELD_TEXTS, /* const struct node *, a list of texts; NULL: none */
    NODE_FIELD_NODE,  /* const struct node *, as it is: its caller reads it */
};

struct node_field {
    const char *key;
    enum node_field_type type;
    size_t offset;                   /* of the member */
    enum unit unit;                  /* of a number; none: a plain one */
    uint64_t most;                   /* of a whole number; 0: any. Of rows: how many */
    const char *const *words;        /* end with NULL */
    const struct node_field *inside; /* ends with a key of NULL */
    size_t size, count; /* of rows: bytes of one, and the offset of a uint32_t that counts them */
    bool needed;        /* a map without it is refused */
};

/* A row for the member of a struct, with the fields that its type needs. */
#define NODE_FIELD(name, kind, owner, member, ...)                                                 \
    {                                                                                              \
        .key = name, .type = NODE_FIELD_##kind, .offset = offsetof(struct owner, member),          \
        ##__VA_ARGS__                                                                              \
    }

/* Read `map` (NULL: nothing) into the struct at `out`. `where` names the map in messages. */
bool node_fields_read(const struct node *map, const struct node_field *fields, const char *where,
                      void *out, struct error *why);

/* Fail if it is no list of texts; NULL passes. */
bool node_check_texts(const struct node *list, struct error *why);
