/* Storage types of weights and of the KV cache, by a config's quantization_config. A method is a row: how it
 * states its type, and whether it exempts the output head by default. A key that no method reads and that may
 * decide a size is refused. */
#include "model/read/config.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

/* ---- modules that are not quantised ----
 *
 * An entry names a module by its path ("model.layers.3.self_attn", "lm_head"), a part of it ("self_attn"), or
 * a pattern, written "model.layers.*.mlp" or "re:.*mlp.*". It covers a matrix if it matches some run of whole
 * components of that matrix's path (AWQ's: any part of it). Entries that match none (vision towers, norms,
 * routers) have no effect. An entry that is neither a path nor such a pattern is refused. So is the exemption
 * of single experts, which the layers of struct model cannot express. */

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

/* Bits of enum model_module: the matrices of `layer` that a pattern covers. */
static uint32_t exempt_modules(const char *pattern, const struct model *model, uint32_t layer)
{
    const struct node *modules = architecture_list("modules");
    const struct node *own = node_get(architecture_list("modules_of"), model->architecture);
    uint32_t covered = 0;
    for (int module = 0; module < MODULE_COUNT; module++) {
        const struct node *names = node_get(own, module_words[module]);
        names = names != NULL ? names : node_get(modules, module_words[module]);
        for (size_t i = 0; names != NULL && i < names->count; i++) {
            char path[64];
            snprintf(path, sizeof path, ".layers.%u.%s.", layer, names->children[i]->text);
            covered |= fnmatch(pattern, path, 0) == 0 ? 1U << module : 0;
        }
    }
    return covered;
}

