/* A machine is built in layers: what it extends, then each part, then single figures; a later layer
 * replaces an earlier one. A part named by a file replaces the whole part, a figure the whole
 * figure: its basis and source belong to its value and never mix with another's.
 *
 * Only the requested part is followed, so each part of a machine costs one chain of files. The
 * depth of a chain is limited, and files that lead back to themselves are an error.
 */
#include "machine/compose.h"

#include "core/files.h"
#include "core/name.h"
#include "machine/locate.h"
#include "machine/measured.h"
#include "machine/profile.h"
#include "machine/takeover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8 };

static const char *const machine_keys[] = {"extends",
#define PART(id, name, ...) #name,
#include "core/machine_parts.def"
                                           profile_price_key, profile_gpus_key, NULL};

/* The same, further names of the file (core/named.h), and the extra keys of a measured file. */
static const char *const document_keys[] = {"extends",
#define PART(id, name, ...) #name,
#include "core/machine_parts.def"
                                            profile_price_key, profile_gpus_key, "also",
                                            "provenance",      "observed",       NULL};

/* What is being built: the tree, the part, and the files that led here. */
struct site {
    struct files *files;
    struct node *tree;
    const char **gpu_file; /* the user's file laid last that states figures of the GPU; or NULL */
    enum profile_part part;
    const char *path; /* NULL at the outermost level */
    const struct site *outer;
};

static bool lay_machine(const struct site *site, const struct node *machine,
                        const char *const *keys, struct error *why);

/* Fail when the file is already being read, or too many files are. */
static bool check_descent(const struct site *site, const struct node *name, const char *path,
                          struct error *why)
{
    int depth = 0;
    for (const struct site *outer = site; outer->path != NULL; outer = outer->outer) {
        if (strcmp(outer->path, path) == 0) {
            node_error(name, why, "'%s' extends itself", name->text);
            return error_expect(why, "profiles that do not extend each other in a circle");
        }
        depth++;
    }
    if (depth >= DEEPEST) {
        node_error(name, why, "'%s' extends files more than %d deep", name->text, DEEPEST);
        return error_expect(why, "fewer files that extend each other");
    }
    return true;
}

static bool lay_document(const struct site *site, const struct node *document, bool measured,
                         struct error *why)
{
    if (document->kind == NODE_NULL) {
        error_set(why, site->path, 0, "the profile is empty");
        return name_expect("", machine_keys, why);
    }
    if (document->kind != NODE_MAP) {
        error_set(why, site->path, document->line, "this is not a hardware profile");
        return name_expect("", machine_keys, why);
    }
    return measured_check_tree(document, measured, why) &&
           lay_machine(site, document, document_keys, why);
}

static bool lay_text(const struct site *site, const char *text, size_t size, struct error *why)
{
    bool measured;
    if (!measured_check_text(text, size, site->path, &measured, why)) {
        return false;
    }
    struct node *document = node_parse(text, size, site->path, why);
    bool laid = document != NULL && lay_document(site, document, measured, why);
    node_destroy(document);
    return laid;
}

/* Lay over the tree what the file `name` (looked up as a `kind`) states for `part`. */
static bool lay_named(const struct site *site, enum profile_part part, enum profile_part kind,
                      const struct node *name, struct error *why)
{
    char path[4096];
    if (name->kind != NODE_SCALAR) {
        node_error(name, why, "'%s' is not a name", name->key);
        return error_expect(why, "the name of a profile, or a path that contains '/'");
    }
    if (!locate_profile(name, kind, path, sizeof path, why) ||
        !check_descent(site, name, path, why)) {
        return false;
    }
    size_t size;
    char *text = files_text(site->files, path, &size, why);
    const struct site inner = {site->files, site->tree, site->gpu_file, part, path, site};
    bool laid = text != NULL && lay_text(&inner, text, size, why);
    free(text);
    return laid;
}

/* Empty the place of `key` (and of `curve` under it) in the tree, and return it. */
static struct node *clear_place(struct node *tree, const char *key, const char *curve,
                                struct error *why)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s%s", key, curve != NULL ? "." : "",
             curve != NULL ? curve : "");
    if (!node_set(tree, path, "~", why)) {
        return NULL;
    }
    struct node *place = tree;
    const char *steps[] = {key, curve};
    for (size_t step = 0; step < 2 && steps[step] != NULL; step++) {
        size_t i = 0;
        while (strcmp(place->children[i]->key, steps[step]) != 0) {
            i++;
        }
        place = place->children[i];
    }
    return place;
}

/* The keys of a part: "extends" and the names of its curves after the dot. */
static bool check_part_keys(const struct node *node, enum profile_part part, struct error *why)
{
    const char *keys[CURVE_COUNT + 3];
    size_t count = 0;
    size_t length = strlen(part_names[part]);
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        const char *name = curve_kinds[i].name;
        if (strncmp(name, part_names[part], length) == 0 && name[length] == '.') {
            keys[count++] = name + length + 1;
        }
    }
    keys[count++] = "extends";
    if (part == PART_GPU) {
        keys[count++] = takeover_capability_key;
    }
    keys[count] = NULL;
    return node_check_keys(node, keys, part_names[part], why);
}

