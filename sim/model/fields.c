/* An absent key and null mean the same, as in the programs that write these files. */
#include "model/fields.h"

#include <stdarg.h>
#include <stdio.h>

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",
        [JSON_STRING] = "a text",    [JSON_INTEGER] = "a whole number",
        [JSON_REAL] = "a fraction",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return names[json_typeof(value)];
}

bool field_error(const struct fields *fields, const char *key, struct error *why,
                 const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_input(why, fields->file, 0, "'%s%s%s' %s", fields->inside,
                       fields->inside[0] != '\0' ? "." : "", key, text);
}

/* The value of `key`; NULL if it is absent, null or not a `type` (then `*fine` is false). */
static const json_t *typed_value(const struct fields *fields, const char *key, json_type type,
                                 const char *type_text, bool *fine, struct error *why)
{
    const json_t *value = json_object_get(fields->object, key);
    *fine = true;
    if (value == NULL || json_is_null(value)) {
        return NULL;
    }
    if (json_typeof(value) == type) {
        return value;
    }
    field_error(fields, key, why, "is %s", type_name(value));
    *fine = error_expect(why, "%s", type_text);
    return NULL;
}

bool field_whole(const struct fields *fields, const char *key, uint32_t least, uint32_t most,
                 int64_t fallback, uint32_t *out, struct error *why)
{
    bool fine;
    const json_t *value = typed_value(fields, key, JSON_INTEGER, "a whole number", &fine, why);
    if (!fine) {
        return false;
    }
    if (value == NULL) {
        *out = (uint32_t)fallback;
        return fallback != FIELD_REQUIRED || field_error(fields, key, why, "is missing") ||
               error_expect(why, "a whole number from %u to %u", least, most);
    }
    json_int_t number = json_integer_value(value);
    if (number < (json_int_t)least || number > (json_int_t)most) {
        field_error(fields, key, why, "is %" JSON_INTEGER_FORMAT, number);
        return error_expect(why, "a whole number from %u to %u", least, most);
    }
    *out = (uint32_t)number;
    return true;
}

bool field_bool(const struct fields *fields, const char *key, bool *out, struct error *why)
{
    const json_t *value = json_object_get(fields->object, key);
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    if (!json_is_boolean(value)) {
        field_error(fields, key, why, "is %s", type_name(value));
        return error_expect(why, "true or false");
    }
    *out = json_is_true(value);
    return true;
}

bool field_text(const struct fields *fields, const char *key, const char **out, struct error *why)
{
    bool fine;
    const json_t *value = typed_value(fields, key, JSON_STRING, "a text", &fine, why);
    if (value != NULL) {
        *out = json_string_value(value);
    }
    return fine;
}

bool field_list(const struct fields *fields, const char *key, const json_t **out, struct error *why)
{
    bool fine;
    *out = typed_value(fields, key, JSON_ARRAY, "a list", &fine, why);
    return fine;
}

bool field_object(const struct fields *fields, const char *key, const json_t **out,
                  struct error *why)
{
    bool fine;
    *out = typed_value(fields, key, JSON_OBJECT, "an object", &fine, why);
    return fine;
}
