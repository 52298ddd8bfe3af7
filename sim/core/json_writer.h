/* The one way in which JSON is written: a value after the other, to a stream.
 *
 *   struct json_writer json = {.out = stdout};
 *   json_begin(&json, NULL, '{');
 *   json_put_text(&json, "model", "x");
 *   json_end(&json, '}');                   {"model":"x"}
 *
 * `key` is NULL in a list, and else a word of the program's own. Errors of the stream are found when
 * it is flushed. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct json_writer {
    FILE *out;
    bool follows; /* something: the next value has a comma */
    bool bad;     /* a text was not UTF-8, and has '?' in place of what is not ASCII */
};

void json_begin(struct json_writer *json, const char *key, char bracket);
void json_end(struct json_writer *json, char bracket);

void json_put_text(struct json_writer *json, const char *key, const char *text); /* NULL: null */

/* A text as JSON; `*bad`: it was not UTF-8, and has '?' in place of what is not ASCII. */
json_t *json_utf8(const char *text, bool *bad);

/* A number of so many digits, with a point or an exponent; null if it is not finite. */
void json_put_number(struct json_writer *json, const char *key, double value, int digits);

/* A tree, which this takes. */
void json_put_value(struct json_writer *json, const char *key, json_t *value);

/* A value that is JSON as it is printed: "%u", "true". */
void json_put(struct json_writer *json, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
