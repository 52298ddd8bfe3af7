/* The JSON objects of a file, one after another: on lines of their own, without anything between
 * them, in arrays, or any of these by turns.
 *
 * One string of an object may be larger than memory: the values of `long_key`. Their characters are
 * handed over in pieces while they are read. In the text of the object, such a value is a string
 * again, "NUMBER:SIZE": its number among the long strings of the file, from 0, and its characters.
 *
 * Only brackets, braces and strings are understood here; a JSON parser checks the text.
 * Internal to this folder. */
#ifndef TRACE_IMPORT_JSON_OBJECTS_H
#define TRACE_IMPORT_JSON_OBJECTS_H

#include "trace/import/import_bytes.h"

/* The taker of long strings: each begins, comes in pieces, and ends. False ends the reading. */
struct json_long {
    void *state;
    bool (*begin)(void *state, uint64_t number, struct error *why);
    bool (*piece)(void *state, const char *at, size_t size, struct error *why);
    bool (*end)(void *state, struct error *why);
};

struct json_objects {
    struct import_bytes bytes;
    const char *path, *long_key;
    const struct json_long *taker; /* NULL: long strings are only counted */
    uint8_t block[IMPORT_BLOCK];
    size_t at, end;     /* of the block */
    int line;           /* of the next byte */
    int first_line;     /* of the object at hand */
    char *text;         /* of the object at hand; owned */
    size_t size, room;  /* of the text */
    size_t last_string; /* where the last short string begins in the text */
    uint64_t longs;     /* long strings so far */
    uint32_t depth;     /* of braces and brackets within the object */
    bool in_array, had_object;
};

/* The caller owns the reader, which is large. A failed open leaves nothing to close. */
bool json_objects_open(struct json_objects *objects, const char *path, const char *long_key,
                       const struct json_long *taker, struct error *why);
void json_objects_close(struct json_objects *objects);

/* Read the next object into `text`. `*more` is false at the end of the file. Fails where the file
 * cannot be divided into objects, or cannot be read. */
bool json_objects_next(struct json_objects *objects, bool *more, struct error *why);

#endif
