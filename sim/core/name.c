/* The distance is Damerau-Levenshtein restricted to swaps of neighbours ("optimal string alignment"). A name
 * is near if at most about a third of the text's letters, and not all of them, would have to change. So is
 * one that holds the parts of the text, as rtx-4090 holds 4090 and llama-3.1-70b holds llama-70b; one that is
 * the first part of the text; and one that begins with the text but for a slip. Of equally near names the one
 * whose length is most alike is nearer, and then the first.
 *
 * Two spellings are the same name if they differ only in case and in what separates their parts: RTX4090,
 * "RTX 4090" and rtx-4090. Between two digits a separator counts: 3-8b is not 38b. */
#include "core/name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <strings.h>

enum { LONGEST = 63, LEAST_PART = 3, SHORT_LIST = 160 };

const char *name_at(struct names names, size_t index)
{
    return *(const char *const *)((const char *)names.first + index * names.each);
}

/* ---- spellings ---- */

/* The next letter of a name, without separators but '-' between two digits; `last` is the one before. */
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

bool name_holds(const char *text, const char *name)
{
    static const char between[] = "-_ :";
    for (name += strspn(name, between); *name != '\0'; name += strspn(name, between)) {
        size_t length = strcspn(name, between);
        while (*text != '\0' && (strncasecmp(text, name, length) != 0 ||
                                 (isdigit((unsigned char)text[length - 1]) && text[length] == '.' &&
                                  isdigit((unsigned char)text[length + 1])))) {
            text++; /* 3 is not in 3.1 */
        }
        if (*text == '\0') {
            return false;
        }
        text += length;
        name += length;
    }
    return true;
}

int name_index_of(const char *text, size_t length, struct names names)
{
    const char *name;
    for (int i = 0; (name = name_at(names, (size_t)i)) != NULL; i++) {
        if (strncmp(name, text, length) == 0 && name[length] == '\0') {
            return i;
        }
    }
    return -1;
}

int name_index(const char *text, struct names names)
{
    return name_index_of(text, strlen(text), names);
}

static int match(const char *text, struct names names)
{
    const char *name;
    int same = name_index(text, names);
    for (int i = 0; same < 0 && (name = name_at(names, (size_t)i)) != NULL; i++) {
        same = name_same(name, text) ? i : -1;
    }
    return same;
}

int name_match(const char *text, const char *const *names)
{
    return match(text, NAMES(names));
}

/* ---- suggestions ---- */

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Both are at most LONGEST letters. 2 at most if the name begins with the text but for a slip. */
static int edit_distance(const char *text, size_t length, const char *name, size_t name_length)
{
    unsigned char table[LONGEST + 1][LONGEST + 1]; /* of the beginnings of this many letters */
    bool slip = false;
    for (size_t i = 0; i <= length; i++) {
        for (size_t j = 0; j <= name_length; j++) {
            int distance = (int)(i + j);
            if (i > 0 && j > 0) {
                distance = table[i - 1][j - 1] + !same_letter(text[i - 1], name[j - 1]);
                distance = MIN(distance, MIN(table[i - 1][j], table[i][j - 1]) + 1);
            }
            if (i > 1 && j > 1 && same_letter(text[i - 1], name[j - 2]) &&
                same_letter(text[i - 2], name[j - 1])) {
                distance = MIN(distance, table[i - 2][j - 2] + 1);
            }
            table[i][j] = (unsigned char)distance;
            slip = slip || (i == length && length > LEAST_PART + 1 && distance <= 1);
        }
    }
    return slip ? MIN(2, table[length][name_length]) : table[length][name_length];
}

/* Does the name begin with the text, but for what separates parts? `*goes_on`: so does its last number.
 * llama-3-8b begins with llama3, and llama-33b does, too, but goes on. */
static bool name_begins(const char *name, const char *text, bool *goes_on)
{
    char last = '\0', letter, other;
    *goes_on = false;
    while ((letter = letter_at(&text, last)) != '\0') {
        other = letter_at(&name, last);
        if (letter != other) {
            return false;
        }
        last = letter;
    }
    *goes_on = isdigit((unsigned char)last) && isdigit((unsigned char)*name);
    return true;
}

int name_distance(const char *text, const char *name)
{
    size_t length = strlen(text), other = strlen(name);
    if (length == 0 || length > LONGEST || other > LONGEST) {
        return NAME_FAR;
    }
    int distance = edit_distance(text, length, name, other);
    bool goes_on, begins = name_begins(name, text, &goes_on);
    if (length >= LEAST_PART && name_holds(name, text)) {
        distance = goes_on ? 1 : 0;
    } else if (length >= LEAST_PART && begins && !goes_on) {
        distance = 1;
    } else if (other >= LEAST_PART && other < length && strncasecmp(text, name, other) == 0 &&
               strchr("-_. ", text[other]) != NULL) {
        distance = 1;
    }
    return distance <= MIN(((int)length + 2) / 3, (int)length - 1)
               ? distance * (LONGEST + 1) + abs((int)other - (int)length)
               : NAME_FAR;
}

const char *name_nearest(const char *text, struct names names)
{
    const char *name, *found = NULL;
    int best = NAME_FAR;
    for (size_t i = 0; (name = name_at(names, i)) != NULL; i++) {
        int distance = name_distance(text, name);
        found = distance < best ? name : found;
        best = MIN(distance, best);
    }
    return found;
}

/* Beside the nearest name, a long list says little. */
bool name_expect(const char *text, struct names names, struct error *why)
{
    char list[sizeof why->expected] = "";
    const char *name, *near = name_nearest(text, names);
    for (size_t i = 0; (name = name_at(names, i)) != NULL; i++) {
        if (!name_list_append(list, sizeof list, name)) {
            break;
        }
    }
    error_expect(why, "%s", near != NULL && strlen(list) > SHORT_LIST ? "" : list);
    return error_nearest(why, near);
}

int name_find(const char *text, struct names names, const char *what, const char *file, int line,
              struct error *why)
{
    int found = match(text, names);
    if (found < 0) {
        error_input(why, file, line, "unknown %s '%s'", what, text);
        name_expect(text, names, why);
    }
    return found;
}

/* ---- texts that list names ---- */

bool name_list_append(char *list, size_t size, const char *name)
{
    static const char cut[] = ", ...";
    size_t used = strlen(list);
    bool fits = used + strlen(", ") + strlen(name) + sizeof cut <= size;
    snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", fits ? name : "...");
    return fits;
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
