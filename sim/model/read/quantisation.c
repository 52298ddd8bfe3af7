/* Storage types of weights and of the KV cache, by a config's quantization_config. A method is a row: how it
 * states its type, where it lists the modules that are not quantised, and whether it exempts the output head
 * by default. */
#include "model/read/config.h"

#include "core/name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* ---- modules that are not quantised ----
 *
 * An entry names a module by its path ("model.layers.3.self_attn", "lm_head"), a part of it
 * ("self_attn"), or a pattern, written "model.layers.*.mlp" or "re:.*mlp.*". It covers a matrix if
 * it matches some run of whole components of that matrix's path. Entries that match no matrix of
 * struct model (vision towers, norms, routers) have no effect. An entry that is neither a path nor
 * such a pattern is refused. So is the exemption of single experts, which the layers of struct
 * model cannot express. */

/* Entries times layers of a config: each entry is held against the names of each layer. */
enum { PATTERN_SIZE = 256, EXEMPT_MOST_PAIRS = 1 << 20 };

/* By enum model_module. */
const char *const module_words[MODULE_COUNT + 1] = {
    "query",       "key",       "value",       "output",      "query_down", "query_up",
    "kv_down",     "kv_up",     "index_query", "index_key",   "linear_in",  "linear_out",
    "gate",        "up",        "down",        "shared_gate", "shared_up",  "shared_down",
    "expert_gate", "expert_up", "expert_down", NULL};

/* The models' own prefixes before "layers", longest first. */
static const char *skip_prefix(const char *name)
{
    static const char *const prefixes[] = {
        "model.language_model.",
        "language_model.model.",
        "model.decoder.",
        "model.",
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0) {
            return name + length;
        }
    }
    return name;
}

/* Rewrite an entry as a pattern in which only * is special. */
static bool plain_pattern(const char *entry, char plain[PATTERN_SIZE])
{
    bool expression = strncmp(entry, "re:", 3) == 0;
    entry += expression ? 3 : 0;
    entry += expression && *entry == '^';
    size_t length = 0;
    for (; *entry != '\0'; entry++) {
        if (expression && entry[0] == '$' && entry[1] == '\0') {
            break;
        }
        if (expression && entry[0] == '.' && entry[1] == '*') {
            entry++;
        } else if (expression && entry[0] == '\\' && entry[1] == '.') {
            entry++;
        } else if (expression && entry[0] == '*') {
            return false;
        }
        if ((!isalnum((unsigned char)*entry) && strchr("._-*", *entry) == NULL) ||
            length + 1 == PATTERN_SIZE) {
            return false;
        }
        plain[length++] = *entry;
    }
    plain[length] = '\0';
    return length > 0;
}

/* The pattern of an entry, in the form that matches ".COMPONENT.COMPONENT." */
struct exempt_pattern {
    char text[PATTERN_SIZE + 4];
};

static bool exempt_read(const struct node *config, const char *key, const char *entry,
                        struct exempt_pattern *out, struct error *why)
{
    char plain[PATTERN_SIZE];
    if (entry == NULL || !plain_pattern(entry, plain)) {
        field_error(config, key, why, "has '%.100s'", entry != NULL ? entry : "no text");
        return error_expect(why, "names of modules, 'a.*.b' or 're:.*b'");
    }
    if (fnmatch("*.experts.[0-9]*", plain, 0) == 0) {
        field_error(config, key, why, "has '%.100s'", entry);
        return error_expect(why, "all experts of a layer or none");
    }
    snprintf(out->text, sizeof out->text, "*.%s.*", skip_prefix(plain));
    return true;
}

/* Bits of enum model_module: the matrices of `layer` that it covers. */
static uint32_t exempt_modules(const struct exempt_pattern *pattern, uint32_t layer)
{
    const struct node *modules = architecture_list("modules");
    uint32_t covered = 0;
    for (int module = 0; module < MODULE_COUNT; module++) {
        const struct node *names = node_get(modules, module_words[module]);
        for (size_t i = 0; names != NULL && i < names->count; i++) {
            char path[64];
            snprintf(path, sizeof path, ".layers.%u.%s.", layer, names->children[i]->text);
            covered |= fnmatch(pattern->text, path, 0) == 0 ? 1U << module : 0;
        }
    }
    return covered;
}

