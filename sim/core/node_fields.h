/* A map of a file as a struct: a row of a table says which key is read, how, and where it goes.
 *
 * A key without a row is an error, with the nearest one that has a row. A key that the map leaves
 * out leaves the struct as it was: its caller puts the default there. */
#pragma once

#include "core/node.h"

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

/* Read `map` (NULL or empty: nothing) into the struct at `out`. `fields` ends with a key of NULL;
 * `where` names the map in messages. */
bool node_fields_read(const struct node *map, const struct node_field *fields, const char *where,
                      void *out, struct error *why);

/* Fail if it is no list of texts; NULL passes. */
bool node_check_texts(const struct node *list, struct error *why);
