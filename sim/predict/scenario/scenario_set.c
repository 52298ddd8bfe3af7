#include "predict/scenario/scenario_set.h"

#include "core/array.h"
#include "core/name.h"
#include "core/named.h"
#include "machine/profile.h"
#include "policy/policy.h"
#include "predict/scenario/resolve_trace.h"
#include "predict/scenario/scenario_keys.h"
#include "server/server_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The keys at which a scenario names a machine or a part of one, outer ones first. A name there means
 * {extends: name}. */
static const struct machine_place {
    const char *path;
    const char *part; /* for profile_named(); NULL: a whole machine */
} machine_places[] = {
    {"hardware", NULL},
#define PART(id, name, ...) {"hardware." #name, #name},
#include "core/machine_parts.def"
    {NULL, NULL},
};

/* The place whose path is the first `length` characters of `path`; NULL if there is none. */
static const struct machine_place *machine_place_find(const char *path, size_t length)
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

typedef bool scalar_visit(struct node *scalar, const char *path, struct error *why);

/* Visit the value of the key `path`, or all of a list or map of them. */
static bool visit_scalars(struct node *node, const char *path, scalar_visit *visit,
                          struct error *why)
{
    bool good = node->kind != NODE_SCALAR || visit(node, path, why);
    for (size_t i = 0; good && i < node->count; i++) {
        struct node *child = node->children[i];
        char inner[256];
        snprintf(inner, sizeof inner, "%s%s%s", path, child->key != NULL ? "." : "",
                 child->key != NULL ? child->key : "");
        good = visit_scalars(child, inner, visit, why);
    }
    return good;
}

/* Does the name mean anything? */
static bool check_scalar(struct node *value, const char *path, struct error *why)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    const struct machine_place *place = scenario_names_find_place(path);
    char file[PATH_SIZE];
    return place != NULL ? profile_named(value, place->part, why)
           : key != NULL && key->shape == SCENARIO_NAME
               ? named_file(key->named, value->text, value->file, value->line, file, sizeof file,
                            why)
           : key != NULL && key->shape == SCENARIO_TRACE ? resolve_trace_named(value, why)
                                                         : true;
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

static bool spell_scalar(struct node *scalar, const char *path, struct error *why)
{
    char name[NAMED_SIZE];
    return !scenario_names_find_spelling(path, scalar->text, name) ||
           strcmp(scalar->text, name) == 0 || node_set_text(scalar, name, why);
}

bool scenario_spell_value(struct node *node, const char *path, struct error *why)
{
    return visit_scalars(node, path, spell_scalar, why);
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
            good = visit_scalars(list->children[j], list->key, check_scalar, why);
        }
    }
    return good;
}

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

/* Fail if `layer`, with its names opened, both sets a key and sweeps it. An empty value among the
 * swept ones is allowed: it stands for the value that is set. */
static bool layer_check(const struct node *layer, struct error *why)
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

/* Remove the keys that `layer` sets from the sweep of `root`, which has the earlier layers. Fails
 * if `layer` sets a key that all maps of a sweep set, and does not sweep these maps anew. */
static bool layer_end_sweeps(struct node *root, const struct node *layer, struct error *why)
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

#define POLICY "mechanisms.policy"

/* Turn a name where a map is allowed into {extends: name}, so that overrides can reach inside. */
static bool open_name(struct node *root, const char *path, const struct node *name,
                      struct error *why)
{
    if (name == NULL || name->kind != NODE_SCALAR) {
        return true;
    }
    struct node *map = node_parse("{extends: x}", 12, name->file, why);
    bool good =
        map != NULL && node_put(map, "extends", name, why) && node_put(root, path, map, why);
    node_destroy(map);
    return good;
}

/* Turn `hardware` and its parts into maps. */
static bool open_hardware(struct node *root, struct error *why)
{
    bool good = true;
    for (const struct machine_place *at = machine_places; good && at->path != NULL; at++) {
        good = open_name(root, at->path, node_find(root, at->path), why);
    }
    return good;
}

/* Lay `map`, whose names are open, over `root`. */
static bool lay_opened(struct node *root, const struct node *map, struct error *why)
{
    return policy_open(root, POLICY, map, why) && node_merge(root, map, why);
}

bool scenario_set_map(struct node *root, struct node *map, struct error *why)
{
    return scenario_check_keys(map, why) && open_hardware(map, why) &&
           scenario_spell_names(map, why) && lay_opened(root, map, why);
}

bool scenario_set_file(struct node *root, const char *path, struct error *why)
{
    struct node *file = node_load(path, why);
    if (file == NULL) {
        return access(path, F_OK) == 0
                   ? false
                   : error_expect(why, "a file of YAML, or a key as --set %.100s",
                                  strchr(path, '=') != NULL ? path : "KEY=VALUE");
    }
    bool good = file->kind == NODE_MAP;
    if (!good) {
        error_set(why, path, 1, "not a scenario");
        error_expect(why, "a map with 'model', 'hardware', 'system' and 'context'");
    }
    good = good && scenario_check_keys(file, why) && open_hardware(file, why) &&
           scenario_spell_names(file, why) && layer_check(file, why) &&
           layer_end_sweeps(root, file, why) && lay_opened(root, file, why);
    node_destroy(file);
    return good;
}

