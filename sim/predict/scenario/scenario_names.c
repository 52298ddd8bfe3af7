#include "predict/scenario/scenario_names.h"

#include "core/name.h"
#include "core/named.h"
#include "machine/profile.h"
#include "predict/scenario/resolve_trace.h"
#include "predict/scenario/scenario_keys.h"
#include "server/server_engine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct machine_place machine_places[] = {
    {"hardware", NULL},
#define PART(id, name, ...) {"hardware." #name, #name},
#include "core/machine_parts.def"
    {NULL, NULL},
};

const struct machine_place *machine_place_find(const char *path, size_t length)
{
    const struct machine_place *place = machine_places;
    while (place->path != NULL &&
           (strlen(place->path) != length || strncmp(place->path, path, length) != 0)) {
        place++;
    }
    return place->path != NULL ? place : NULL;
}

enum { PATH_SIZE = 4096 };

/* The place that `path` is, or whose map `path` is the `extends` of; NULL if there is none. */
static const struct machine_place *scenario_names_find_place(const char *path)
{
    static const char extends[] = ".extends";
    size_t length = strlen(path), behind = strlen(extends);
    bool inside = length > behind && strcmp(path + length - behind, extends) == 0;
    return machine_place_find(path, inside ? length - behind : length);
}

/* Check the name at `path`, or those inside a map there. */
static bool scenario_names_check_machine(const struct node *node, const char *path,
                                         struct error *why)
{
    for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
        char inner[256];
        snprintf(inner, sizeof inner, "%s.%s", path, node->children[i]->key);
        if (!scenario_names_check_machine(node->children[i], inner, why)) {
            return false;
        }
    }
    const struct machine_place *place =
        node->kind == NODE_SCALAR ? scenario_names_find_place(path) : NULL;
    return place == NULL || profile_named(node, place->part, why);
}

static bool scenario_names_check_file(const struct scenario_key *key, const struct node *node,
                                      struct error *why)
{
    char path[PATH_SIZE];
    return named_file(key->named, node->text, node->file, node->line, path, sizeof path, why);
}

static bool scenario_names_check_value(const char *path, const struct node *value,
                                       struct error *why)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    if (key != NULL && key->shape == SCENARIO_NAME && value->kind == NODE_SCALAR) {
        return scenario_names_check_file(key, value, why);
    }
    if (key != NULL && key->shape == SCENARIO_TRACE && value->kind == NODE_SCALAR) {
        return resolve_trace_named(value, why);
    }
    return scenario_names_check_machine(value, path, why);
}

/* Write the canonical spelling of a value of the key `path` into `out`, if it has one. */
static bool scenario_names_find_spelling(const char *path, const char *text, char out[NAMED_SIZE])
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    const struct machine_place *place = scenario_names_find_place(path);
    int word = -1;
    if (place != NULL) {
        return profile_canonical(text, place->part, out);
    }
    if (key != NULL && strcmp(key->name, "workload") == 0) {
        return access(text, F_OK) != 0 && named_canonical(&named_workload, text, out);
    }
    switch (key != NULL ? key->shape : SCENARIO_TEXT) {
    case SCENARIO_NAME:
        return named_canonical(key->named, text, out);
    case SCENARIO_TRACE:
        return resolve_trace_canonical(text, out, NAMED_SIZE);
    case SCENARIO_ENGINE:
        return server_engine_canonical(text, out, NAMED_SIZE);
    case SCENARIO_WORD:
        word = name_match(text, key->words);
        return word >= 0 && snprintf(out, NAMED_SIZE, "%s", key->words[word]) > 0;
    default:
        return false;
    }
}

bool scenario_spell_value(struct node *node, const char *path, struct error *why)
{
    char inner[256], name[NAMED_SIZE];
    for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
        snprintf(inner, sizeof inner, "%s.%s", path, node->children[i]->key);
        if (!scenario_spell_value(node->children[i], inner, why)) {
            return false;
        }
    }
    for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++) {
        if (!scenario_spell_value(node->children[i], path, why)) {
            return false;
        }
    }
    return node->kind != NODE_SCALAR || !scenario_names_find_spelling(path, node->text, name) ||
           strcmp(node->text, name) == 0 || node_set_text(node, name, why);
}

bool scenario_spell_names(struct node *map, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < map->count; i++) {
        struct node *child = map->children[i];
        bool sweep = strcmp(child->key, "sweep") == 0;
        for (size_t j = 0; good && sweep && j < child->count; j++) {
            good = child->kind != NODE_MAP ||
                   scenario_spell_value(child->children[j], child->children[j]->key, why);
        }
        good = good && (sweep || scenario_spell_value(child, child->key, why));
    }
    return good;
}

bool scenario_check_names(const struct node *sweep, struct error *why)
{
    bool good = true;
    for (size_t i = 0; sweep != NULL && good && i < sweep->count; i++) {
        const struct node *list = sweep->children[i];
        for (size_t j = 0; good && j < list->count; j++) {
            good = scenario_names_check_value(list->key, list->children[j], why);
        }
    }
    return good;
}
