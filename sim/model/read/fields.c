/* An absent key and null mean the same, as in the programs that write these files. */
#include "model/read/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

bool field_sizes(const struct fields *fields, const struct field_size *rows, void *out,
                 struct error *why)
{
    bool ok = true;
    for (; ok && rows->keys[0] != NULL; rows++) {
        uint32_t *size = (uint32_t *)((char *)out + rows->offset);
        int64_t fallback = *size > 0 ? *size : rows->fallback;
        bool required = fallback == 0 && rows->least > 0;
        ok = field_whole(fields, field_first(fields, rows->keys), rows->least, rows->most,
                         required ? FIELD_REQUIRED : fallback, size, why);
    }
    return ok;
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

bool field_states(const struct fields *fields, const char *key)
{
    const json_t *value = json_object_get(fields->object, key);
    return value != NULL && !json_is_null(value);
}

const char *field_first(const struct fields *fields, const char *const *keys)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        const json_t *value = json_object_get(fields->object, keys[i]);
        if (value != NULL && !json_is_null(value)) {
            return keys[i];
        }
    }
    return keys[0];
}

bool field_named(const struct fields *fields, const char *const *keys, uint32_t least,
                 uint32_t most, int64_t fallback, uint32_t *out, struct error *why)
{
    const char *key = field_first(fields, keys);
    if (!field_whole(fields, key, least, most, fallback, out, why)) {
        return false;
    }
    for (size_t i = 0; keys[i] != NULL; i++) {
        const json_t *other = json_object_get(fields->object, keys[i]);
        if (json_is_integer(other) && json_integer_value(other) != (json_int_t)*out) {
            field_error(fields, keys[i], why, "is %" JSON_INTEGER_FORMAT ", and '%s' is %u",
                        json_integer_value(other), key, *out);
            return error_expect(
                why, "one number under both names, for instance by --set model.%s=N", keys[i]);
        }
    }
    return true;
}

bool field_each(const struct fields *fields, const char *key, uint32_t count, uint32_t most,
                uint32_t fallback, uint32_t *out, struct error *why)
{
    const json_t *list = json_object_get(fields->object, key);
    uint32_t one = fallback;
    if (!json_is_array(list) && !field_whole(fields, key, 0, most, fallback, &one, why)) {
        return false;
    }
    if (json_is_array(list) && json_array_size(list) < count) {
        field_error(fields, key, why, "lists %zu layers", json_array_size(list));
        return error_expect(why, "%u layers", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        json_int_t value = json_is_array(list) ? json_integer_value(entry) : one;
        if (json_is_array(list) && (!json_is_integer(entry) || value < 0 || value > most)) {
            field_error(fields, key, why, "has an invalid entry for layer %u", i);
            return error_expect(why, "whole numbers from 0 to %u", most);
        }
        out[i] = (uint32_t)value;
    }
    return true;
}

bool field_words(const struct fields *fields, const char *key, uint32_t layers, field_set *set,
                 void *context, struct error *why)
{
    const json_t *list = json_object_get(fields->object, key);
    const char *letters = json_string_value(list);
    size_t count = letters != NULL ? strlen(letters) : json_array_size(list);
    bool ok = count == layers;
    if (!ok) {
        field_error(fields, key, why, "lists %zu layers", count);
        error_expect(why, "%u layers, as in 'num_hidden_layers'", layers);
    }
    for (uint32_t i = 0; ok && i < layers; i++) {
        const char letter[] = {letters != NULL ? letters[i] : '\0', '\0'};
        const char *word = letters != NULL ? letter : json_string_value(json_array_get(list, i));
        ok = set(fields, key, word, i, context, why);
    }
    return ok;
}

bool field_wrong_word(const struct fields *fields, const char *key, uint32_t layer,
                      const char *word, struct error *why)
{
    return field_error(fields, key, why, "has '%.60s' for layer %u",
                       word != NULL ? word : "no text", layer);
}