bool scenario_set_swept(struct node *root, const char *path, const char *values, struct error *why)
{
    size_t size = strlen(path) + strlen(values) + sizeof "{\"\": }";
    char *text = array_zeroed(size, 1, why);
    if (text == NULL) {
        return false;
    }
    snprintf(text, size, "{\"%s\": %s}", path, values);
    struct node *map = node_map("--set", why);
    bool good = map != NULL && node_set(map, "sweep", text, why) && node_merge(root, map, why);
    node_destroy(map);
    free(text);
    return good;
}

/* Is a map one value, whose parts only apply together? A figure of a machine is, and contexts. */
static bool is_one_value(const char *path, const struct node *map)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    return (key != NULL && key->shape == SCENARIO_CONTEXTS) || node_get(map, "value") != NULL ||
           node_get(map, "points") != NULL;
}

/* A map is laid over a map key by key, as one of a file would be, and so are a policy's name and
 * its parameters. Any other value replaces what is there. */
static bool lay_said(struct node *root, const char *path, const char *text, struct error *why)
{
    const struct node *there = node_find(root, path);
    bool is_map = there != NULL && there->kind == NODE_MAP && !is_one_value(path, there);
    bool inside = strncmp(path, POLICY ".", strlen(POLICY ".")) == 0;
    if (!is_map && !inside) {
        return node_set(root, path, text, why);
    }
    struct node *map = node_map("--set", why);
    bool good = map != NULL && node_set(map, path, text, why) &&
                policy_open(map, POLICY, root, why); /* parameters may be set before the name */
    if (good) {
        good = inside || node_find(map, path)->kind == NODE_MAP
                   ? open_hardware(map, why) && lay_opened(root, map, why)
                   : node_set(root, path, text, why);
    }
    node_destroy(map);
    return good;
}

bool scenario_check_override(const char *override, struct error *why)
{
    const char *equals = strchr(override, '=');
    if (equals != NULL && equals != override) {
        return true;
    }
    error_usage(why, "--set", 0, "invalid override '%.200s'", override);
    return error_expect(why, "KEY=VALUE, such as batch=8 or mechanisms.sync=gpu");
}

/* A value that is no YAML says which one it is. */
static bool name_value(const char *key, struct error *why)
{
    return strncmp(why->found, "not YAML", strlen("not YAML")) != 0
               ? false
               : error_expect(why, "a value of '%.100s' in YAML, such as 128K, [8K, 16K] or {a: b}",
                              key);
}

/* Several values of a key with one are a sweep. Other texts may have commas: a workload, an assumed
 * hit ratio, a map or list. */
static bool scenario_check_single(const char *path, const char *text, struct error *why)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    bool many = key != NULL && key->shape == SCENARIO_CONTEXTS;
    if (many || strchr(text, ',') == NULL || text[strcspn(text, "[]{}:=/\"'")] != '\0') {
        return true;
    }
    bool swept = strncmp(path, "sweep.", strlen("sweep.")) == 0;
    error_usage(why, "--set", 0, "'%.100s' takes %s, not '%.100s'", path,
                swept ? "a list in brackets" : "one value", text);
    return error_expect(why, "--set '%s%.100s=[%.100s]' for a run with each", swept ? "" : "sweep.",
                        path, text);
}

const char *scenario_config_prefix(const char *override, int *length)
{
    int model = (int)strlen("model.");
    if (*length <= model || strncmp(override, "model.", (size_t)model) != 0) {
        return "";
    }
    *length -= model;
    return "config.";
}

static bool lay_override(struct node *root, const char *override, struct error *why)
{
    const char *equals = strchr(override, '=');
    char path[256];
    int length = (int)(equals - override);
    if ((size_t)length >= sizeof path) {
        return error_usage(why, "--set", 0, "the key of '%.100s' is too long", override);
    }
    const char *prefix = scenario_config_prefix(override, &length);
    snprintf(path, sizeof path, "%s%.*s", prefix, length, equals - length);
    bool swept = strncmp(path, "sweep.", strlen("sweep.")) == 0;
    return scenario_check_single(path, equals + 1, why) &&
           ((swept ? scenario_set_swept(root, path + strlen("sweep."), equals + 1, why)
                   : lay_said(root, path, equals + 1, why)) ||
            name_value(path, why)) &&
           scenario_check_keys(root, why) && open_hardware(root, why) &&
           scenario_spell_names(root, why);
}

/* They are gathered first and then laid one by one, because an override may also replace a map. */
bool scenario_set_overrides(struct node *root, const char *const *overrides, uint32_t count,
                            struct error *why)
{
    struct node *layer = node_map("--set", why);
    bool good = layer != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        good = lay_override(layer, overrides[i], why);
    }
    good = good && layer_check(layer, why) && layer_end_sweeps(root, layer, why);
    for (uint32_t i = 0; good && i < count; i++) {
        good = lay_override(root, overrides[i], why);
    }
    node_destroy(layer);
    return good;
}
