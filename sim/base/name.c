/* The distance is Damerau-Levenshtein restricted to swaps of neighbours ("optimal string
 * alignment"), which needs only three rows of the table. A name is near if about a third of its
 * letters, but not all of them, would have to change; and nearest if it begins with what was given,
 * as h100-sxm begins with h100; nearly so if a part of it does, as that of rtx-4090. */
#include "base/name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63, LEAST_BEGINNING = 3 };

/* The source of names: one of the two is set. */
struct names {
    name_row row;
    const char *const *list;
};

static const char *name_at(const struct names *names, size_t index)
{
    return names->row != NULL ? names->row(index) : names->list[index];
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Both are at most LONGEST letters. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replace = above[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = least(replace, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1])) {
                row[j] = least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

/* Does the name begin with a text that is long enough to mean it? */
static bool begins(const char *name, const char *given, size_t length)
{
    return length >= LEAST_BEGINNING && strncasecmp(name, given, length) == 0;
}

/* Does a part of the name behind a '-' begin so? */
static bool part_begins(const char *name, const char *given, size_t length)
{
    while ((name = strchr(name, '-')) != NULL) {
        if (begins(++name, given, length)) {
            return true;
        }
    }
    return false;
}

static size_t distance_of(const char *given, size_t length, const char *name)
{
    return begins(name, given, length)        ? 0
           : part_begins(name, given, length) ? 1
                                              : edit_distance(given, length, name, strlen(name));
}

static const char *nearest(const char *given, const struct names *names)
{
    size_t length = strlen(given);
    if (length == 0 || length > LONGEST) {
        return NULL;
    }
    size_t best_distance = least((length + 2) / 3, length - 1) + 1;
    const char *best = NULL;
    const char *name;
    for (size_t i = 0; (name = name_at(names, i)) != NULL; i++) {
        if (strlen(name) > LONGEST) {
            continue;
        }
        size_t distance = distance_of(given, length, name);
        if (distance < best_distance) {
            best_distance = distance;
            best = name;
        }
    }
    return best;
}

/* Write all names into `text`, separated by commas; if they do not all fit, end with ", ...". */
static void list_names(const struct names *names, char *text, size_t size)
{
    static const char rest[] = ", ...";
    size_t used = 0;
    text[0] = '\0';
    const char *name;
    for (size_t i = 0; (name = name_at(names, i)) != NULL; i++) {
        size_t length = strlen(name) + (i > 0 ? 2 : 0);
        if (used + length + sizeof rest > size) {
            memcpy(text + used, rest, sizeof rest);
            return;
        }
        if (i > 0) {
            memcpy(text + used, ", ", 2);
        }
        memcpy(text + used + (i > 0 ? 2 : 0), name, strlen(name) + 1);
        used += length;
    }
}

static bool expect_names(const char *given, const struct names *names, struct error *why)
{
    char all[sizeof why->expected];
    list_names(names, all, sizeof all);
    error_expect(why, "%s", all);
    return error_nearest(why, nearest(given, names));
}

const char *name_nearest(const char *given, name_row row)
{
    return nearest(given, &(struct names){.row = row});
}

const char *name_nearest_of(const char *given, const char *const *names)
{
    return nearest(given, &(struct names){.list = names});
}

bool name_expect(const char *given, const char *const *names, struct error *why)
{
    return expect_names(given, &(struct names){.list = names}, why);
}

int name_find(const char *given, name_row row, const char *what, const char *file, int line,
              struct error *why)
{
    const char *name;
    for (int i = 0; (name = row((size_t)i)) != NULL; i++) {
        if (strcmp(name, given) == 0) {
            return i;
        }
    }
    error_input(why, file, line, "unknown %s '%s'", what, given);
    expect_names(given, &(struct names){.row = row}, why);
    return -1;
}

bool name_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length) {
        bool begins = at == list || at[-1] == ' ';
        if (begins && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

void name_list_add(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);
    if (!name_listed(list, name)) {
        snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    }
}