static bool exempt_covers_head(const struct exempt_pattern *pattern)
{
    return fnmatch(pattern->text, ".lm_head.", 0) == 0;
}

static bool exempt_one(const struct node *config, const char *key, const char *text,
                       struct model *model, struct error *why)
{
    struct exempt_pattern pattern;
    if (!exempt_read(config, key, text, &pattern, why)) {
        return false;
    }
    model->exempt_head |= exempt_covers_head(&pattern);
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        model->layers[layer].exempt |= exempt_modules(&pattern, layer);
    }
    return true;
}

/* "re:.*mlp.(gate|up)_proj" is an entry for each word between the brackets. */
static bool exempt_each(const struct node *config, const char *key, const char *text,
                        struct model *model, struct error *why)
{
    const char *open = text != NULL ? strchr(text, '(') : NULL;
    const char *close = open != NULL ? strchr(open, ')') : NULL, *word = open;
    bool ok = true;
    if (close == NULL || strlen(text) >= PATTERN_SIZE) {
        return exempt_one(config, key, text, model, why);
    }
    while (ok && word < close) {
        char entry[PATTERN_SIZE];
        size_t length = strcspn(++word, "|)");
        snprintf(entry, sizeof entry, "%.*s%.*s%s", (int)(open - text), text, (int)length, word,
                 close + 1);
        ok = exempt_one(config, key, entry, model, why);
        word += length;
    }
    return ok;
}

/* Set the `exempt` bits of the layers, and `exempt_head`, for every entry of the list at `key`. */
static bool exempt_listed(const struct node *config, const char *key, struct model *model,
                          struct error *why)
{
    const struct node *list;
    if (!field_inside(config, key, NODE_LIST, &list, why)) {
        return false;
    }
    size_t count = list != NULL ? list->count : 0;
    bool ok = count <= EXEMPT_MOST_PAIRS / model->layer_count ||
              field_error(config, key, why, "lists %zu modules, more than any model has", count);
    for (size_t i = 0; ok && i < count; i++) {
        ok = exempt_each(config, key, list->children[i]->text, model, why);
    }
    return ok;
}

/* ---- types ---- */

struct method {
    const char *name;
    const char *list_key;
    bool head_exempt;
    enum dtype dtype; /* unless `read` sets another */
    bool (*read)(const struct node *config, struct model *model, struct error *why);
};

/* The integer type with a given number of bits. */
static bool integer_dtype(const struct node *config, const char *key, enum dtype *dtype,
                          struct error *why)
{
    uint32_t bits;
    if (!field_whole(config, key, 1, 64, FIELD_REQUIRED, &bits, why)) {
        return false;
    }
    if (bits != 4 && bits != 8) {
        field_error(config, key, why, "is %u", bits);
        return error_expect(why, "4 or 8");
    }
    *dtype = bits == 4 ? DTYPE_INT4 : DTYPE_INT8;
    return true;
}

/* GPTQ and AWQ. */
static bool read_bits(const struct node *config, struct model *model, struct error *why)
{
    bool head = false;
    const struct node *dynamic = node_stated(config, "dynamic");
    if (dynamic != NULL && dynamic->count > 0) {
        field_error(config, "dynamic", why, "gives some modules bits of their own");
        return error_expect(why, "the same bits for all");
    }
    if (!integer_dtype(config, "bits", &model->weights, why) ||
        !node_bool(config, "lm_head", &head, why)) {
        return false;
    }
    model->exempt_head = !head;
    return true;
}

/* A scheme of compressed-tensors: {"num_bits": 8, "type": "float"}. The floats of 4 bits differ in the
 * number of values that share a scale. */
static bool read_scheme(const struct node *scheme, enum dtype *dtype, struct error *why)
{
    const char *type = "int";
    uint32_t values;
    if (!node_text(scheme, "type", &type, why) || !integer_dtype(scheme, "num_bits", dtype, why)) {
        return false;
    }
    if (strcmp(type, "float") != 0) {
        return true;
    }
    if (*dtype == DTYPE_INT8) {
        *dtype = DTYPE_FP8;
        return true;
    }
    if (!field_whole(scheme, "group_size", 1, SIZE_MOST, FIELD_REQUIRED, &values, why)) {
        return false;
    }
    if (values != 16 && values != 32) {
        field_error(scheme, "group_size", why, "is %u, but the type is a float of 4 bits", values);
        return error_expect(why, "16 (nvfp4) or 32 (mxfp4)");
    }
    *dtype = values == 16 ? DTYPE_NVFP4 : DTYPE_MXFP4;
    return true;
}

