/* A long text is cut between characters. Bytes that would control a terminal never reach it. */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_drop_partial(char *text, size_t length)
{
    size_t tail = 0; /* continuation bytes at the end */
    while (tail < 4 && tail < length && ((unsigned char)text[length - 1 - tail] & 0xc0) == 0x80) {
        tail++;
    }
    if (tail < length) {
        unsigned char lead = (unsigned char)text[length - 1 - tail];
        size_t wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
        if (tail < wanted) {
            text[length - 1 - tail] = '\0';
        }
    }
}

/* Drop a character that was cut in two; replace control characters. `length` is what snprintf() returned. */
static void error_clean(char *text, size_t size, int length)
{
    if (length < 0) {
        text[0] = '\0';
    } else if ((size_t)length >= size) {
        error_drop_partial(text, size - 1);
    }
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            *c = '?';
        }
    }
}

static void error_write_list(char *text, size_t size, const char *format, va_list list)
{
    error_clean(text, size, vsnprintf(text, size, format, list));
}

static void error_write_text(char *text, size_t size, const char *from)
{
    error_clean(text, size, snprintf(text, size, "%s", from));
}

/* Built in a copy first: `file` and the arguments may point into the old `why`. */
static void error_fill(struct error *why, enum error_kind kind, const char *file, int line,
                       const char *format, va_list list)
{
    struct error fresh = {.kind = kind, .line = line};
    error_write_text(fresh.file, sizeof fresh.file, file != NULL ? file : "");
    error_write_list(fresh.found, sizeof fresh.found, format, list);
    *why = fresh;
}

bool error_make(struct error *why, enum error_kind kind, const char *file, int line,
                const char *format, ...)
{
    va_list list;
    va_start(list, format);
    error_fill(why, kind, file, line, format, list);
    va_end(list);
    return false;
}

bool error_input(struct error *why, const char *file, int line, const char *format, ...)
{
    bool typed = file == NULL || strncmp(file, "--", 2) == 0;
    va_list list;
    va_start(list, format);
    error_fill(why, typed ? ERROR_USAGE : ERROR_FAILURE, file, line, format, list);
    va_end(list);
    return false;
}

bool error_expect(struct error *why, const char *format, ...)
{
    char expected[sizeof why->expected];
    va_list list;
    va_start(list, format);
    error_write_list(expected, sizeof expected, format, list);
    va_end(list);
    memcpy(why->expected, expected, sizeof expected);
    return false;
}

bool error_nearest(struct error *why, const char *name)
{
    if (name != NULL) {
        error_write_text(why->nearest, sizeof why->nearest, name);
    }
    return false;
}

bool error_key(struct error *why, const char *key)
{
    if (key != NULL) {
        error_write_text(why->key, sizeof why->key, key);
    }
    return false;
}

bool error_rest(struct error *why, const char *command)
{
    static const char cut[] = ", ...";
    size_t used = strlen(why->expected), end = sizeof cut - 1;
    return used == 0 || (used >= end && strcmp(why->expected + used - end, cut) == 0)
               ? error_expect(why, "one of '%s'", command)
               : false;
}

void error_format(const struct error *why, char *text, size_t size)
{
    char place[sizeof why->file + 16] = "";
    if (why->file[0] != '\0' && why->line > 0) {
        snprintf(place, sizeof place, "%s:%d: ", why->file, why->line);
    } else if (why->file[0] != '\0') {
        snprintf(place, sizeof place, "%s: ", why->file);
    }
    bool expected = why->expected[0] != '\0', nearest = why->nearest[0] != '\0';
    snprintf(text, size, "%s%s%s%s%s%s%s%s%s", place, why->found, expected || nearest ? "\n  " : "",
             nearest ? "nearest: '" : "", why->nearest, nearest ? "'" : "",
             expected && nearest ? "   " : "", expected ? "expected: " : "", why->expected);
}
