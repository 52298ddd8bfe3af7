/* Names that users type, looked up in tables: the one that is meant, the nearest valid one, and a
 * list of them for a message. And texts that list names. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The name of row `index` of some table; NULL after the last row. */
typedef const char *(*name_row)(size_t index);

/* Are these two spellings of one name? Case does not count, nor does what separates its parts: '-',
 * '_', ':' and blanks, but for whether two digits are separated. RTX4090 is rtx-4090. */
bool name_same(const char *a, const char *b);

/* Does `given` hold all parts of `name`, in order? "Qwen2.5-32B-Instruct-AWQ" holds
 * qwen2.5-32b-awq; "Llama-3.3-70B" does not hold llama-3.1-70b. Case does not count. */
bool name_holds(const char *given, const char *name);

/* Index of the name that `given` spells, in an array that ends with NULL: the same text, else the
 * first that name_same() takes for it. -1 if there is none. */
int name_match(const char *given, const char *const *names);

/* How far `name` is from what was given: an edit distance (insert, delete, replace, swap
 * neighbours; case is ignored), scaled, so that a name which begins with it comes first and, of
 * equally near names, the one most alike in length. NAME_FAR when it is not near enough to have
 * been meant. */
#define NAME_FAR ((size_t)-1)
size_t name_distance(const char *given, const char *name);

/* The valid name nearest to `given` by that distance, or NULL when none is near enough. Of equally
 * near names the first wins. */
const char *name_nearest(const char *given, name_row row);

/* The same for an array of names that ends with NULL. */
const char *name_nearest_of(const char *given, const char *const *names);

/* Add to an error that was set: the nearest name of the array to `given`, and the names as
 * expected. A long array is shortened to the few nearest ones, and "..."; if none is near, to those
 * for which there is room. Returns false. */
bool name_expect(const char *given, const char *const *names, struct error *why);

/* The few names nearest to what was given, nearest first. Starts zeroed; the names stay their
 * owner's. name_near_add() adds a name at a distance (name_distance()), if it is near enough. */
enum { NAME_NEAR = 4 };
struct name_near {
    const char *names[NAME_NEAR];
    size_t distances[NAME_NEAR];
    size_t count;
};
void name_near_add(struct name_near *near, const char *name, size_t distance);

/* Add to an error that was set: these names as expected, and `all`, which says what lists the
 * others: "'spillway list models'". Returns false. */
bool name_near_expect(const struct name_near *near, const char *all, struct error *why);

/* Index of the name of the table that `given` spells, as by name_match(), or -1 with `why` filled:
 * "unknown WHAT 'given'", and the rest as by name_expect(). `file` and `line` are as in
 * error_input(). */
int name_find(const char *given, name_row row, const char *what, const char *file, int line,
              struct error *why);

/* Does a text that lists names, "h200, h100-sxm", hold this one whole? */
bool name_listed(const char *list, const char *name);

/* Add a name to such a text of `size` bytes, once; what has no room is cut. */
void name_list_add(char *list, size_t size, const char *name);

#endif
