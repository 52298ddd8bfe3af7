#include "core/node_fields.h"

#include "core/array.h"
#include "core/name.h"
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Typed values from a tree, and complaints about its nodes. */

static bool error_at(const struct node *node, struct error *why, const char *format, va_list list)
{
    char text[sizeof why->found];
    vsnprintf(text, sizeof text, format, list);
    error_input(why, node != NULL ? node->file : NULL, node != NULL ? node->line : 0, "%s", text);
    return error_key(why, node != NULL ? node->key : NULL);
}

bool node_error(const struct node *node, struct error *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    error_at(node, why, format, list);
    va_end(list);
    return false;
}

bool node_key_error(const struct node *map, const char *key, struct error *why, const char *format,
                    ...)
{
    const struct node *node = node_get(map, key);
    va_list list;
    va_start(list, format);
    error_at(node != NULL ? node : map, why, format, list);
    va_end(list);
    return error_key(why, key);
}

/* The scalar `key`; NULL if it is absent or empty, or if it is no scalar, and then `*good` is false. */
static const struct node *find_scalar(const struct node *map, const char *key, bool *good,
                                      struct error *why)
{
    const struct node *node = node_stated(map, key);
    *good = node == NULL || node->kind == NODE_SCALAR;
    if (!*good) {
        node_error(node, why, "'%s' is a %s", key, node->kind == NODE_LIST ? "list" : "map");
        error_expect(why, "a single value");
    }
    return *good ? node : NULL;
}

bool node_text(const struct node *map, const char *key, const char **out, struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    *out = node != NULL ? node->text : *out;
    return good;
}

bool node_word(const struct node *map, const char *key, const char *const *words, int *out,
               struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    if (node == NULL) {
        return good;
    }
    int word = name_match(node->text, words);
    if (word >= 0) {
        *out = word;
        return true;
    }
    node_error(node, why, "unknown value '%.100s' of '%s'", node->text, key);
    return name_expect(node->text, words, why);
}

bool node_quantity(const struct node *map, const char *key, enum unit unit, double *out,
                   struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    return node != NULL ? units_parse(node->text, unit, node->file, node->line, key, out, why)
                        : good;
}

bool node_whole(const struct node *map, const char *key, enum unit unit, uint64_t most,
                uint64_t *out, struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    return node != NULL
               ? units_parse_whole(node->text, unit, most, node->file, node->line, key, out, why)
               : good;
}

bool node_bool(const struct node *map, const char *key, bool *out, struct error *why)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", NULL};
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    if (node == NULL) {
        return good;
    }
    int word = name_match(node->text, words);
    if (word >= 0) {
        *out = word % 2 == 1;
        return true;
    }
    node_error(node, why, "'%s' is '%.80s', neither true nor false", key, node->text);
    return name_expect(node->text, words, why);
}

static bool node_value_is_key(const char *key, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        if (strcmp(*keys, key) == 0) {
            return true;
        }
    }
    return false;
}

bool node_check_keys(const struct node *map, const char *const *keys, const char *where,
                     struct error *why)
{
    if (map == NULL || map->kind == NODE_NULL) {
        return true;
    }
    if (map->kind != NODE_MAP) {
        node_error(map, why, "'%s' is %s", where,
                   map->kind == NODE_LIST ? "a list" : "a single value");
        return error_expect(why, "a map of keys such as '%s'", keys[0]);
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct node *child = map->children[i];
        if (!node_value_is_key(child->key, keys)) {
            node_error(child, why, "unknown key '%s' in '%s'", child->key, where);
            return name_expect(child->key, keys, why);
        }
    }
    return true;
}

enum { MOST_FIELDS = 63 };

static bool node_fields_check_keys(const struct node *map, const struct node_field *fields,
                                   const char *where, struct error *why)
{
    const char *keys[MOST_FIELDS + 1];
    size_t count = 0;
    for (; fields[count].key != NULL && count < MOST_FIELDS; count++) {
        keys[count] = fields[count].key;
    }
    keys[count] = NULL;
    return node_check_keys(map, keys, where, why);
}

