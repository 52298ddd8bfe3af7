/* A machine is built in layers: what it extends, then each part, then single figures; a later layer replaces
 * an earlier one. A part named by a file replaces the whole part, a figure the whole figure: its basis and
 * source belong to its value and never mix with another's. Only the requested part is followed, so each part
 * of a machine costs one chain of files. The depth of a chain is limited, and files that lead back to
 * themselves are an error. */

#include "machine/compose.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files.h"
#include "machine/measured.h"

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

/* A name that contains '/' or ends in .yaml is a path, relative to the file that states it. Other
 * names are looked up in the data folder. The name of a part is looked up among the files of that
 * part, and then among the machines that have one. */

const char *const part_names[PART_COUNT] = {
#define PART(id, name, ...) #name,
#include "core/machine_parts.def"
};

static const char suffix[] = "yaml";

enum { MOST_COUNTED = 1024 }; /* GPUs that a name such as 8xH100 may count */

static size_t bare_length(const char *name)
{
    size_t length = strlen(name);
    size_t end = sizeof suffix; /* with the dot, without the final zero */
    bool ends =
        length > end && name[length - end] == '.' && strcmp(name + length - end + 1, suffix) == 0;
    return ends ? length - end : 0;
}

/* "2xA40", "8 x H100", "h100x8": how many, and the machine, if it is one; 0 if not. */
static unsigned long counted_machine(const char *name, char machine[NAMED_SIZE])
{
    char alone[NAMED_SIZE] = "";
    unsigned long count = 0;
    size_t end = strlen(name);
    int rest = 0;
    while (end > 0 && isdigit((unsigned char)name[end - 1])) {
        end--;
    }
    if (sscanf(name, "%lu %*1[xX] %n", &count, &rest) == 1 && rest > 0) {
        snprintf(alone, sizeof alone, "%s", name + rest);
    } else if (end > 1 && tolower((unsigned char)name[end - 1]) == 'x') {
        count = strtoul(name + end, NULL, 10);
        snprintf(alone, sizeof alone, "%.*s", (int)(end - 1), name);
        alone[strcspn(alone, " ")] = '\0';
    }
    return count <= MOST_COUNTED && locate_canonical(alone, MACHINE, machine) ? count : 0;
}

static bool refuse_name(const struct node *name, enum profile_part part, struct error *why)
{
    const struct named_kind *kinds[] = {&named_machine, NULL, NULL};
    if (part != MACHINE) {
        kinds[0] = named_parts[part];
        kinds[1] = &named_machine;
    }
    node_error(name, why, "unknown %s '%.100s'", kinds[0]->what, name->text);
    error_key(why, kinds[0]->what);
    char machine[NAMED_SIZE];
    unsigned long count = counted_machine(name->text, machine);
    if (count > 0) {
        return error_expect(why,
                            "hardware: %s and tensor_parallel: %lu; with 'advise', %s --gpus %lu",
                            machine, count, machine, count);
    }
    return named_expect(kinds, name->text, why);
}

bool locate_canonical(const char *name, enum profile_part part, char out[NAMED_SIZE])
{
    return (part != MACHINE && named_canonical(named_parts[part], name, out)) ||
           named_canonical(&named_machine, name, out);
}

bool locate_profile(const struct node *name, enum profile_part part, char *path, size_t size,
                    struct error *why)
{
    char canonical[NAMED_SIZE];
    struct quantity figure;
    if (part != MACHINE && quantity_parse(name->text, &figure)) {
        node_error(name, why, "'%.60s' is a figure, not a %s", name->text, part_names[part]);
        return error_expect(why, "the name of one, or one of its figures, such as %s=%.60s",
                            part == PART_LINK ? "hardware.link.h2d" : "hardware.gpu.hbm_capacity",
                            name->text);
    }
    if (named_by_path(name->text, suffix)) {
        return named_from(name->text, name->file, path, size) ||
               node_error(name, why, "the path '%.80s...' is too long", name->text);
    }
    if (find_data(why) == NULL) {
        return false;
    }
    if (!locate_canonical(name->text, part, canonical)) {
        return refuse_name(name, part, why);
    }
    if (part != MACHINE) {
        if (!find_path(named_parts[part]->folder, canonical, suffix, path, size, why)) {
            return false;
        }
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return find_path(named_machine.folder, canonical, suffix, path, size, why);
}

/* Is `path` a file of the data folder for this part, such as hwprofiles/gpus/l40s.yaml? */
static bool located_in_data(const char *path, enum profile_part part)
{
    char name[256] = "", shipped[4096];
    append_profile_name(path, name, sizeof name);
    return find_path(named_parts[part]->folder, name, suffix, shipped, sizeof shipped,
                     ERROR_UNSEEN) &&
           strcmp(path, shipped) == 0;
}

void append_profile_name(const char *name, char *text, size_t size)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash != NULL ? slash + 1 : name;
    size_t length = bare_length(base);
    length = length > 0 ? length : strlen(base);
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", used > 0 ? "+" : "", (int)length, base);
}