/* The pattern of an entry matches ".COMPONENT.COMPONENT." */
static bool exempt_one(const struct node *config, const char *key, const char *entry,
                       struct model *model, struct error *why)
{
    char plain[PATTERN_SIZE], pattern[PATTERN_SIZE + 4];
    if (entry == NULL || !plain_pattern(entry, plain)) {
        field_error(config, key, why, "has '%.100s'", entry != NULL ? entry : "no text");
        return error_expect(why, "names of modules, 'a.*.b' or 're:.*b'");
    }
    if (fnmatch("*.experts.[0-9]*", plain, 0) == 0) {
        field_error(config, key, why, "has '%.100s'", entry);
        return error_expect(why, "all experts of a layer or none");
    }
    const struct node *method = node_get(config, "quant_method");
    bool part = method != NULL && strcmp(method->text, "awq") == 0;
    size_t length = strlen(plain);
    plain[length - (!part && plain[length - 1] == '.')] = '\0'; /* "model.layers.0." */
    snprintf(pattern, sizeof pattern, part ? "*%s*" : "*.%s.*", skip_prefix(plain));
    model->exempt_head |= fnmatch(pattern, ".lm_head.", 0) == 0;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        model->layers[layer].exempt |= exempt_modules(pattern, model, layer);
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

/* "group_size": -1 or nothing is one group for each output; `fallback` is that of a missing key. */
static bool read_group(const struct node *config, uint32_t fallback, uint32_t *group,
                       struct error *why)
{
    const struct node *stated = node_stated(config, "group_size");
    bool whole = stated != NULL && stated->text != NULL && strcmp(stated->text, "-1") == 0;
    *group = 0;
    return whole || field_whole(config, "group_size", 1, SIZE_MOST, fallback, group, why);
}

/* GPTQ and AWQ: an fp16 scale and a zero point for each group, which symmetric files have, too. GPTQ's
 * have the group of each input besides (g_idx, of 32 bits). Absent, a group is 128 (transformers). */
static bool read_bits(const struct node *config, struct model *model, struct error *why)
{
    bool head = false, gptq = strcmp(node_get(config, "quant_method")->text, "gptq") == 0;
    uint32_t group;
    const struct node *dynamic = node_stated(config, "dynamic");
    if (dynamic != NULL && dynamic->count > 0) {
        field_error(config, "dynamic", why, "gives some modules bits of their own");
        return error_expect(why, "the same bits for all");
    }
    if (!integer_dtype(config, "bits", &model->weights, why) ||
        !read_group(config, 128, &group, why) || !node_bool(config, "lm_head", &head, why)) {
        return false;
    }
    uint32_t zero = model->weights == DTYPE_INT4 ? 4 : 8;
    model->scales = (struct model_scales){model->weights, group, 16 + zero, gptq ? 32 : 0};
    model->exempt_head = !head;
    return true;
}

/* A scheme: {"num_bits": 8, "type": "float"}. Floats of 4 bits differ in how many values share a scale. */
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

/* Beside packed integers, or groups of other values: a scale in bf16, a zero point unless they are symmetric,
 * and with "actorder": "group" the group of each input (compressed-tensors, pack_quantized.py). A scale
 * for each output of 8-bit values is not counted. */
static bool read_scales(const struct node *scheme, enum dtype dtype, struct model_scales *out,
                        struct error *why)
{
    uint32_t group, zero = dtype == DTYPE_INT4 ? 4 : 8;
    bool symmetric = true;
    const struct node *order = node_stated(scheme, "actorder");
    if (!read_group(scheme, 0, &group, why) || !node_bool(scheme, "symmetric", &symmetric, why)) {
        return false;
    }
    bool sorted = order != NULL && order->text != NULL &&
                  (strcmp(order->text, "group") == 0 || strcmp(order->text, "true") == 0);
    if (dtype == DTYPE_INT4 || (dtype != DTYPE_NVFP4 && dtype != DTYPE_MXFP4 && group > 0)) {
        *out = (struct model_scales){dtype, group, 16 + (symmetric ? 0 : zero), sorted ? 32 : 0};
    }
    return true;
}

/* "weight_block_size": [128, 128], or nothing. Scales of smaller blocks would be 1 %; none are counted. */
enum { FP8_BLOCK_LEAST = 512 };
static bool read_fp8(const struct node *config, struct model *model, struct error *why)
{
    const struct node *sizes = node_stated(config, "weight_block_size");
    uint32_t rows = 0, columns = 0;
    if (sizes != NULL &&
        (sizes->count != 2 || !field_number(sizes->children[0], 1, SIZE_MOST, &rows) ||
         !field_number(sizes->children[1], 1, SIZE_MOST, &columns) ||
         (uint64_t)rows * columns < FP8_BLOCK_LEAST)) {
        field_error(config, "weight_block_size", why, "is no block of at least 512 weights");
        return error_expect(why, "two numbers, such as [128, 128]");
    }
    model->fp8_block = rows;
    return true;
}

static bool read_compressed(const struct node *config, struct model *model, struct error *why)
{
    const struct node *groups;
    const char *format = "";
    if (!field_inside(config, "config_groups", NODE_MAP, &groups, why) ||
        !node_text(config, "format", &format, why)) {
        return false;
    }
    if (strcmp(format, "marlin-24") == 0) {
        field_error(config, "format", why, "is marlin-24: half of the weights are not stored");
        return error_expect(why, "weights that are all there");
    }
    if (groups == NULL || groups->count == 0) {
        return field_error(config, "config_groups", why, "is missing or empty");
    }
    for (size_t i = 0; i < groups->count; i++) {
        const struct node *group = groups->children[i], *weights = node_stated(group, "weights");
        struct model_scales scales = {0};
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
        if (!read_scheme(weights, &dtype, why) || !read_scales(weights, dtype, &scales, why)) {
            return false;
        }
        if (i > 0 && (dtype != model->weights || scales.group != model->scales.group ||
                      scales.bits != model->scales.bits)) {
            field_error(config, "config_groups", why, "mixes storage types or sizes of groups");
            return error_expect(why, "one for all groups");
        }
        model->weights = dtype;
        model->scales = scales;
    }
    const struct node *kv;
    return field_inside(config, "kv_cache_scheme", NODE_MAP, &kv, why) &&
           (kv == NULL || read_scheme(kv, &model->kv, why));
}

/* ---- methods ---- */

/* NVIDIA's ModelOpt names its formats, or describes them as compressed-tensors does. */
static bool read_modelopt(const struct node *config, struct model *model, struct error *why)
{
    static const char *const kv_algorithms[] = {"FP8", "NVFP4", NULL};
    static const char *const algorithms[] = {"FP8", "NVFP4", NULL};
    static const enum dtype dtypes[] = {DTYPE_FP8, DTYPE_NVFP4};
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
    return node_get(config, "config_groups") == NULL || read_compressed(config, model, why);
}

/* Where methods list what is not quantised. */
static const char *const exempt_lists[] = {"ignore", "ignored_layers", "modules_to_not_convert",
                                           "exclude_modules"};
static const struct method methods[] = {
    {"fp8", true, DTYPE_FP8, read_fp8},
    {"fbgemm_fp8", true, DTYPE_FP8, NULL},
    {"mxfp4", true, DTYPE_MXFP4, NULL},
    {"gptq", false, DTYPE_INT4, read_bits},
    {"awq", false, DTYPE_INT4, read_bits},
    {"compressed-tensors", false, DTYPE_INT8, read_compressed},
    {"modelopt", false, DTYPE_FP8, read_modelopt},
    {"modelopt_fp4", false, DTYPE_NVFP4, read_modelopt},
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
    bool good =
        keys_quantise(config, why) && (method->read == NULL || method->read(config, model, why));
    for (size_t i = 0; good && i < sizeof exempt_lists / sizeof *exempt_lists; i++) {
        good = exempt_listed(config, exempt_lists[i], model, why);
    }
    return good;
}

bool quantisation_read(const struct node *top, const struct node *decoder, struct model *model,
                       struct error *why)
{
    static const char *const keys[] = {"quantization_config", "compression_config", NULL};
    const struct node *around = node_stated(top, field_first(top, keys)) != NULL ? top : decoder;
    const struct node *config;
    model->weights = model->kv = DTYPE_BF16;
    model->exempt_head = true;
    for (size_t i = 0; i < top->count; i++) {
        const struct node *other = top->children[i];
        if (strstr(other->key, "quantization") != NULL && name_match(other->key, keys) < 0 &&
            node_stated(top, keys[0]) == NULL && other->kind == NODE_MAP) {
            node_error(other, why, "'%.60s' is not understood", other->key);
            return error_expect(why, "'quantization_config', or 'dtype.weights' without this key");
        }
    }
    return field_inside(around, field_first(around, keys), NODE_MAP, &config, why) &&
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