/* "weight_block_size": [128, 128], or nothing. */
static bool read_fp8(const struct node *config, struct model *model, struct error *why)
{
    const struct node *sizes = node_stated(config, "weight_block_size");
    uint32_t rows = 0;
    if (sizes != NULL &&
        (sizes->count != 2 || !field_number(sizes->children[0], 1, SIZE_MOST, &rows))) {
        field_error(config, "weight_block_size", why, "is no size of blocks");
        return error_expect(why, "two numbers, such as [128, 128]");
    }
    model->fp8_block = rows;
    return true;
}

/* The type of the KV cache, if it is stated. */
static bool read_kv_scheme(const struct node *config, struct model *model, struct error *why)
{
    const struct node *kv;
    return field_inside(config, "kv_cache_scheme", NODE_MAP, &kv, why) &&
           (kv == NULL || read_scheme(kv, &model->kv, why));
}

static bool read_compressed(const struct node *config, struct model *model, struct error *why)
{
    const struct node *groups;
    if (!field_inside(config, "config_groups", NODE_MAP, &groups, why)) {
        return false;
    }
    if (groups == NULL || groups->count == 0) {
        return field_error(config, "config_groups", why, "is missing or empty");
    }
    for (size_t i = 0; i < groups->count; i++) {
        const struct node *group = groups->children[i], *weights = node_stated(group, "weights");
        enum dtype dtype;
        if (weights == NULL) {
            node_error(group, why, "'%s' does not quantise weights", group->key);
            return error_expect(why, "'weights' with 'num_bits' and 'type'");
        }
        const struct node *targets = node_stated(group, "targets");
        const char *target =
            targets != NULL && targets->count == 1 ? targets->children[0]->text : NULL;
        if (targets != NULL && (target == NULL || strcmp(target, "Linear") != 0)) {
            field_error(group, "targets", why, "names some modules");
            return error_expect(why, "[\"Linear\"], which are all");
        }
        if (!read_scheme(weights, &dtype, why)) {
            return false;
        }
        if (i > 0 && dtype != model->weights) {
            field_error(config, "config_groups", why, "mixes storage types");
            return error_expect(why, "one for all groups");
        }
        model->weights = dtype;
    }
    return read_kv_scheme(config, model, why);
}

/* ---- mixed formats ----
 *
 * An entry is the path of a module, or of all experts of a layer, and its format:
 *     "model.layers.3.mlp.up_proj": {"quant_algo": "W4A16_NVFP4", "group_size": 16}
 * Of the two types in use one has 8 bits and the other 4. A module without an entry is not
 * quantised, so all begin exempt. */

static const char *const mixed_formats[] = {"FP8", "NVFP4", "W4A16_NVFP4", NULL};

static bool read_module(const struct node *layers, const struct node *entry, struct model *model,
                        struct error *why)
{
    struct exempt_pattern pattern;
    int format = -1;
    if (!node_word(entry, "quant_algo", mixed_formats, &format, why) ||
        (format < 0 && !node_error(entry, why, "'%s' has no 'quant_algo'", entry->key)) ||
        !exempt_read(layers, entry->key, entry->key, &pattern, why)) {
        return false;
    }
    bool narrow = format > 0; /* 4 bits */
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct model_layer *layer = &model->layers[i];
        uint32_t covered = exempt_modules(&pattern, i);
        layer->exempt &= ~covered;
        layer->narrow |= narrow ? covered : 0;
    }
    if (exempt_covers_head(&pattern)) {
        model->exempt_head = false;
        model->narrow_head = narrow;
    }
    return true;
}