/* What a GPU's profile takes over from another GPU's by `extends`, and what it must not take over.
 * profile.h describes the result.
 *
 * Kernels belong to an architecture: their times, their shares of the peaks, the threads of a
 * multiprocessor, whether there is fp8. Two rules keep them there:
 *
 *   - A GPU that states another `compute_capability` than the GPU that it extends is refused.
 *   - A GPU that states flops_fp8 equal to its flops_bf16 has no fp8 (curves.def). It takes over no
 *     figure of fp8.
 *
 * The compute capability is not a curve: no time depends on it, and a profile's hash does not. */

static const char takeover_capability_key[] = "compute_capability";

/* "8.9", and no more digits than any GPU has. */
static bool is_capability(const struct node *node)
{
    const char digits[] = "0123456789";
    size_t major = node->kind == NODE_SCALAR ? strspn(node->text, digits) : 0;
    return major > 0 && major < 3 && node->text[major] == '.' &&
           strspn(node->text + major + 1, digits) == 1 && node->text[major + 2] == '\0';
}

double profile_capability(const struct profile *profile)
{
    const struct node *node = node_get(node_get(profile->node, "gpu"), takeover_capability_key);
    return node != NULL && node->kind == NODE_SCALAR ? strtod(node->text, NULL) : 0;
}

/* Check the compute capability of `stated`, a map of figures to lay over `gpu`'s (NULL or empty: none). */
static bool takeover_check(const struct node *gpu, const struct node *stated, struct error *why)
{
    const struct node *own = node_get(stated, takeover_capability_key);
    const struct node *base = node_get(gpu, takeover_capability_key);
    if (own != NULL && !is_capability(own)) {
        node_error(own, why, "'gpu.%s' is not a compute capability", takeover_capability_key);
        return error_expect(why, "8.9, for example: nvidia-smi --query-gpu=compute_cap prints it");
    }
    if (own == NULL || base == NULL || strcmp(own->text, base->text) == 0) {
        return true;
    }
    char name[64] = "";
    append_profile_name(base->file, name, sizeof name);
    node_error(own, why, "a GPU of compute capability %s cannot extend '%s', which has %s",
               own->text, name, base->text);
    return error_expect(why, "extends: a GPU of %s, or nvidia with the figures of kernels stated",
                        own->text);
}

/* The value of a single figure, 0 when it is not stated, or has points. */
static double takeover_value_of(const struct node *gpu, const char *key)
{
    const struct node *figure = node_get(gpu, key), *value = node_get(figure, "value");
    struct quantity quantity;
    value = value != NULL ? value : figure;
    return value != NULL && value->kind == NODE_SCALAR && quantity_parse(value->text, &quantity)
               ? quantity.value
               : 0;
}

/* After `stated` was laid over `gpu`: remove the figures of fp8 that it must not take over. */
static void takeover_drop_fp8(struct node *gpu, const struct node *stated)
{
    double fp8 = takeover_value_of(stated, "flops_fp8");
    if (fp8 == 0 || fp8 != takeover_value_of(gpu, "flops_bf16")) {
        return;
    }
    for (size_t i = gpu->count; i > 0; i--) {
        const char *key = gpu->children[i - 1]->key;
        static const char end[] = "_fp8";
        size_t length = strlen(key);
        if (length >= strlen(end) && strcmp(key + length - strlen(end), end) == 0 &&
            node_get(stated, key) == NULL) {
            node_remove(gpu, key);
        }
    }
}

static bool takeover_has_basis(const struct node *figure, enum basis of)
{
    const struct node *basis = node_get(figure, "basis");
    return basis != NULL && basis->kind == NODE_SCALAR && strcmp(basis->text, basis_names[of]) == 0;
}

/* Does the user's file state another GPU than the one it extends, by bandwidth, peak, SMs or L2? */
static bool takeover_of_another(const struct node *gpu, const struct node *stated)
{
    static const char *const marks[] = {"hbm_bandwidth", "flops_bf16", "sms", "l2"};
    bool another = false;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        double own = takeover_value_of(stated, marks[i]), base = takeover_value_of(gpu, marks[i]);
        another = another || (own > 0 && base > 0 && fabs(own / base - 1) > 1e-3 &&
                              !takeover_has_basis(node_get(stated, marks[i]), BASIS_MEASURED));
    }
    return another;
}

