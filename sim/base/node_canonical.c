/* One text for equal trees: flow style, keys sorted by bytes, every scalar in double quotes, in
 * ASCII. It is YAML (and JSON, except for characters past 16 bits), so reading it and writing it
 * again gives the same text. */
#include "base/array.h"
#include "base/node.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct canonical_text {
    char *bytes;
    size_t count, capacity;
};

static bool node_canonical_put(struct canonical_text *text, const char *bytes, size_t count,
                               struct error *why)
{
    if (!array_reserve(&text->bytes, &text->capacity, text->count + count, 1, why)) {
        return false;
    }
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
    return true;
}

static bool put_string(struct canonical_text *text, const char *string, struct error *why)
{
    return node_canonical_put(text, string, strlen(string), why);
}

static bool put_quoted(struct canonical_text *text, const char *string, struct error *why)
{
    if (!put_string(text, "\"", why)) {
        return false;
    }
    while (*string != '\0') {
        char escaped[TEXT_ESCAPED];
        text_escape(&string, escaped); /* valid UTF-8: libyaml checked it */
        if (!put_string(text, escaped, why)) {
            return false;
        }
    }
    return put_string(text, "\"", why);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(struct node *const *)a)->key, (*(struct node *const *)b)->key);
}

static bool put_node(struct canonical_text *text, const struct node *node, struct error *why);

static bool put_children(struct canonical_text *text, struct node *const *children, size_t count,
                         struct error *why)
{
    for (size_t i = 0; i < count; i++) {
        const struct node *child = children[i];
        if ((i > 0 && !put_string(text, ", ", why)) ||
            (child->key != NULL &&
             !(put_quoted(text, child->key, why) && put_string(text, ": ", why))) ||
            !put_node(text, child, why)) {
            return false;
        }
    }
    return true;
}

static bool put_map(struct canonical_text *text, const struct node *map, struct error *why)
{
    struct node **sorted = array_zeroed(map->count, sizeof(struct node *), why);
    if (sorted == NULL) {
        return false;
    }
    if (map->count > 0) {
        memcpy(sorted, map->children, map->count * sizeof(struct node *));
        qsort(sorted, map->count, sizeof(struct node *), compare_keys);
    }
    bool done = put_string(text, "{", why) && put_children(text, sorted, map->count, why) &&
                put_string(text, "}", why);
    free(sorted);
    return done;
}

static bool put_node(struct canonical_text *text, const struct node *node, struct error *why)
{
    switch (node->kind) {
    case NODE_SCALAR:
        return put_quoted(text, node->text, why);
    case NODE_LIST:
        return put_string(text, "[", why) && put_children(text, node->children, node->count, why) &&
               put_string(text, "]", why);
    case NODE_MAP:
        return put_map(text, node, why);
    default:
        return put_string(text, "null", why);
    }
}

char *node_canonical(const struct node *node, struct error *why)
{
    struct canonical_text text = {0};
    if (!put_node(&text, node, why) || !node_canonical_put(&text, "", 1, why)) {
        free(text.bytes);
        return NULL;
    }
    return text.bytes;
}
