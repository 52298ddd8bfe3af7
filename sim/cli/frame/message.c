#include "cli/frame/message.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static bool in_json;

void message_use_json(void)
{
    in_json = true;
}

bool message_is_json(void)
{
    return in_json;
}

/* Add a text that is not empty. The name of a file in it need not be UTF-8. */
static void message_put_text(json_t *object, const char *name, const char *text)
{
    json_t *json = json_string(text);
    if (json == NULL) {
        json = json_string_nocheck(text);
        for (char *c = (char *)json_string_value(json); c != NULL && *c != '\0'; c++) {
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        }
    }
    if (text[0] != '\0') {
        json_object_set(object, name, json);
    }
    json_decref(json);
}

static void message_put_number(json_t *object, const char *name, int64_t number)
{
    json_object_set_new(object, name, json_integer(number));
}

static void message_print(json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT);
    dprintf(STDERR_FILENO, "%s\n", line != NULL ? line : "{\"error\":\"out of memory\"}");
    free(line);
    json_decref(object);
}

static json_t *error_object(const struct error *why, const char *text, int status)
{
    json_t *object = json_object();
    message_put_text(object, "error", text);
    message_put_text(object, "key", why->key);
    message_put_text(object, "file", why->file);
    if (why->line > 0) {
        message_put_number(object, "line", why->line);
    }
    message_put_text(object, "found", why->found);
    message_put_text(object, "expected", why->expected);
    message_put_text(object, "nearest", why->nearest);
    message_put_number(object, "status", status);
    if (why->kind == ERROR_UNMET) {
        json_object_set_new(object, "unmet", json_true());
    }
    return object;
}

void message_error(const struct error *why, int status)
{
    char text[ERROR_TEXT];
    error_format(why, text, sizeof text);
    if (in_json) {
        message_print(error_object(why, text, status));
    } else {
        dprintf(STDERR_FILENO, "spillway: %s\n", text);
    }
}

void message_note(const char *format, ...)
{
    char text[ERROR_TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (in_json) {
        json_t *object = json_object();
        message_put_text(object, "note", text);
        message_print(object);
    } else {
        dprintf(STDERR_FILENO, "%s\n", text);
    }
}

void message_progress(uint32_t done, uint32_t total, const char *text)
{
    json_t *object = json_object();
    message_put_text(object, "progress", text);
    message_put_number(object, "done", done);
    if (total > 0) {
        message_put_number(object, "total", total);
    }
    message_print(object);
}
