#include "predict/scenario/scenario_set.h"

#include "core/array.h"
#include "policy/policy.h"
#include "predict/scenario/scenario_keys.h"
#include "predict/scenario/scenario_layers.h"
#include "predict/scenario/scenario_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