/* Lower the basis of a figure of another file that was measured within a range, a time or a share. */
static bool assume(const struct node *figure, struct error *why)
{
    struct node *basis = (struct node *)node_get(figure, "basis");
    struct node *source = (struct node *)node_get(figure, "source");
    char name[64] = "", text[1024];
    if (basis == NULL || source == NULL || basis->kind != NODE_SCALAR ||
        source->kind != NODE_SCALAR || node_get(figure, "range") == NULL ||
        takeover_has_basis(figure, BASIS_ASSUMED)) {
        return true;
    }
    append_profile_name(figure->file, name, sizeof name);
    snprintf(text, sizeof text, "carried over from the profile %s: %s", name, source->text);
    return node_set_text(basis, basis_names[BASIS_ASSUMED], why) &&
           node_set_text(source, text, why);
}

/* What was measured of such another GPU counts as assumed, and says so; nvidia.yaml holds for all. */
static bool takeover_assume(struct node *gpu, const struct node *stated, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < gpu->count; i++) {
        char name[64] = "";
        append_profile_name(gpu->children[i]->file, name, sizeof name);
        good = node_get(stated, gpu->children[i]->key) != NULL || strcmp(name, "nvidia") == 0 ||
               assume(gpu->children[i], why);
    }
    return good;
}

/* What is being built: the tree, the part, and the files that led here. */
struct site {
    struct files *files;
    struct node *tree;
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
        return name_expect("", NAMES(machine_keys), why);
    }
    if (document->kind != NODE_MAP) {
        error_set(why, site->path, document->line, "this is not a hardware profile");
        return name_expect("", NAMES(machine_keys), why);
    }
    return measured_check_tree(document, measured, why) &&
           lay_machine(site, document, document_keys, why);
}

static bool lay_file(const struct site *site, struct error *why)
{
    bool measured;
    size_t size;
    char *text = files_text(site->files, site->path, &size, why);
    bool good = text != NULL && measured_check_text(text, size, site->path, &measured, why);
    free(text);
    const struct node *document = good ? files_tree(site->files, site->path, why) : NULL;
    bool laid = document != NULL && lay_document(site, document, measured, why);
    files_drop(site->files, document);
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
    const struct site inner = {site->files, site->tree, part, path, site};
    return lay_file(&inner, why);
}

/* Empty the place of `key` (and of `curve` under it) in the tree, and return it. */
static struct node *clear_place(struct node *tree, const char *key, const char *curve,
                                struct error *why)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s%s", key, curve != NULL ? "." : "",
             curve != NULL ? curve : "");
    return node_set(tree, path, "~", why) ? (struct node *)node_find(tree, path) : NULL;
}

/* The keys of a part: "extends" and the names of its curves after the dot. */
static bool check_part_keys(const struct node *node, enum profile_part part, struct error *why)
{
    const char *keys[CURVE_COUNT + 3];
    size_t count = 0, length = strlen(part_names[part]);
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
    return node_check_keys(node, NAMES(keys), part_names[part], why);
}

static bool replace_part(const struct site *site, enum profile_part part, const struct node *name,
                         struct error *why)
{
    const char *key = part_names[part];
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

/* Lay figures over a GPU: some stay with the GPU that they were stated for. */
static bool lay_gpu(const struct site *site, const struct node *stated, struct error *why)
{
    bool another = site->path != NULL && !located_in_data(site->path, PART_GPU) &&
                   takeover_of_another(gpu_of(site->tree), stated);
    if (!takeover_check(gpu_of(site->tree), stated, why) ||
        !lay_figures(site, PART_GPU, stated, why)) {
        return false;
    }
    struct node *gpu = gpu_of(site->tree);
    if (gpu != NULL) {
        takeover_drop_fp8(gpu, stated);
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
    if (!node_check_keys(machine, NAMES(keys), "hardware", why)) {
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
                             size_t size, struct error *why)
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
    const struct site site = {files, tree, MACHINE, NULL, NULL};
    bool named = hardware->kind == NODE_SCALAR;
    if (!(named ? lay_named(&site, MACHINE, MACHINE, hardware, why)
                : lay_machine(&site, hardware, machine_keys, why))) {
        node_destroy(tree);
        return NULL;
    }
    name[0] = '\0';
    if (named) {
        append_profile_name(hardware->text, name, size);
    } else {
        name_machine(hardware, name, size);
    }
    return tree;
}
