#include "machine/takeover.h"

#include "core/name.h"
#include "machine/locate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char takeover_capability_key[] = "compute_capability";

/* "8.9", and no more digits than any GPU has. */
static bool is_capability(const struct node *node)
{
    const char digits[] = "0123456789";
    size_t major = node->kind == NODE_SCALAR ? strspn(node->text, digits) : 0;
    return major > 0 && major < 3 && node->text[major] == '.' &&
           strspn(node->text + major + 1, digits) == 1 && node->text[major + 2] == '\0';
}

/* The name of the profile that stated the node: "l40s". */
static void takeover_name_of(const struct node *node, char *name, size_t size)
{
    name[0] = '\0';
    append_profile_name(node->file, name, size);
}

bool takeover_check(const struct node *gpu, const struct node *stated, struct error *why)
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
    char name[64];
    takeover_name_of(base, name, sizeof name);
    node_error(own, why, "a GPU of compute capability %s cannot extend '%s', which has %s",
               own->text, name, base->text);
    return error_expect(why, "extends: a GPU of %s, or nvidia with the figures of kernels stated",
                        own->text);
}

/* ---- fp8 ------------------------------------------------------------------------------------- */

/* The value of a rate, 0 when it is not stated or cannot be read: curve_read() complains later. */
static double takeover_rate_of(const struct node *gpu, const char *key)
{
    const struct node *figure = node_get(gpu, key);
    const struct node *value = node_get(figure, "value");
    struct error unused;
    double rate = 0;
    value = value != NULL ? value : figure;
    if (value == NULL || value->kind != NODE_SCALAR ||
        !units_parse(value->text, UNIT_FLOP_PER_S, NULL, 0, key, &rate, &unused)) {
        return 0;
    }
    return rate;
}

static bool is_of_fp8(const char *key)
{
    static const char end[] = "_fp8";
    size_t length = strlen(key);
    return length >= strlen(end) && strcmp(key + length - strlen(end), end) == 0;
}

void takeover_drop_fp8(struct node *gpu, const struct node *stated)
{
    double fp8 = takeover_rate_of(stated, "flops_fp8");
    if (fp8 == 0 || fp8 != takeover_rate_of(gpu, "flops_bf16")) {
        return;
    }
    for (size_t i = gpu->count; i > 0; i--) {
        const char *key = gpu->children[i - 1]->key;
        if (is_of_fp8(key) && node_get(stated, key) == NULL) {
            node_remove(gpu, key);
        }
    }
}

/* ---- another GPU ----------------------------------------------------------------------------- */

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

static bool takeover_is_measured(const struct node *figure)
{
    const struct node *basis = node_get(figure, "basis");
    return basis != NULL && basis->kind == NODE_SCALAR &&
           strcmp(basis->text, basis_name(BASIS_MEASURED)) == 0;
}

bool takeover_of_another(const struct node *gpu, const struct node *stated)
{
    static const char *const marks[] = {"hbm_bandwidth", "flops_bf16", "sms", "l2"};
    bool another = false;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        double own = takeover_value_of(stated, marks[i]), base = takeover_value_of(gpu, marks[i]);
        another = another || (own > 0 && base > 0 && fabs(own / base - 1) > 1e-3 &&
                              !takeover_is_measured(node_get(stated, marks[i])));
    }
    return another;
}

/* Lower the basis of a figure that another file states, if it is a time or a share that was measured
 * within a range. Properties, such as a capacity, have none; a bare value is assumed already. */
static bool assume(const struct node *figure, struct error *why)
{
    struct node *basis = (struct node *)node_get(figure, "basis");
    struct node *source = (struct node *)node_get(figure, "source");
    char name[64], text[1024];
    if (basis == NULL || source == NULL || basis->kind != NODE_SCALAR ||
        source->kind != NODE_SCALAR || node_get(figure, "range") == NULL ||
        strcmp(basis->text, basis_name(BASIS_ASSUMED)) == 0) {
        return true;
    }
    takeover_name_of(figure, name, sizeof name);
    snprintf(text, sizeof text, "carried over from the profile %s: %s", name, source->text);
    return node_set_text(basis, basis_name(BASIS_ASSUMED), why) && node_set_text(source, text, why);
}

bool takeover_assume(struct node *gpu, const struct node *stated, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < gpu->count; i++) {
        char name[64];
        takeover_name_of(gpu->children[i], name, sizeof name);
        good = node_get(stated, gpu->children[i]->key) != NULL || strcmp(name, "nvidia") == 0 ||
               assume(gpu->children[i], why);
    }
    return good;
}

/* ---- the note -------------------------------------------------------------------------------- */

void takeover_count(const struct node *gpu, const char *own, const char *scenario,
                    struct takeover *out)
{
    *out = (struct takeover){.capability =
                                 gpu == NULL || node_get(gpu, takeover_capability_key) == NULL};
    for (size_t i = 0; own != NULL && gpu != NULL && i < gpu->count; i++) {
        const struct node *figure = gpu->children[i];
        bool typed = strncmp(figure->file, "--", 2) == 0 ||
                     (scenario != NULL && strcmp(figure->file, scenario) == 0);
        char name[64];
        takeover_name_of(figure, name, sizeof name);
        if (strcmp(figure->key, takeover_capability_key) == 0) {
            out->capability = typed || strcmp(figure->file, own) == 0;
            continue;
        }
        if (typed || strcmp(figure->file, own) == 0 || strcmp(name, "nvidia") == 0) {
            continue;
        }
        const struct node *basis = node_get(figure, "basis");
        out->assumed = out->assumed || (basis != NULL && basis->typed != NULL);
        name_list_add(out->from, sizeof out->from, name);
        out->figures++;
    }
}