static bool mixed_read(const struct node *config, struct model *model, struct error *why)
{
    const struct node *layers;
    if (!field_inside(config, "quantized_layers", NODE_MAP, &layers, why)) {
        return false;
    }
    size_t count = layers != NULL ? layers->count : 0;
    size_t most = EXEMPT_MOST_PAIRS / model->layer_count;
    if (count == 0 || count > most) {
        field_error(config, "quantized_layers", why, "has %zu modules", count);
        return error_expect(why, "the format of each quantised module, from 1 to %zu", most);
    }
    model->weights = DTYPE_FP8;
    model->narrow = DTYPE_NVFP4;
    model->exempt_head = true;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        model->layers[i].exempt = (1U << MODULE_COUNT) - 1;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = read_module(layers, layers->children[i], model, why);
    }
    return ok;
}

/* ---- methods ---- */

/* NVIDIA's ModelOpt names its formats, or describes them as compressed-tensors does. */
static bool read_modelopt(const struct node *config, struct model *model, struct error *why)
{
    static const char *const kv_algorithms[] = {"FP8", "NVFP4", NULL};
    static const char *const algorithms[] = {"FP8", "NVFP4", "MIXED_PRECISION", NULL};
    static const enum dtype dtypes[] = {DTYPE_FP8, DTYPE_NVFP4, DTYPE_FP8};
    enum { MIXED = 2 };
    int algorithm = -1, kv = -1;
    if (!node_word(config, "quant_algo", algorithms, &algorithm, why) ||
        !node_word(config, "kv_cache_quant_algo", kv_algorithms, &kv, why)) {
        return false;
    }
    if (algorithm < 0) {
        return field_error(config, "quant_algo", why, "is missing");
    }
    model->weights = dtypes[algorithm];
    model->kv = kv >= 0 ? dtypes[kv] : model->kv;
    if (algorithm == MIXED) {
        return mixed_read(config, model, why) && read_kv_scheme(config, model, why);
    }
    return node_get(config, "config_groups") == NULL || read_compressed(config, model, why);
}

static const char not_converted[] = "modules_to_not_convert";
static const struct method methods[] = {
    {"fp8", not_converted, true, DTYPE_FP8, read_fp8},
    {"fbgemm_fp8", not_converted, true, DTYPE_FP8, NULL},
    {"mxfp4", not_converted, true, DTYPE_MXFP4, NULL},
    {"gptq", not_converted, false, DTYPE_INT4, read_bits},
    {"awq", not_converted, false, DTYPE_INT4, read_bits},
    {"compressed-tensors", "ignore", false, DTYPE_INT8, read_compressed},
    {"modelopt", "ignore", false, DTYPE_FP8, read_modelopt},
    {"modelopt_fp4", "ignore", false, DTYPE_NVFP4, read_modelopt},
    {.name = NULL},
};

static bool read_config(const struct node *config, struct model *model, struct error *why)
{
    const char *name = NULL;
    if (!node_text(config, "quant_method", &name, why)) {
        return false;
    }
    if (name == NULL) {
        return field_error(config, "quant_method", why, "is missing");
    }
    int found = name_find(name, NAMES(methods), "quant_method", config->file, config->line, why);
    if (found < 0) {
        return false;
    }
    const struct method *method = &methods[found];
    model->weights = method->dtype;
    model->exempt_head = method->head_exempt;
    return (method->read == NULL || method->read(config, model, why)) &&
           exempt_listed(config, method->list_key, model, why);
}

bool quantisation_read(const struct node *around, struct model *model, struct error *why)
{
    const struct node *config;
    model->weights = DTYPE_BF16;
    model->kv = DTYPE_BF16;
    model->exempt_head = true;
    return field_inside(around, "quantization_config", NODE_MAP, &config, why) &&
           (config == NULL || read_config(config, model, why));
}

/* DeepSeek-V4's "fp4" has a scale of 8 bits for 32 values. */
bool quantisation_read_experts(const struct node *config, struct model *model, struct error *why)
{
    const char *name = NULL;
    model->experts = model->weights;
    if (!node_text(config, "expert_dtype", &name, why)) {
        return false;
    }
    if (name == NULL || model->weights == DTYPE_BF16) {
        return true;
    }
    return dtype_find(strcmp(name, "fp4") == 0 ? "mxfp4" : name, config->file, 0, &model->experts,
                      why);
}
