/* The decoder's object is "text_config" where there is one, else the whole file. */
#include "model/read/overrides.h"

#include "base/array.h"

#include <string.h>

static json_t *decoder_of(json_t *root)
{
    json_t *inside = json_object_get(root, "text_config");
    return json_is_object(inside) ? inside : root;
}

char *overrides_finite(const char *text, size_t size, struct error *why)
{
    static const char word[] = "Infinity", number[] = "1e308   ";
    char *copy = array_zeroed(size + 1, 1, why);
    bool quoted = false;
    for (size_t i = 0; copy != NULL && i < size; i++) {
        bool escaped = i > 0 && text[i - 1] == '\\';
        quoted ^= text[i] == '"' && !escaped;
        copy[i] = text[i];
        if (!quoted && size - i >= strlen(word) && memcmp(text + i, word, strlen(word)) == 0) {
            memcpy(copy + i, number, strlen(word));
            i += strlen(word) - 1;
        }
    }
    return copy;
}

/* A scalar as JSON reads it, or else as a text; a list of such. NULL for a map. */
static json_t *json_of(const struct node *node)
{
    if (node->kind == NODE_LIST) {
        json_t *list = json_array();
        for (size_t i = 0; i < node->count; i++) {
            json_array_append_new(list, json_of(node->children[i]));
        }
        return list;
    }
    if (node->kind != NODE_SCALAR) {
        return node->kind == NODE_NULL ? json_null() : NULL;
    }
    json_t *value = json_loads(node->text, JSON_DECODE_ANY, NULL);
    return value != NULL ? value : json_string(node->text);
}

bool overrides_apply(json_t *root, const struct node *keys, struct error *why)
{
    for (size_t i = 0; keys != NULL && i < keys->count; i++) {
        const struct node *node = keys->children[i];
        bool top =
            json_object_get(root, node->key) != NULL || strcmp(node->key, "architectures") == 0;
        json_t *value = json_of(node);
        if (value == NULL) {
            node_error(node, why, "'config.%s' is a map", node->key);
            return error_expect(why, "a number, a word or a list");
        }
        if (strcmp(node->key, "architectures") == 0 && json_is_string(value)) {
            json_t *list = json_array();
            json_array_append_new(list, value);
            value = list;
        }
        json_object_set_new(top ? root : decoder_of(root), node->key, value);
    }
    return true;
}

void overrides_rename(json_t *root)
{
    static const struct {
        const char *older, *present;
    } names[] = {{"attention_head_dim", "head_dim"},
                 {"model_max_length", "max_position_embeddings"},
                 {"qk_norm", "use_qk_norm"}};
    json_t *decoder = decoder_of(root);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(decoder, names[i].older);
        if (value != NULL && json_object_get(decoder, names[i].present) == NULL) {
            json_object_set(decoder, names[i].present, value);
        }
    }
}
