#include "cli/frame/message.h"

#include "core/json_writer.h"

#include <stdarg.h>

static bool in_json;

/* A line is written at once, so that other processes' lines do not come between. */
void message_use_json(void)
{
    in_json = true;
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}

bool message_is_json(void)
{
    return in_json;
}

static void put_some(struct json_writer *json, const char *key, const char *text)
{
    if (text[0] != '\0') {
        json_put_text(json, key, text);
    }
}

static void print_error_object(const struct error *why, const char *text, int status)
{
    struct json_writer json = {.out = stderr};
    json_begin(&json, NULL, '{');
    json_put_text(&json, "error", text);
    put_some(&json, "key", why->key);
    put_some(&json, "file", why->file);
    if (why->line > 0) {
        json_put(&json, "line", "%d", why->line);
    }
    json_put_text(&json, "found", why->found);
    put_some(&json, "expected", why->expected);
    put_some(&json, "nearest", why->nearest);
    json_put(&json, "status", "%d", status);
    if (why->kind == ERROR_UNMET) {
        json_put(&json, "unmet", "true");
    }
    json_end(&json, '}');
}

void message_error(const struct error *why, int status)
{
    char text[ERROR_TEXT];
    error_format(why, text, sizeof text);
    if (in_json) {
        print_error_object(why, text, status);
    } else {
        fprintf(stderr, "spillway: %s", text);
    }
    fputc('\n', stderr);
}

void message_note(const char *format, ...)
{
    char text[ERROR_TEXT];
    struct json_writer json = {.out = stderr};
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (in_json) {
        json_begin(&json, NULL, '{');
        json_put_text(&json, "note", text);
        json_end(&json, '}');
    } else {
        fputs(text, stderr);
    }
    fputc('\n', stderr);
}

void message_progress(uint32_t done, uint32_t total, const char *text)
{
    struct json_writer json = {.out = stderr};
    json_begin(&json, NULL, '{');
    json_put_text(&json, "progress", text);
    json_put(&json, "done", "%u", done);
    if (total > 0) {
        json_put(&json, "total", "%u", total);
    }
    json_end(&json, '}');
    fputc('\n', stderr);
}
