#include "core/node_fields.h"

#include <string.h>

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

static bool node_fields_read_one(const struct node *map, const struct node_field *field, void *at,
                                 struct error *why)
{
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
        good = node_fields_read_one(map, field, (char *)out + field->offset, why);
    }
    return good;
}

bool node_fields_list(const struct node *list, const struct node_field *fields, size_t size,
                      uint32_t most, void *out, uint32_t *count, struct error *why)
{
    *count = 0;
    memset(out, 0, size * most);
    if (list == NULL || list->kind == NODE_NULL) {
        return true;
    }
    if (list->kind != NODE_LIST || list->count > most) {
        node_error(list, why, "'%s' is no list of at most %u", list->key, most);
        return error_expect(why, "- {%s: ..., ...}", fields[0].key);
    }
    bool good = true;
    for (; good && *count < list->count; (*count)++) {
        good = node_fields_read(list->children[*count], fields, list->key,
                                (char *)out + *count * size, why);
    }
    return good;
}
