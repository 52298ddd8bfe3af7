/* One text for equal trees: flow style, keys sorted by bytes, every scalar in double quotes, in
 * ASCII. It is YAML (and JSON, except for characters past 16 bits), so reading it and writing it
 * again gives the same text. */
#include "core/array.h"
#include "core/node.h"
#include "core/quote.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

static void put_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    quote_write(QUOTE_YAML_DOUBLE, text, out);
    fputc('"', out);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(struct node *const *)a)->key, (*(struct node *const *)b)->key);
}

static bool put_node(const struct node *node, FILE *out, struct error *why);

static bool put_children(struct node *const *children, size_t count, FILE *out, struct error *why)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        fputs(i > 0 ? ", " : "", out);
        if (children[i]->key != NULL) {
            put_quoted(children[i]->key, out);
            fputs(": ", out);
        }
        done = put_node(children[i], out, why);
    }
    return done;
}

static bool put_map(const struct node *map, FILE *out, struct error *why)
{
    struct node **sorted = array_zeroed(map->count, sizeof(struct node *), why);
    if (sorted == NULL) {
        return false;
    }
    if (map->count > 0) {
        memcpy(sorted, map->children, map->count * sizeof(struct node *));
        qsort(sorted, map->count, sizeof(struct node *), compare_keys);
    }
    fputc('{', out);
    bool done = put_children(sorted, map->count, out, why);
    fputc('}', out);
    free(sorted);
    return done;
}

static bool put_node(const struct node *node, FILE *out, struct error *why)
{
    bool done = true;
    if (node->kind == NODE_MAP) {
        return put_map(node, out, why);
    }
    if (node->kind == NODE_LIST) {
        fputc('[', out);
        done = put_children(node->children, node->count, out, why);
        fputc(']', out);
    } else if (node->kind == NODE_SCALAR) {
        put_quoted(node->text, out);
    } else {
        fputs("null", out);
    }
    return done;
}

char *node_canonical(const struct node *node, struct error *why)
{
    struct text_file text;
    return text_close(&text, text_open(&text, why) && put_node(node, text.out, why), why);
}
