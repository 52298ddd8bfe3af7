#include "scenario/scenario_names.h"

#include "base/named.h"
#include "hardware/profile.h"
#include "scenario/machine_places.h"
#include "scenario/resolve_trace.h"
#include "scenario/scenario.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* The place that `path` is, or whose map `path` is the `extends` of; NULL if there is none. */
static const struct machine_place *find_place(const char *path)
{
    static const char extends[] = ".extends";
    size_t length = strlen(path), behind = strlen(extends);
    bool inside = length > behind && strcmp(path + length - behind, extends) == 0;
    return machine_place_find(path, inside ? length - behind : length);
}

/* Check the name at `path`, or those inside a map there. */
static bool check_machine(const struct node *node, const char *path, struct error *why)
{
    for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
        char inner[256];
        snprintf(inner, sizeof inner, "%s.%s", path, node->children[i]->key);
        if (!check_machine(node->children[i], inner, why)) {
            return false;
        }
    }
    const struct machine_place *place = node->kind == NODE_SCALAR ? find_place(path) : NULL;
    return place == NULL || profile_named(node, place->part, why);
}

static bool check_file(const struct scenario_key *key, const struct node *node, struct error *why)
{
    char path[PATH_SIZE];
    return named_file(node->text, key->folder, key->suffix, key->name, node->file, node->line, path,
                      sizeof path, why);
}

static bool check_value(const char *path, const struct node *value, struct error *why)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    if (key != NULL && key->shape == SCENARIO_NAME && value->kind == NODE_SCALAR) {
        return check_file(key, value, why);
    }
    if (key != NULL && key->shape == SCENARIO_TRACE && value->kind == NODE_SCALAR) {
        return resolve_trace_named(value, why);
    }
    return check_machine(value, path, why);
}

bool scenario_check_names(const struct node *sweep, struct error *why)
{
    bool good = true;
    for (size_t i = 0; sweep != NULL && good && i < sweep->count; i++) {
        const struct node *list = sweep->children[i];
        for (size_t j = 0; good && j < list->count; j++) {
            good = check_value(list->key, list->children[j], why);
        }
    }
    return good;
}