/* Rows of a list, or of a map. */
static bool node_fields_rows(const struct node *rows, const struct node_field *field, char *out,
                             struct error *why)
{
    bool named = field->type == NODE_FIELD_ROWS, good = true;
    uint32_t *count = (uint32_t *)(out + field->count);
    char *at = out + field->offset;
    *count = 0;
    if (rows == NULL) {
        return true;
    }
    if (rows->kind != (named ? NODE_MAP : NODE_LIST) || (!named && rows->count > field->most)) {
        node_error(rows, why, "'%s' is no %s", field->key, named ? "map" : "list that is read");
        return error_expect(why, "%s {%s: ..., ...}", named ? "NAME:" : "-", field->inside->key);
    }
    if (named) {
        char **made = (char **)at;
        *made = *made != NULL ? *made : array_zeroed(rows->count, field->size, why);
        at = *made;
        good = at != NULL;
    }
    for (; good && *count < rows->count; ++*count, at += field->size) {
        const struct node *row = rows->children[*count];
        if (named) {
            memcpy(at, &row->key, sizeof row->key);
        }
        good = node_fields_read(row, field->inside, named ? row->key : field->key, at, why);
    }
    return good;
}

bool node_check_texts(const struct node *list, struct error *why)
{
    bool good = list == NULL || list->kind == NODE_LIST;
    for (size_t i = 0; good && list != NULL && i < list->count; i++) {
        good = list->children[i]->kind == NODE_SCALAR;
    }
    return good || node_error(list, why, "'%s' is no list of texts", list->key);
}

static bool node_fields_read_one(const struct node *map, const struct node_field *field, void *out,
                                 struct error *why)
{
    void *at = (char *)out + field->offset;
    enum unit unit = field->unit != UNIT_TEXT ? field->unit : UNIT_COUNT;
    uint64_t small = 0;
    switch (field->type) {
    case NODE_FIELD_TEXT:
        return node_text(map, field->key, at, why);
    case NODE_FIELD_YES:
        return node_bool(map, field->key, at, why);
    case NODE_FIELD_REAL:
        return node_quantity(map, field->key, unit, at, why);
    case NODE_FIELD_WHOLE:
        return node_whole(map, field->key, unit, field->most > 0 ? field->most : INT64_MAX, at,
                          why);
    case NODE_FIELD_SMALL:
        if (!node_whole(map, field->key, unit, field->most > 0 ? field->most : UINT32_MAX, &small,
                        why)) {
            return false;
        }
        *(uint32_t *)at = node_stated(map, field->key) != NULL ? (uint32_t)small : *(uint32_t *)at;
        return true;
    case NODE_FIELD_WORD:
        return node_word(map, field->key, field->words, at, why);
    case NODE_FIELD_MAP:
        return node_fields_read(node_get(map, field->key), field->inside, field->key, at, why);
    case NODE_FIELD_LIST:
    case NODE_FIELD_ROWS:
        return node_fields_rows(node_stated(map, field->key), field, out, why);
    case NODE_FIELD_TEXTS:
        if (!node_check_texts(node_stated(map, field->key), why)) {
            return false;
        }
        /* fall through */
    case NODE_FIELD_NODE:
        memcpy(at, &(const struct node *){node_stated(map, field->key)}, sizeof(struct node *));
        break;
    }
    return true;
}

bool node_fields_read(const struct node *map, const struct node_field *fields, const char *where,
                      void *out, struct error *why)
{
    bool good = node_fields_check_keys(map, fields, where, why);
    for (const struct node_field *field = fields; good && field->key != NULL; field++) {
        good = node_fields_read_one(map, field, out, why);
        if (good && field->needed && node_stated(map, field->key) == NULL) {
            good = node_error(map, why, "'%.60s' has no '%s'", where, field->key);
        }
    }
    return good;
}
