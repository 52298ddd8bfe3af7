#include "study/scenario_layers.h"

#include "study/machine_places.h"

#include <stdio.h>
#include <string.h>

static bool any_value(const struct node *list, enum node_kind kind)
{
    bool any = false;
    for (size_t i = 0; i < list->count; i++) {
        any = any || list->children[i]->kind == kind;
    }
    return any;
}

/* What a layer says of a swept key; NULL where that is nothing, or stands beside the values: inside
 * of a named machine, or of maps. */
static const struct node *find_said(const struct node *layer, const struct node *list)
{
    bool itself = strcmp(list->key, "sweep") == 0; /* which is refused elsewhere */
    const struct node *said = itself ? NULL : node_find(layer, list->key);
    if (said == NULL || said->kind != NODE_MAP) {
        return said;
    }
    if (machine_place_find(list->key, strlen(list->key)) != NULL) {
        return node_get(said, "extends");
    }
    return any_value(list, NODE_MAP) ? NULL : said;
}

bool layer_check(const struct node *layer, struct error *why)
{
    const struct node *sweep = node_get(layer, "sweep");
    for (size_t i = 0; sweep != NULL && sweep->kind == NODE_MAP && i < sweep->count; i++) {
        const struct node *list = sweep->children[i], *said = find_said(layer, list);
        char line[32] = "";
        if (said == NULL || said->kind == NODE_NULL || any_value(list, NODE_NULL)) {
            continue;
        }
        if (said->line > 0) {
            snprintf(line, sizeof line, " in line %d", said->line);
        }
        node_error(list, why, "'%.128s' is swept, and said as well%s", list->key, line);
        return error_expect(why, "one of the two: only a later file, or --set over files, replaces "
                                 "what is said or swept");
    }
    return true;
}

void layer_end_sweeps(struct node *root, const struct node *layer)
{
    struct node *sweep = NULL;
    for (size_t i = 0; i < root->count; i++) {
        sweep = strcmp(root->children[i]->key, "sweep") == 0 ? root->children[i] : sweep;
    }
    if (sweep == NULL || sweep->kind != NODE_MAP) {
        return;
    }
    for (size_t i = sweep->count; i-- > 0;) {
        if (find_said(layer, sweep->children[i]) != NULL) {
            node_remove(sweep, sweep->children[i]->key);
        }
    }
    if (sweep->count == 0) {
        node_remove(root, "sweep");
    }
}
