#include "cli/runs/runs.h"

#include "core/text.h"

#include <ctype.h>
#include <string.h>

static const char *last_word(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot != NULL ? dot + 1 : key;
}

const char *sweep_key_title(const struct node *sweep, size_t index)
{
    const char *key = sweep->children[index]->key;
    for (size_t i = 0; i < sweep->count; i++) {
        if (i != index && strcmp(last_word(sweep->children[i]->key), last_word(key)) == 0) {
            return key;
        }
    }
    return last_word(key);
}

/* A value on one line: its scalars between blanks, each after its key if these are values, as in contexts. */
static void append_value(const struct node *node, char *text, size_t size)
{
    if (node->kind == NODE_SCALAR) {
        bool keyed = node->key != NULL && isdigit((unsigned char)node->key[0]);
        text_append(text, size, "%s%s%s%s", text[0] != '\0' ? " " : "", keyed ? node->key : "",
                    keyed ? ":" : "", node->text);
    }
    for (size_t i = 0; i < node->count; i++) {
        append_value(node->children[i], text, size);
    }
}

static const struct node *sweep_value_at(const struct node *sweep, size_t key, uint32_t point)
{
    size_t stride = 1;
    for (size_t i = key + 1; i < sweep->count; i++) {
        stride *= sweep->children[i]->count;
    }
    const struct node *list = sweep->children[key];
    return list->children[point / stride % list->count];
}

void sweep_point_value(const struct node *sweep, uint32_t key, uint32_t index, char *text,
                       size_t size)
{
    const struct node *value = sweep_value_at(sweep, key, index);
    text[0] = '\0';
    if (strcmp(last_word(sweep->children[key]->key), "policy") != 0 ||
        !policy_words(value, text, size)) {
        append_value(value, text, size);
    }
}

/* A scalar that JSON writes as a number is one; NULL where memory is out. */
static json_t *sweep_value_json(const struct node *value)
{
    json_t *json = value->kind == NODE_SCALAR ? json_loads(value->text, JSON_DECODE_ANY, NULL)
                   : value->kind == NODE_LIST ? json_array()
                   : value->kind == NODE_MAP  ? json_object()
                                              : json_null();
    if (value->kind == NODE_SCALAR && !json_is_number(json)) {
        json_decref(json);
        return json_string(value->text);
    }
    for (size_t i = 0; i < value->count; i++) {
        json_t *child = sweep_value_json(value->children[i]);
        if (value->kind == NODE_LIST) {
            json_array_append_new(json, child);
        } else {
            json_object_set_new(json, value->children[i]->key, child);
        }
    }
    return json;
}

json_t *sweep_point_json(const struct node *sweep, uint32_t point)
{
    json_t *keys = sweep != NULL ? json_object() : NULL;
    for (size_t i = 0; sweep != NULL && i < sweep->count; i++) {
        json_object_set_new(keys, sweep->children[i]->key,
                            sweep_value_json(sweep_value_at(sweep, i, point)));
    }
    return keys;
}

void sweep_point_setting(const struct node *sweep, uint32_t point, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; sweep != NULL && i < sweep->count; i++) {
        const struct node *list = sweep->children[i];
        if (list->count > 1 && strcmp(list->key, "system") != 0) {
            char value[64];
            sweep_point_value(sweep, (uint32_t)i, point, value, sizeof value);
            text_append(text, size, "%s%s %s", text[0] != '\0' ? ", " : "",
                        sweep_key_title(sweep, i), value);
        }
    }
}

size_t sweep_point_group(const struct node *sweep, uint32_t index)
{
    size_t stride = 1, group = 0;
    bool systems = false;
    for (size_t i = sweep != NULL ? sweep->count : 0; i > 0; i--) {
        const struct node *list = sweep->children[i - 1];
        if (strcmp(list->key, "system") == 0) {
            systems = true;
        } else {
            group += index % list->count * stride;
            stride *= list->count;
        }
        index /= (uint32_t)list->count;
    }
    return systems ? group : 0;
}
