/* Anchors, aliases and merged keys of YAML 1.1 (yaml.org/type/merge): "&name" marks a node, "*name"
 * is a copy of it, and the keys of "<<: *name" are those of the map that has no such keys itself. */
#include "core/node_build.h"

#include "core/array.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

static const char merge[] = "<<";

bool node_anchors_add(struct node_anchors *anchors, const char *name, const struct node *node,
                      struct error *why)
{
    if (!array_reserve(&anchors->all, &anchors->capacity, anchors->count + 1, sizeof *anchors->all,
                       why)) {
        return false;
    }
    char *copy = text_duplicate(name, why);
    anchors->all[anchors->count].name = copy;
    anchors->all[anchors->count].node = node;
    anchors->count += copy != NULL;
    return copy != NULL;
}

const struct node *node_anchors_find(const struct node_anchors *anchors, const char *name)
{
    for (size_t i = anchors->count; i-- > 0;) { /* the latest of that name */
        if (strcmp(anchors->all[i].name, name) == 0) {
            return anchors->all[i].node;
        }
    }
    return NULL;
}

void node_anchors_release(struct node_anchors *anchors)
{
    for (size_t i = 0; i < anchors->count; i++) {
        free(anchors->all[i].name);
    }
    free(anchors->all);
}

size_t node_measure(const struct node *node, size_t *depth)
{
    size_t count = 1 + (node->text != NULL ? strlen(node->text) / 64 : 0), deepest = 0;
    for (size_t i = 0; i < node->count; i++) {
        size_t below;
        count += node_measure(node->children[i], &below);
        deepest = below > deepest ? below : deepest;
    }
    *depth = deepest + (node->kind == NODE_MAP || node->kind == NODE_LIST);
    return count;
}

/* Give the map copies of the keys that it lacks. */
static bool take_keys(struct node *map, const struct node *from, struct error *why)
{
    if (from->kind != NODE_MAP) {
        return error_input(why, from->file, from->line, "'<<' is no map, nor a list of maps");
    }
    for (size_t i = 0; i < from->count; i++) {
        const struct node *child = from->children[i];
        if (node_get(map, child->key) != NULL || strcmp(child->key, merge) == 0) {
            continue;
        }
        if (map->count == NODE_MOST_KEYS) {
            return error_input(why, from->file, from->line, "a map of more than %d keys",
                               NODE_MOST_KEYS);
        }
        struct node *copy = node_copy(child, why);
        if (copy == NULL || !node_append(map, copy, why)) {
            node_destroy(copy);
            return false;
        }
    }
    return true;
}

bool node_merge_keys(struct node *node, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < node->count; i++) {
        good = node_merge_keys(node->children[i], why);
    }
    const struct node *from = node_get(node, merge);
    if (from == NULL || !good) {
        return good;
    }
    for (size_t i = 0; good && i < from->count && from->kind == NODE_LIST; i++) {
        good = take_keys(node, from->children[i], why);
    }
    good = good && (from->kind == NODE_LIST || take_keys(node, from, why));
    node_remove(node, merge);
    return good;
}
