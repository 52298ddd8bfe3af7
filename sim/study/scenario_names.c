#include "study/scenario_names.h"

#include "base/named.h"
#include "hardware/profile.h"
#include "study/resolve_trace.h"
#include "study/scenario.h"

#include <stdio.h>
#include <string.h>

/* Where a machine, or a part of one, is named; part NULL: a machine. */
static const struct {
    const char *path, *part;
} machine_names[] = {
    {"hardware", NULL},        {"hardware.extends", NULL},
    {"hardware.gpu", "gpu"},   {"hardware.gpu.extends", "gpu"},
    {"hardware.link", "link"}, {"hardware.link.extends", "link"},
    {"hardware.host", "host"}, {"hardware.host.extends", "host"},
};
enum { MACHINE_NAMES = sizeof machine_names / sizeof machine_names[0], PATH_SIZE = 4096 };

/* What stands at `path`, and what a map there has under its keys. */
static bool check_machine(const struct node *node, const char *path, struct error *why)
{
    for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
        char inner[256];
        snprintf(inner, sizeof inner, "%s.%s", path, node->children[i]->key);
        if (!check_machine(node->children[i], inner, why)) {
            return false;
        }
    }
    for (size_t i = 0; node->kind == NODE_SCALAR && i < MACHINE_NAMES; i++) {
        if (strcmp(machine_names[i].path, path) == 0) {
            return profile_named(node, machine_names[i].part, why);
        }
    }
    return true;
}

static bool check_file(const struct scenario_key *key, const struct node *node, struct error *why)
{
    char path[PATH_SIZE];
    return named_file(node->text, key->folder, key->suffix, key->name, node->file, node->line, path,
                      sizeof path, why);
}

static const struct scenario_key *find_key(const char *name)
{
    const struct scenario_key *key = scenario_keys;
    while (key->name != NULL && strcmp(key->name, name) != 0) {
        key++;
    }
    return key->name != NULL ? key : NULL;
}

static bool check_value(const char *path, const struct node *value, struct error *why)
{
    const struct scenario_key *key = find_key(path);
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
