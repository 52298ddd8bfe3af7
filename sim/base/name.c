/* The distance is Damerau-Levenshtein restricted to swaps of neighbours ("optimal string
 * alignment"), which needs only three rows of the table. A name is near if about a third of its
 * letters, but not all of them, would have to change; and nearest if it begins with what was given,
 * as h100-sxm begins with h100; nearly so if a part of it does, as that of rtx-4090. Of equally near
 * names the one whose length is most alike is nearer, and then the first.
 *
 * Two spellings are the same name if they differ only in case and in what separates their parts:
 * RTX4090, "RTX 4090" and rtx-4090. Between two digits a separator counts: 3-8b is not 38b. */
#include "base/name.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    LONGEST = 63,
    LEAST_BEGINNING = 3,
    SHORT_LIST = 160, /* bytes of a list that a message shows in full */
};

/* The source of names: one of the two is set. */
struct name_source {
    name_row row;
    const char *const *list;
};

static const char *name_at(const struct name_source *names, size_t index)
{
    assert(names->row != NULL || names->list != NULL);
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
static bool name_begins(const char *name, const char *given, size_t length)
{
    return length >= LEAST_BEGINNING && strncasecmp(name, given, length) == 0;
}

/* Does a part of the name behind a separator begin so? */
static bool part_begins(const char *name, const char *given, size_t length)
{
    while ((name = strpbrk(name, "-_.")) != NULL) {
        if (name_begins(++name, given, length)) {
            return true;
        }
    }
    return false;
}

/* Is the name the first or the last part of what was given, and no mere number? */
static bool is_part(const char *given, size_t length, const char *name, size_t name_length)
{
    static const char separators[] = "-_. ";
    if (name_length < LEAST_BEGINNING || name_length >= length) {
        return false;
    }
    const char *tail = given + length - name_length;
    return (strncasecmp(given, name, name_length) == 0 &&
            strchr(separators, given[name_length]) != NULL) ||
           (strcasecmp(tail, name) == 0 && strchr(separators, tail[-1]) != NULL);
}

/* Is the given text the name without a part in its middle: llama-70b for llama-3.1-70b? */
static bool has_both_ends(const char *given, size_t length, const char *name, size_t name_length)
{
    const char *dash = strchr(given, '-');
    size_t head = dash != NULL ? (size_t)(dash - given) + 1 : 0;
    return head > LEAST_BEGINNING && head < length && name_length > length &&
           strncasecmp(name, given, head) == 0 &&
           strcasecmp(name + name_length - (length - head) - 1, given + head - 1) == 0;
}

/* Does the name begin with what was given but for one slip, in a text that is long enough? */
static bool nearly_begins(const char *given, size_t length, const char *name, size_t name_length)
{
    bool near = false;
    for (size_t cut = length - 1; length >= LEAST_BEGINNING + 2 && cut <= length + 1; cut++) {
        near = near || (cut < name_length && edit_distance(given, length, name, cut) <= 1);
    }
    return near;
}

static size_t name_distance_of(const char *given, size_t length, const char *name)
{
    size_t name_length = strlen(name);
    return name_begins(name, given, length)                                                      ? 0
           : part_begins(name, given, length) || has_both_ends(given, length, name, name_length) ? 1
           : is_part(given, length, name, name_length) ||
                   nearly_begins(given, length, name, name_length)
               ? 2
               : edit_distance(given, length, name, name_length);
}

size_t name_distance(const char *given, const char *name)
{
    size_t length = strlen(given), other = strlen(name);
    if (length == 0 || length > LONGEST || other > LONGEST) {
        return NAME_FAR;
    }
    size_t distance = name_distance_of(given, length, name);
    size_t unlike = other > length ? other - length : length - other;
    return distance <= least((length + 2) / 3, length - 1) ? distance * (LONGEST + 1) + unlike
                                                           : NAME_FAR;
}

void name_near_add(struct name_near *near, const char *name, size_t distance)
{
    size_t at = near->count;
    while (at > 0 && distance < near->distances[at - 1]) {
        at--;
    }
    if (distance == NAME_FAR || at == NAME_NEAR) {
        return;
    }
    near->count += near->count < NAME_NEAR;
    for (size_t i = near->count - 1; i > at; i--) {
        near->distances[i] = near->distances[i - 1];
        near->names[i] = near->names[i - 1];
    }
    near->distances[at] = distance;
    near->names[at] = name;
}

static struct name_near name_find_near(const char *given, const struct name_source *names)
{
    struct name_near near = {.count = 0};
    const char *name;
    for (size_t i = 0; (name = name_at(names, i)) != NULL; i++) {
        name_near_add(&near, name, name_distance(given, name));
    }
    return near;
}

static const char *nearest(const char *given, const struct name_source *names)
{
    struct name_near near = name_find_near(given, names);
    return near.count > 0 ? near.names[0] : NULL;
}

/* Write all names into `text`, separated by commas; if they do not all fit, end with ", ...". */
static void name_list_names(const struct name_source *names, char *text, size_t size)
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

/* All names if their list is short or none is near, else the few nearest ones and "...". */
static bool expect_names(const char *given, const struct name_source *names, struct error *why)
{
    char text[sizeof why->expected];
    struct name_near near = name_find_near(given, names);
    name_list_names(names, text, sizeof text);
    if (strlen(text) > SHORT_LIST && near.count > 0) {
        const char *few[NAME_NEAR + 1] = {NULL};
        memcpy(few, near.names, near.count * sizeof *few);
        name_list_names(&(struct name_source){.list = few}, text, sizeof text - sizeof ", ...");
        strcat(text, ", ...");
    }
    error_expect(why, "%s", text);
    return error_nearest(why, near.count > 0 ? near.names[0] : NULL);
}

bool name_near_expect(const struct name_near *near, const char *all, struct error *why)
{
    char text[sizeof why->expected] = "";
    const char *few[NAME_NEAR + 1] = {NULL};
    memcpy(few, near->names, near->count * sizeof *few);
    name_list_names(&(struct name_source){.list = few}, text, sizeof text);
    error_expect(why, "%s%s%s", text, near->count > 0 ? " or another of " : "one of ", all);
    return error_nearest(why, near->count > 0 ? near->names[0] : NULL);
}

const char *name_nearest(const char *given, name_row row)
{
    return nearest(given, &(struct name_source){.row = row});
}

const char *name_nearest_of(const char *given, const char *const *names)
{
    return nearest(given, &(struct name_source){.list = names});
}

bool name_expect(const char *given, const char *const *names, struct error *why)
{
    return expect_names(given, &(struct name_source){.list = names}, why);
}

/* The next letter of a name, without what separates its parts; '-' for what separates two digits.
 * `last` is the letter before. */
static char letter_at(const char **at, char last)
{
    size_t between = strspn(*at, "-_ :");
    char letter = (char)tolower((unsigned char)(*at)[between]);
    if (between > 0 && isdigit((unsigned char)last) && isdigit((unsigned char)letter)) {
        *at += between;
        return '-';
    }
    *at += between + (letter != '\0');
    return letter;
}

bool name_same(const char *a, const char *b)
{
    char letter = '\0', other;
    do {
        other = letter_at(&b, letter);
        letter = letter_at(&a, letter);
        if (letter != other) {
            return false;
        }
    } while (letter != '\0');
    return true;
}

bool name_holds(const char *given, const char *name)
{
    static const char between[] = "-_ :";
    for (name += strspn(name, between); *name != '\0'; name += strspn(name, between)) {
        size_t length = strcspn(name, between);
        while (*given != '\0' && strncasecmp(given, name, length) != 0) {
            given++;
        }
        if (*given == '\0') {
            return false;
        }
        given += length;
        name += length;
    }
    return true;
}

static int match(const char *given, const struct name_source *names)
{
    int same = -1;
    const char *name;
    for (int i = 0; (name = name_at(names, (size_t)i)) != NULL; i++) {
        if (strcmp(name, given) == 0) {
            return i;
        }
        same = same < 0 && name_same(name, given) ? i : same;
    }
    return same;
}

int name_match(const char *given, const char *const *names)
{
    return match(given, &(struct name_source){.list = names});
}

int name_find(const char *given, name_row row, const char *what, const char *file, int line,
              struct error *why)
{
    const struct name_source names = {.row = row};
    int found = match(given, &names);
    if (found < 0) {
        error_input(why, file, line, "unknown %s '%s'", what, given);
        expect_names(given, &names, why);
    }
    return found;
}

bool name_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length) {
        bool begins = at == list || (at - list >= 2 && at[-2] == ',' && at[-1] == ' ');
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
