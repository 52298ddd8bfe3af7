/* A profile as YAML: a header, then heads, whose numbers are rows of a table for reading and writing. */

#include "trace/generate/trace_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/files.h"
#include "core/quote.h"

const uint32_t profile_lasts[PROFILE_PARTS] = {1, 2, 8, 32, 128, 512, 0};
const uint32_t profile_blocks[PROFILE_WIDTHS] = {1024, 256, 64, 16};

/* A number of a head, or a list of them. The bounds on levels and spreads keep generated scores
 * within 16 bits (candidates.c). */
static const struct field {
    const char *name;
    size_t offset;
    uint32_t count; /* 0: `knots` of them */
    double least, most;
    bool is_shares; /* their sum is 1 */
    const char *of; /* who has them; NULL: a head */
} fields[] = {
#define FIELD(name) #name, offsetof(struct trace_profile_head, name)
    {FIELD(level), 0, -60, 60, false, NULL},
    {FIELD(spread), 0, 0, 6, false, NULL},
    {FIELD(slope), 1, -6, 0, false, NULL},
    {FIELD(score), PROFILE_PARTS, 0, 1, true, NULL},
    {FIELD(query), PROFILE_PARTS, 0, 1, true, NULL},
    {FIELD(decay), 1, 0.5, 1, false, NULL},
    {FIELD(own), 1, 0, 1, false, NULL},
    {FIELD(novelty), 1, 0, 1, false, NULL},
    {FIELD(anchor_share), 1, 0, 1, false, NULL},
    {FIELD(anchor_level), 1, -60, 60, false, NULL},
    {FIELD(anchor_spread), 1, 0, 6, false, NULL},
    {FIELD(anchor_drift), 1, 0, 6, false, NULL},
    {FIELD(sinks), 1, 0, 1, false, NULL},
    {FIELD(recent), 1, 0, 1, false, NULL},
    {FIELD(born), 1, 0, 1, false, NULL},
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static const struct field near_field = {"near", 0, PROFILE_WIDTHS, 0, 1, false, "the locality"};
static const struct field alike_field = {"alike", 0, 1, 0, 1, false, "the locality"};

static const char *owner(const struct field *field)
{
    return field->of != NULL ? field->of : "a head";
}

/* What stands in a file before its heads. */
struct profile_said {
    struct trace_profile profile; /* its counts, and its basis */
    uint32_t version;
    const char *source, *model;
    const struct node *locality, *near, *alike, *heads;
};

#define COUNT(member, limit)                                                                       \
    NODE_FIELD(#member, SMALL, profile_said, profile.member, .most = limit, .needed = true)
static const struct node_field profile_fields[] = {
    NODE_FIELD("trace_profile", SMALL, profile_said, version, .most = 1, .needed = true),
    NODE_FIELD("source", TEXT, profile_said, source),
    NODE_FIELD("basis", WORD, profile_said, profile.basis, .words = basis_names, .needed = true),
    NODE_FIELD("model", TEXT, profile_said, model),
    COUNT(layers, 1024),
    COUNT(kv_heads, 1024),
    COUNT(query_heads, 65536),
    COUNT(head_dim, 1024),
    COUNT(context, UINT32_MAX),
    COUNT(sinks, 65536),
    COUNT(recent, 65536),
    COUNT(first_octave, 16),
    NODE_FIELD("locality", NODE, profile_said, locality),
    NODE_FIELD("heads", NODE, profile_said, heads, .needed = true),
    {.key = NULL}};
static const struct node_field locality_fields[] = {
    NODE_FIELD("near", NODE, profile_said, near, .needed = true),
    NODE_FIELD("alike", NODE, profile_said, alike, .needed = true),
    {.key = NULL}};

static double *field_values(struct trace_profile_head *head, const struct field *field)
{
    return (double *)((char *)head + field->offset);
}

/* ---- reading ---- */

static bool trace_profile_read_number(const struct node *node, const struct field *field,
                                      double *out, struct error *why)
{
    char *end = node->text;
    double value = node->kind == NODE_SCALAR ? strtod(node->text, &end) : 0;
    if (node->kind != NODE_SCALAR || end == node->text || *end != '\0' ||
        !(value >= field->least && value <= field->most)) {
        node_error(node, why, "'%.60s' is not a valid '%s' of %s",
                   node->kind == NODE_SCALAR ? node->text : "a list or map", field->name,
                   owner(field));
        return error_expect(why, "a number from %g to %g", field->least, field->most);
    }
    *out = value;
    return true;
}

static bool trace_profile_read_list(const struct node *list, const struct field *field,
                                    uint32_t count, double *out, struct error *why)
{
    double sum = 0;
    if (list->kind != NODE_LIST || list->count != count) {
        node_error(list, why, "'%s' of %s has the wrong length or type", field->name, owner(field));
        return error_expect(why, "a list of %u numbers", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!trace_profile_read_number(list->children[i], field, &out[i], why)) {
            return false;
        }
        sum += out[i];
    }
    if (field->is_shares && !(fabs(sum - 1) < 1e-3)) {
        return node_error(list, why, "the shares of '%s' add up to %g, not to 1", field->name, sum);
    }
    return true;
}

static bool trace_profile_read_head(const struct node *node, struct trace_profile_head *head,
                                    struct error *why)
{
    const char *names[FIELDS + 1] = {NULL};
    for (int i = 0; i < FIELDS; i++) {
        names[i] = fields[i].name;
    }
    if (!node_check_keys(node, NAMES(names), "a head", why)) {
        return false;
    }
    const struct node *level = node_get(node, "level");
    if (level == NULL || level->kind != NODE_LIST || level->count == 0 ||
        level->count > PROFILE_KNOTS) {
        node_error(node, why, "a head has no 'level' for each octave of distance");
        return error_expect(why, "a list of 1 to %d numbers", PROFILE_KNOTS);
    }
    head->knots = (uint32_t)level->count;
    for (int i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        const struct node *child = node_get(node, field->name);
        double *values = field_values(head, field);
        if (child == NULL) {
            return node_error(node, why, "a head has no '%s'", field->name);
        }
        if (!(field->count == 1 ? trace_profile_read_number(child, field, values, why)
                                : trace_profile_read_list(
                                      child, field, field->count > 0 ? field->count : head->knots,
                                      values, why))) {
            return false;
        }
    }
    double window = head->sinks + head->recent + head->born;
    return window < 1 || node_error(node, why,
                                    "sinks, recent and born have %g of the mass, so "
                                    "that nothing is left for the rest",
                                    window);
}

static bool take_text(const struct node *root, const char *key, const char *text, char *out,
                      size_t size, struct error *why)
{
    if (strlen(text) >= size) {
        node_key_error(root, key, why, "'%s' has %zu bytes", key, strlen(text));
        return error_expect(why, "at most %zu", size - 1);
    }
    memcpy(out, text, strlen(text) + 1);
    return true;
}

/* All but the heads. */
static bool trace_profile_read_header(const struct node *root, struct profile_said *said,
                                      struct error *why)
{
    struct trace_profile *profile = &said->profile;
    if (root->kind != NODE_MAP || node_get(root, "trace_profile") == NULL) {
        return node_error(root, why, "not a trace profile: it has no 'trace_profile: 1'");
    }
    if (!node_fields_read(root, profile_fields, "trace profile", said, why)) {
        return false;
    }
    if (said->version != 1 || profile->layers == 0 || profile->kv_heads == 0 ||
        profile->query_heads == 0 || profile->head_dim == 0 || profile->context == 0) {
        node_error(root, why, "a count of the trace profile is 0");
        return error_expect(
            why, "'layers', 'kv_heads', 'query_heads', 'head_dim' and 'context' above 0");
    }
    return take_text(root, "source", said->source, profile->source, sizeof profile->source, why) &&
           take_text(root, "model", said->model, profile->model, sizeof profile->model, why) &&
           (said->locality == NULL ||
            (node_fields_read(said->locality, locality_fields, "locality", said, why) &&
             trace_profile_read_list(said->near, &near_field, PROFILE_WIDTHS,
                                     profile->locality.near, why) &&
             trace_profile_read_number(said->alike, &alike_field, &profile->locality.alike, why)));
}

static bool read_profile(const struct node *root, struct trace_profile *out, struct error *why)
{
    struct profile_said said = {.source = "", .model = ""};
    if (!trace_profile_read_header(root, &said, why)) {
        return false;
    }
    *out = said.profile;
    const struct node *heads = said.heads;
    size_t count = (size_t)out->layers * out->kv_heads;
    if (heads->kind != NODE_LIST || heads->count != count) {
        node_error(heads, why, "'heads' of the trace profile has the wrong length");
        return error_expect(why, "a list of layers x kv_heads = %zu", count);
    }
    out->heads = array_zeroed(count, sizeof *out->heads, why);
    for (size_t i = 0; out->heads != NULL && i < count; i++) {
        if (!trace_profile_read_head(heads->children[i], &out->heads[i], why)) {
            return false;
        }
    }
    return out->heads != NULL;
}

bool trace_profile_read(const struct node *root, struct trace_profile *out, struct error *why)
{
    *out = (struct trace_profile){0};
    bool ok = root != NULL && read_profile(root, out, why);
    if (!ok) {
        trace_profile_release(out);
    }
    return ok;
}

bool trace_profile_load(struct files *files, const char *path, struct trace_profile *out,
                        struct error *why)
{
    const struct node *root = files_tree(files, path, why);
    bool ok = trace_profile_read(root, out, why);
    files_drop(files, root);
    return ok;
}

void trace_profile_release(struct trace_profile *profile)
{
    free(profile->heads);
    *profile = (struct trace_profile){0};
}

/* ---- writing ---- */

static void trace_profile_write_text(const char *key, const char *text, FILE *out)
{
    fprintf(out, "%s: \"", key);
    quote_write(QUOTE_YAML_DOUBLE, text, out);
    fputs("\"\n", out);
}

/* With five digits; `exact`: with as many as it takes to read the same number back. */
static void trace_profile_write_number(double number, bool exact, FILE *out)
{
    char text[32];
    snprintf(text, sizeof text, "%.5g", number);
    if (exact && strtod(text, NULL) != number) {
        snprintf(text, sizeof text, "%.17g", number);
    }
    fputs(text, out);
}

static void trace_profile_write_head(const struct trace_profile_head *head, bool exact, FILE *out)
{
    struct trace_profile_head copy = *head;
    for (int i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        const double *values = field_values(&copy, field);
        uint32_t count = field->count > 0 ? field->count : head->knots;
        fprintf(out, "%s%s: %s", i == 0 ? "  - {" : ", ", field->name,
                field->count != 1 ? "[" : "");
        for (uint32_t j = 0; j < count; j++) {
            fputs(j == 0 ? "" : ", ", out);
            trace_profile_write_number(values[j], exact, out);
        }
        fputs(field->count != 1 ? "]" : "", out);
    }
    fputs("}\n", out);
}

static void write_locality(const struct profile_locality *locality, bool exact, FILE *out)
{
    bool any = locality->alike > 0;
    for (int i = 0; i < PROFILE_WIDTHS; i++) {
        any = any || locality->near[i] > 0;
    }
    if (!any) {
        return;
    }
    fputs("locality: {near: [", out);
    for (int i = 0; i < PROFILE_WIDTHS; i++) {
        fputs(i == 0 ? "" : ", ", out);
        trace_profile_write_number(locality->near[i], exact, out);
    }
    fputs("], alike: ", out);
    trace_profile_write_number(locality->alike, exact, out);
    fputs("}\n", out);
}

void trace_profile_write(const struct trace_profile *profile, bool exact, FILE *out)
{
    fputs("trace_profile: 1\n", out);
    trace_profile_write_text("source", profile->source, out);
    trace_profile_write_text("basis", basis_names[profile->basis], out);
    trace_profile_write_text("model", profile->model, out);
    fprintf(out, "layers: %u\nkv_heads: %u\nquery_heads: %u\nhead_dim: %u\n", profile->layers,
            profile->kv_heads, profile->query_heads, profile->head_dim);
    fprintf(out, "context: %u\nsinks: %u\nrecent: %u\nfirst_octave: %u\n", profile->context,
            profile->sinks, profile->recent, profile->first_octave);
    write_locality(&profile->locality, exact, out);
    fputs("heads:\n", out);
    for (size_t i = 0; i < (size_t)profile->layers * profile->kv_heads; i++) {
        trace_profile_write_head(&profile->heads[i], exact, out);
    }
}

const struct trace_profile_head *trace_profile_head(const struct trace_profile *profile,
                                                    uint32_t layers, uint32_t kv_heads,
                                                    uint32_t layer, uint32_t head)
{
    struct mapping_size own = {profile->layers, profile->kv_heads}, target = {layers, kv_heads};
    struct mapping_source source = mapping_source(own, target, layer, head);
    return &profile->heads[(size_t)source.layer * profile->kv_heads + source.head];
}

/* Target heads are numbered over all layers that share a source layer, and take its heads in turn. */

struct mapping_source mapping_source(struct mapping_size source, struct mapping_size target,
                                     uint32_t layer, uint32_t head)
{
    uint32_t shared = (uint32_t)((uint64_t)layer * source.layers / target.layers);
    uint32_t first = mapping_first(target.layers, source.layers, shared);
    uint32_t end = mapping_first(target.layers, source.layers, (uint64_t)shared + 1);
    uint64_t number = (uint64_t)(layer - first) * target.kv_heads + head;
    uint64_t all = (uint64_t)(end - first) * target.kv_heads;
    uint32_t read = (uint32_t)(number % source.kv_heads);
    return (struct mapping_source){
        .layer = shared,
        .head = read,
        .reader = number / source.kv_heads,
        .readers = (all - read + source.kv_heads - 1) / source.kv_heads,
    };
}
