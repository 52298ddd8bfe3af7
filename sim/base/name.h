/* Names that users type, looked up in tables: the nearest valid one, and a list
 * of all of them for a message. And texts that list names. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The name of row `index` of some table; NULL after the last row. */
typedef const char *(*name_row)(size_t index);

/* The valid name nearest to `given` by edit distance (insert, delete, replace, swap neighbours;
 * case is ignored), or NULL when none is near enough. Of equally near names the first wins. */
const char *name_nearest(const char *given, name_row row);

/* The same for an array of names that ends with NULL. */
const char *name_nearest_of(const char *given, const char *const *names);

/* Add to an error that was set: all names of the array as expected, and the nearest one to `given`.
 * Returns false. */
bool name_expect(const char *given, const char *const *names, struct error *why);

/* Index of `given` in the table, or -1 with `why` filled: "unknown WHAT 'given'", all names as
 * expected (a list that is too long ends in ", ..."), and the nearest. `file` and `line` are as in
 * error_input(). */
int name_find(const char *given, name_row row, const char *what, const char *file, int line,
              struct error *why);

/* Does a text that lists names, "h200, h100-sxm", hold this one whole? */
bool name_listed(const char *list, const char *name);

/* Add a name to such a text of `size` bytes, once; what has no room is cut. */
void name_list_add(char *list, size_t size, const char *name);

#endif
