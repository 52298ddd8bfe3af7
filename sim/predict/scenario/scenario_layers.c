#include "predict/scenario/scenario_layers.h"

#include "predict/scenario/scenario_names.h"

#include <stdio.h>
#include <string.h>

enum { PATH = 256 };

static bool any_value(const struct node *list, enum node_kind kind)
{
    bool any = false;
    for (size_t i = 0; i < list->count; i++) {
        any = any || list->children[i]->kind == kind;
    }
    return any;
}

/* Does a value set the key at `path`, or replace it? The value is laid on the first `length` bytes
 * of `path`. */
static bool value_says(const struct node *value, const char *path, size_t length)
{
    while (value != NULL && value->kind == NODE_MAP && path[length] != '\0') {
        char key[PATH];
        const char *part = path + length + 1;
        snprintf(key, sizeof key, "%.*s", (int)strcspn(part, "."), part);
        value = node_get(value, key);
        length += 1 + strcspn(part, ".");
    }
    bool names = strcmp(path + length, "") != 0 && strcmp(path + length, ".extends") != 0 &&
                 machine_place_find(path, length) != NULL;
    return value != NULL && value->kind != NODE_NULL && !names;
}

static bool all_say(const struct node *list, const char *path)
{
    bool all = true;
    for (size_t i = 0; i < list->count; i++) {
        all = all && value_says(list->children[i], path, strlen(list->key));
    }
    return all;
}

/* Find a key inside a map, which is at `path`, that each value of the list sets as well. `*name` is
 * the key's name; for the name of a machine's part, the part's. */
static const struct node *find_in_all(const struct node *map, const char *path,
                                      const struct node *list, const char **name)
{
    const struct node *found = NULL;
    for (size_t i = 0; found == NULL && i < map->count; i++) {
        const struct node *child = map->children[i];
        char inner[PATH];
        snprintf(inner, sizeof inner, "%s.%s", path, child->key);
        if (child->kind == NODE_MAP) {
            found = find_in_all(child, inner, list, name);
        } else if (child->kind != NODE_NULL && all_say(list, inner)) {
            found = child;
            *name = strcmp(child->key, "extends") == 0 ? map->key : child->key;
        }
    }
    return found;
}

/* The value that a layer gives to a swept key. NULL if it gives none, or only values inside of a
 * named machine or of maps, which apply beside the swept ones. */
static const struct node *find_stated(const struct node *layer, const struct node *list)
{
    bool itself = strcmp(list->key, "sweep") == 0; /* an error that is reported elsewhere */
    const struct node *said = itself ? NULL : node_find(layer, list->key);
    if (said == NULL || said->kind != NODE_MAP) {
        return said;
    }
    if (machine_place_find(list->key, strlen(list->key)) != NULL) {
        return node_get(said, "extends");
    }
    return any_value(list, NODE_MAP) ? NULL : said;
}

/* A value that a layer sets inside a map and that each of the swept maps sets too. */
static const struct node *find_stated_inside(const struct node *layer, const struct node *list,
                                             const char **name)
{
    const struct node *said = node_find(layer, list->key);
    bool maps = said != NULL && said->kind == NODE_MAP && any_value(list, NODE_MAP);
    return maps ? find_in_all(said, list->key, list, name) : NULL;
}

static bool check_list(const struct node *layer, const struct node *list, struct error *why)
{
    const struct node *said = find_stated(layer, list);
    const char *name;
    char line[32] = "", key[PATH] = "";
    if (said == NULL && (said = find_stated_inside(layer, list, &name)) != NULL) {
        snprintf(key, sizeof key, "its '%.128s' ", name);
    }
    if (said == NULL || said->kind == NODE_NULL || any_value(list, NODE_NULL)) {
        return true;
    }
    if (said->line > 0) {
        snprintf(line, sizeof line, " in line %d", said->line);
    }
    node_error(list, why, "'%.128s' is swept, and %sset as well%s", list->key, key, line);
    return error_expect(why,
                        "either '%.100s' or 'sweep.%.100s' here; --set of one of them would "
                        "replace the other in a file",
                        list->key, list->key);
}

bool layer_check(const struct node *layer, struct error *why)
{
    const struct node *sweep = node_get(layer, "sweep");
    bool good = true;
    for (size_t i = 0; good && sweep != NULL && sweep->kind == NODE_MAP && i < sweep->count; i++) {
        good = check_list(layer, sweep->children[i], why);
    }
    return good;
}

/* If all maps that an earlier layer sweeps set a key, they override this layer's value. Nobody
 * would notice, so it is an error. */
static bool check_maps(const struct node *layer, const struct node *list, struct error *why)
{
    const struct node *own = node_get(layer, "sweep");
    const char *name;
    const struct node *said = find_stated_inside(layer, list, &name);
    bool replaced = own != NULL && node_get(own, list->key) != NULL;
    if (said == NULL || replaced) {
        return true;
    }
    node_error(said, why, "'%.64s' is set, but each map of the swept '%.64s' sets it too", name,
               list->key);
    return error_expect(why, "a key that these maps leave out, or a new sweep.%.64s", list->key);
}

bool layer_end_sweeps(struct node *root, const struct node *layer, struct error *why)
{
    struct node *sweep = NULL;
    for (size_t i = 0; i < root->count; i++) {
        sweep = strcmp(root->children[i]->key, "sweep") == 0 ? root->children[i] : sweep;
    }
    if (sweep == NULL || sweep->kind != NODE_MAP) {
        return true;
    }
    for (size_t i = sweep->count; i-- > 0;) {
        if (!check_maps(layer, sweep->children[i], why)) {
            return false;
        }
        if (find_stated(layer, sweep->children[i]) != NULL) {
            node_remove(sweep, sweep->children[i]->key);
        }
    }
    if (sweep->count == 0) {
        node_remove(root, "sweep");
    }
    return true;
}
