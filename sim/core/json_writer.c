#include "core/json_writer.h"

#include <math.h>
#include <stdarg.h>

static void json_writer_key(struct json_writer *json, const char *key)
{
    fputs(json->follows ? "," : "", json->out);
    json->follows = true;
    if (key != NULL) {
        fprintf(json->out, "\"%s\":", key);
    }
}

void json_begin(struct json_writer *json, const char *key, char bracket)
{
    json_writer_key(json, key);
    fputc(bracket, json->out);
    json->follows = false;
}

void json_end(struct json_writer *json, char bracket)
{
    fputc(bracket, json->out);
    json->follows = true;
}

static void json_writer_put(struct json_writer *json, const char *key, json_t *value, size_t flags)
{
    json_writer_key(json, key);
    json_dumpf(value, json->out, JSON_ENCODE_ANY | flags);
    json_decref(value);
}

json_t *json_utf8(const char *text, bool *bad)
{
    json_t *string = json_string(text);
    if (string == NULL) {
        *bad = true;
        string = json_string_nocheck(text);
        for (char *c = (char *)json_string_value(string); c != NULL && *c != '\0'; c++) {
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        }
    }
    return string;
}

void json_put_text(struct json_writer *json, const char *key, const char *text)
{
    json_writer_put(json, key, text != NULL ? json_utf8(text, &json->bad) : json_null(), 0);
}

void json_put_number(struct json_writer *json, const char *key, double value, int digits)
{
    json_writer_put(json, key, isfinite(value) ? json_real(value) : json_null(),
                    JSON_REAL_PRECISION((size_t)digits));
}

void json_put_value(struct json_writer *json, const char *key, json_t *value)
{
    json_writer_put(json, key, value, JSON_COMPACT);
}

void json_put(struct json_writer *json, const char *key, const char *format, ...)
{
    va_list list;
    json_writer_key(json, key);
    va_start(list, format);
    vfprintf(json->out, format, list);
    va_end(list);
}
