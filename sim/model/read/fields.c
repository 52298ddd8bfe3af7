#include "model/read/config.h"

#include <stdlib.h>
#include <string.h>

bool field_number(const struct node *node, uint32_t least, uint32_t most, uint32_t *out)
{
    const char *text = node != NULL && node->kind == NODE_SCALAR ? node->text : "";
    size_t length = strspn(text, "0123456789");
    unsigned long long number = strtoull(text, NULL, 10);
    bool good = length > 0 && text[length] == '\0' && number >= least && number <= most;
    *out = good ? (uint32_t)number : *out;
    return good;
}

bool field_whole(const struct node *config, const char *key, uint32_t least, uint32_t most,
                 int64_t fallback, uint32_t *out, struct error *why)
{
    const struct node *node = node_stated(config, key);
    *out = node == NULL ? (uint32_t)fallback : *out;
    if (node == NULL ? fallback != FIELD_REQUIRED : field_number(node, least, most, out)) {
        return true;
    }
    field_error(config, key, why, "%s%.60s",
                node == NULL                ? "is missing"
                : node->kind == NODE_SCALAR ? "is "
                                            : "is no number",
                node != NULL && node->kind == NODE_SCALAR ? node->text : "");
    return error_expect(why, "a whole number from %u to %u", least, most);
}

bool field_sizes(const struct node *config, const struct field_size *rows, void *out,
                 struct error *why)
{
    bool ok = true;
    for (; ok && rows->keys[0] != NULL; rows++) {
        uint32_t *size = (uint32_t *)((char *)out + rows->offset);
        int64_t fallback = *size > 0 ? *size : rows->fallback;
        bool required = fallback == 0 && rows->least > 0;
        ok = field_whole(config, field_first(config, rows->keys), rows->least, rows->most,
                         required ? FIELD_REQUIRED : fallback, size, why);
    }
    return ok;
}

bool field_inside(const struct node *config, const char *key, enum node_kind kind,
                  const struct node **out, struct error *why)
{
    *out = node_stated(config, key);
    return *out == NULL || (*out)->kind == kind ||
           field_error(config, key, why, "is no %s", kind == NODE_LIST ? "list" : "object");
}

const char *field_first(const struct node *config, const char *const *keys)
{
    size_t i = 0;
    while (keys[i] != NULL && node_stated(config, keys[i]) == NULL) {
        i++;
    }
    return keys[i] != NULL ? keys[i] : keys[0];
}

bool field_named(const struct node *config, const char *const *keys, uint32_t least, uint32_t most,
                 int64_t fallback, uint32_t *out, struct error *why)
{
    const char *key = field_first(config, keys);
    if (!field_whole(config, key, least, most, fallback, out, why)) {
        return false;
    }
    for (size_t i = 0; keys[i] != NULL; i++) {
        uint32_t other = 0;
        if (field_number(node_get(config, keys[i]), 0, UINT32_MAX, &other) && other != *out) {
            field_error(config, keys[i], why, "is %u, and '%s' is %u", other, key, *out);
            return error_expect(
                why, "one number under both names, for instance by --set model.%s=N", keys[i]);
        }
    }
    return true;
}

bool field_each(const struct node *config, const char *key, uint32_t count, uint32_t most,
                uint32_t fallback, uint32_t *out, struct error *why)
{
    const struct node *list = node_stated(config, key);
    bool listed = list != NULL && list->kind == NODE_LIST;
    uint32_t one = fallback;
    if (!listed && !field_whole(config, key, 0, most, fallback, &one, why)) {
        return false;
    }
    if (listed && list->count < count) {
        field_error(config, key, why, "lists %zu layers", list->count);
        return error_expect(why, "%u layers", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (listed && !field_number(list->children[i], 0, most, &one)) {
            field_error(config, key, why, "has an invalid entry for layer %u", i);
            return error_expect(why, "whole numbers from 0 to %u", most);
        }
        out[i] = one;
    }
    return true;
}

bool field_words(const struct node *config, const char *key, uint32_t layers,
                 const struct field_word *words, const char *expected, int *out, struct error *why)
{
    const struct node *list = node_stated(config, key);
    const char *letters = list != NULL && list->kind == NODE_SCALAR ? list->text : NULL;
    size_t count = letters != NULL ? strlen(letters) : list != NULL ? list->count : 0;
    if (count != layers) {
        field_error(config, key, why, "lists %zu layers", count);
        return error_expect(why, "%u layers, as in 'num_hidden_layers'", layers);
    }
    for (uint32_t i = 0; i < layers; i++) {
        const char letter[] = {letters != NULL ? letters[i] : '\0', '\0'};
        const char *word = letters != NULL ? letter : list->children[i]->text;
        const struct field_word *at = words;
        while (at->word != NULL && (word == NULL || strcmp(at->word, word) != 0)) {
            at++;
        }
        if (at->word == NULL) {
            field_error(config, key, why, "has '%.60s' for layer %u",
                        word != NULL ? word : "no text", i);
            return error_expect(why, "%s", expected);
        }
        out[i] = at->value;
    }
    return true;
}
