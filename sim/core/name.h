/* Names in tables: the one that a text stands for, the nearest valid one, and texts that list names. */
#pragma once

#include "core/error.h"

#include <limits.h>

/* A table of names: an array of names, or of structs that begin with one. NULL ends it. */
struct names {
    const void *first;
    size_t each; /* bytes of a row */
};
#define NAMES(rows) ((struct names){(rows), sizeof *(rows)})
const char *name_at(struct names names, size_t index);

/* Index of exactly this name in the table, or of the first `length` bytes of one; -1 if there is none. */
int name_index(const char *text, struct names names);
int name_index_of(const char *text, size_t length, struct names names);

/* Are these two spellings of one name? Case does not count, nor does what separates its parts: '-',
 * '_', ':' and blanks, but for whether two digits are separated. RTX4090 is rtx-4090. */
bool name_same(const char *a, const char *b);

/* Does `text` hold all parts of `name`, in order? "Qwen2.5-32B-Instruct-AWQ" holds
 * qwen2.5-32b-awq; "Llama-3.3-70B" does not hold llama-3.1-70b. Case does not count. */
bool name_holds(const char *text, const char *name);

/* Index of `text` in an array that ends with NULL: the same text, else the first by name_same(); or -1. */
int name_match(const char *text, const char *const *names);

/* How far `name` is from the user's text: an edit distance (insert, delete, replace, swap
 * neighbours; case is ignored), scaled, so that a name that holds its parts comes first and, of
 * equally near names, the one most alike in length. NAME_FAR where a typing error is unlikely. */
enum { NAME_FAR = INT_MAX };
int name_distance(const char *text, const char *name);

/* The valid name nearest to `text` by that distance, the first of equally near ones; NULL: none is near. */
const char *name_nearest(const char *text, struct names names);

/* Add to an error that was set: the nearest name of the table, and as expected all names. A list
 * that has no room ends in "...". Beside a nearest name a long list is left out. error_rest() can
 * name the command that prints all. Returns false. */
bool name_expect(const char *text, struct names names, struct error *why);

/* Index of the name of the table that `text` spells, as by name_match(), or -1 with `why` filled: "unknown
 * WHAT 'text'", and the rest as by name_expect(). `file` and `line` are as in error_input(). */
int name_find(const char *text, struct names names, const char *what, const char *file, int line,
              struct error *why);

/* Append to a text that lists names, "h200, h100-sxm". Without room "..." ends it, and false is returned. */
bool name_list_append(char *list, size_t size, const char *name);

/* Does such a text hold this name whole? */
bool name_listed(const char *list, const char *name);

/* Add a name to such a text once; what has no room is cut. */
void name_list_add(char *list, size_t size, const char *name);