static bool replace_part(const struct site *site, enum profile_part part, const struct node *name,
                         struct error *why)
{
    const char *key = part_names[part];
    if (part == PART_GPU) {
        *site->gpu_file = NULL;
    }
    if (clear_place(site->tree, key, NULL, why) == NULL ||
        !lay_named(site, part, part, name, why)) {
        return false;
    }
    const struct node *laid = node_get(site->tree, key);
    if (laid->kind == NODE_NULL) {
        node_error(name, why, "'%s' has no part '%s'", name->text, key);
        return error_expect(why, "a profile that states '%s:'", key);
    }
    return true;
}

/* Lay figures over a part. */
static bool lay_figures(const struct site *site, enum profile_part part, const struct node *stated,
                        struct error *why)
{
    for (size_t i = 0; i < stated->count; i++) {
        const struct node *figure = stated->children[i];
        if (strcmp(figure->key, "extends") == 0) {
            continue;
        }
        struct node *place = clear_place(site->tree, part_names[part], figure->key, why);
        if (place == NULL || !node_merge(place, figure, why)) {
            return false;
        }
    }
    return true;
}

/* The GPU in the tree, NULL when nothing is stated of it yet. */
static struct node *gpu_of(struct node *tree)
{
    return (struct node *)node_get(tree, part_names[PART_GPU]);
}

/* The same for a GPU: some figures stay with the GPU that they were stated for. */
static bool lay_gpu(const struct site *site, const struct node *stated, struct error *why)
{
    bool own = site->path != NULL && !located_in_data(site->path, PART_GPU);
    bool another = own && takeover_of_another(gpu_of(site->tree), stated);
    if (!takeover_check(gpu_of(site->tree), stated, why) ||
        !lay_figures(site, PART_GPU, stated, why)) {
        return false;
    }
    struct node *gpu = gpu_of(site->tree);
    if (gpu != NULL) {
        takeover_drop_fp8(gpu, stated);
    }
    if (own) {
        *site->gpu_file = stated->file;
    }
    return !another || takeover_assume(gpu, stated, why);
}

static bool lay_part(const struct site *site, enum profile_part part, const struct node *node,
                     struct error *why)
{
    if (node->kind == NODE_SCALAR) {
        return replace_part(site, part, node, why);
    }
    if (node->kind == NODE_NULL) {
        node_error(node, why, "'%s' is empty", part_names[part]);
        return error_expect(why, "the name of a profile, or a map of figures");
    }
    if (!check_part_keys(node, part, why)) {
        return false;
    }
    const struct node *extends = node_get(node, "extends");
    if (extends != NULL && !replace_part(site, part, extends, why)) {
        return false;
    }
    return part == PART_GPU ? lay_gpu(site, node, why) : lay_figures(site, part, node, why);
}

/* Lay a value of the whole machine over the tree, if `machine` states it. */
static bool compose_set_value(const struct site *site, const struct node *machine, const char *key,
                              struct error *why)
{
    const struct node *stated = node_get(machine, key);
    return stated == NULL || node_put(site->tree, key, stated, why);
}

static bool lay_machine(const struct site *site, const struct node *machine,
                        const char *const *keys, struct error *why)
{
    if (!node_check_keys(machine, keys, "hardware", why)) {
        return false;
    }
    const struct node *extends = node_get(machine, "extends");
    if (extends != NULL && !lay_named(site, site->part, MACHINE, extends, why)) {
        return false;
    }
    for (enum profile_part part = 0; part < PART_COUNT; part++) {
        const struct node *stated = node_get(machine, part_names[part]);
        bool wanted = site->part == MACHINE || site->part == part;
        if (wanted && stated != NULL && !lay_part(site, part, stated, why)) {
            return false;
        }
    }
    return site->part != MACHINE || (compose_set_value(site, machine, profile_price_key, why) &&
                                     compose_set_value(site, machine, profile_gpus_key, why));
}

/* Name the machine. A price or a number of GPUs of its own does not change a machine's name. */
static void name_machine(const struct node *hardware, char *name, size_t size)
{
    bool changed = false;
    name[0] = '\0';
    for (const char *const *key = machine_keys; *key != profile_price_key; key++) {
        const struct node *stated = node_get(hardware, *key);
        const struct node *extends = node_get(stated, "extends");
        const struct node *file = extends != NULL ? extends : stated;
        if (file != NULL && file->kind == NODE_SCALAR) {
            append_profile_name(file->text, name, size);
        }
        changed = changed || (stated != NULL && stated->count > (extends != NULL ? 1 : 0));
    }
    size_t used = strlen(name);
    snprintf(name + used, size - used, "%s%s", used == 0 ? "custom" : "",
             changed && used > 0 ? "*" : "");
}

struct node *machine_compose(struct files *files, const struct node *hardware, char *name,
                             size_t size, struct takeover *takeover, struct error *why)
{
    if (hardware->kind == NODE_NULL) {
        node_error(hardware, why, "'hardware' is empty");
        error_expect(why, "a name, or a map with gpu, link and host");
        return NULL;
    }
    struct node *tree = node_map("hardware", why);
    if (tree == NULL) {
        return NULL;
    }
    const char *gpu_file = NULL;
    const struct site site = {files, tree, &gpu_file, MACHINE, NULL, NULL};
    bool named = hardware->kind == NODE_SCALAR;
    if (!(named ? lay_named(&site, MACHINE, MACHINE, hardware, why)
                : lay_machine(&site, hardware, machine_keys, why))) {
        node_destroy(tree);
        return NULL;
    }
    takeover_count(gpu_of(tree), gpu_file, hardware->file, takeover);
    name[0] = '\0';
    if (named) {
        append_profile_name(hardware->text, name, size);
    } else {
        name_machine(hardware, name, size);
    }
    return tree;
}
