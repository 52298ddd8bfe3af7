/* A method is a row: how it states its storage type, where it lists the exempt modules, and whether
 * it exempts the output head by default. */
#include "model/read/quantisation.h"

#include "core/name.h"
#include "model/module.h"
#include "model/read/exempt.h"
#include "model/read/layers.h"

#include <string.h>

struct method {
    const char *name;
    const char *list_key;
    bool head_exempt;
    enum dtype dtype; /* if `read` is NULL */
    bool (*read)(const struct fields *config, struct model *model, struct error *why);
};

/* The integer type with a given number of bits. */
static bool integer_dtype(const struct fields *config, const char *key, enum dtype *dtype,
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
static bool read_bits(const struct fields *config, struct model *model, struct error *why)
{
    bool head = false;
    if (!integer_dtype(config, "bits", &model->weights, why) ||
        !field_bool(config, "lm_head", &head, why)) {
        return false;
    }
    model->exempt_head = !head;
    return true;
}

/* A scheme of compressed-tensors: {"num_bits": 8, "type": "float"}. The floats of 4 bits differ in the
 * number of values that share a scale. */
static bool read_scheme(const struct fields *scheme, enum dtype *dtype, struct error *why)
{
    const char *type = "int";
    uint32_t values;
    if (!field_text(scheme, "type", &type, why) || !integer_dtype(scheme, "num_bits", dtype, why)) {
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

static bool read_group(const struct fields *config, const char *name, const json_t *group,
                       enum dtype *dtype, struct error *why)
{
    const struct fields inside = {group, config->file, "quantization_config.config_groups"};
    const json_t *weights = NULL;
    if (!json_is_object(group)) {
        return field_error(&inside, name, why, "is not an object");
    }
    if (!field_object(&inside, "weights", &weights, why)) {
        return false;
    }
    if (weights == NULL) {
        field_error(&inside, name, why, "does not quantise weights");
        return error_expect(why, "'weights' with 'num_bits' and 'type'");
    }
    const struct fields scheme = {weights, config->file,
                                  "quantization_config.config_groups.*.weights"};
    return read_scheme(&scheme, dtype, why);
}

/* "weight_block_size": [128, 128], or nothing. */
static bool read_fp8(const struct fields *config, struct model *model, struct error *why)
{
    const json_t *sizes = NULL;
    if (!field_list(config, "weight_block_size", &sizes, why)) {
        return false;
    }
    json_int_t rows = json_integer_value(json_array_get(sizes, 0));
    if (sizes != NULL && (json_array_size(sizes) != 2 || rows < 1 || rows > SIZE_MOST)) {
        field_error(config, "weight_block_size", why, "is no size of blocks");
        return error_expect(why, "two numbers, such as [128, 128]");
    }
    model->weights = DTYPE_FP8;
    model->fp8_block = (uint32_t)rows;
    return true;
}

/* The type of the KV cache, if it is stated. */
static bool read_kv_scheme(const struct fields *config, struct model *model, struct error *why)
{
    const json_t *kv;
    if (!field_object(config, "kv_cache_scheme", &kv, why)) {
        return false;
    }
    const struct fields scheme = {kv, config->file, "quantization_config.kv_cache_scheme"};
    return kv == NULL || read_scheme(&scheme, &model->kv, why);
}

static bool read_compressed(const struct fields *config, struct model *model, struct error *why)
{
    const json_t *groups;
    if (!field_object(config, "config_groups", &groups, why)) {
        return false;
    }
    if (json_object_size(groups) == 0) {
        return field_error(config, "config_groups", why, "is missing or empty");
    }
    const char *name;
    json_t *group;
    size_t read = 0;
    json_object_foreach((json_t *)groups, name, group)
    {
        enum dtype dtype;
        if (!read_group(config, name, group, &dtype, why)) {
            return false;
        }
        if (read++ > 0 && dtype != model->weights) {
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

/* Is the format of an entry the one with 4 bits? */
static bool read_format(const struct fields *layers, const char *name, const json_t *entry,
                        bool *narrow, struct error *why)
{
    const struct fields inside = {entry, layers->file, "quantization_config.quantized_layers.*"};
    const char *format = NULL;
    if (!json_is_object(entry)) {
        return field_error(layers, name, why, "is not an object");
    }
    if (!field_text(&inside, "quant_algo", &format, why)) {
        return false;
    }
    for (size_t i = 0; format != NULL && mixed_formats[i] != NULL; i++) {
        if (strcmp(format, mixed_formats[i]) == 0) {
            *narrow = i > 0;
            return true;
        }
    }
    field_error(layers, name, why, "is '%.60s'", format != NULL ? format : "");
    return name_expect(format != NULL ? format : "", mixed_formats, why);
}

static bool read_module(const struct fields *layers, const char *name, const json_t *entry,
                        struct model *model, struct error *why)
{
    struct exempt_pattern pattern;
    bool narrow = false;
    if (!read_format(layers, name, entry, &narrow, why) ||
        !exempt_read(layers, name, name, &pattern, why)) {
        return false;
    }
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

static bool mixed_read(const struct fields *config, struct model *model, struct error *why)
{
    struct fields layers = {NULL, config->file, "quantization_config.quantized_layers"};
    if (!field_object(config, "quantized_layers", &layers.object, why)) {
        return false;
    }
    size_t count = json_object_size(layers.object), most = EXEMPT_MOST_PAIRS / model->layer_count;
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
    const char *name;
    json_t *entry;
    bool ok = true;
    json_object_foreach((json_t *)layers.object, name, entry)
    {
        ok = ok && read_module(&layers, name, entry, model, why);
    }
    return ok;
}

/* ---- methods ---- */

/* NVIDIA's ModelOpt names its formats, or describes them as compressed-tensors does. */
static bool read_modelopt(const struct fields *config, struct model *model, struct error *why)
{
    static const char *const algorithms[] = {"FP8", "NVFP4", "MIXED_PRECISION", NULL};
    static const enum dtype dtypes[] = {DTYPE_FP8, DTYPE_NVFP4, DTYPE_FP8};
    enum { MIXED = 2 };
    const char *name = NULL, *kv = NULL;
    if (!field_text(config, "quant_algo", &name, why) ||
        !field_text(config, "kv_cache_quant_algo", &kv, why)) {
        return false;
    }
    for (size_t i = 0; name != NULL && algorithms[i] != NULL; i++) {
        if (strcmp(name, algorithms[i]) == 0) {
            model->weights = dtypes[i];
            model->kv = kv != NULL && strcmp(kv, "FP8") == 0 ? DTYPE_FP8 : model->kv;
            if (i == MIXED) {
                return mixed_read(config, model, why) && read_kv_scheme(config, model, why);
            }
            return json_object_get(config->object, "config_groups") == NULL ||
                   read_compressed(config, model, why);
        }
    }
    field_error(config, "quant_algo", why, "is '%.60s'", name != NULL ? name : "");
    return name_expect(name != NULL ? name : "", algorithms, why);
}

static const struct method methods[] = {
    {.name = "fp8", .list_key = "modules_to_not_convert", .head_exempt = true, .read = read_fp8},
    {.name = "fbgemm_fp8",
     .list_key = "modules_to_not_convert",
     .head_exempt = true,
     .dtype = DTYPE_FP8},
    {.name = "mxfp4",
     .list_key = "modules_to_not_convert",
     .head_exempt = true,
     .dtype = DTYPE_MXFP4},
    {.name = "gptq", .list_key = "modules_to_not_convert", .read = read_bits},
    {.name = "awq", .list_key = "modules_to_not_convert", .read = read_bits},
    {.name = "compressed-tensors", .list_key = "ignore", .read = read_compressed},
    {.name = "modelopt", .list_key = "ignore", .read = read_modelopt},
    {.name = "modelopt_fp4", .list_key = "ignore", .read = read_modelopt},
};

static const char *method_row(size_t index)
{
    return index < sizeof methods / sizeof methods[0] ? methods[index].name : NULL;
}

static bool read_config(const struct fields *config, struct model *model, struct error *why)
{
    const char *name = NULL;
    if (!field_text(config, "quant_method", &name, why)) {
        return false;
    }
    if (name == NULL) {
        return field_error(config, "quant_method", why, "is missing");
    }
    int found = name_find(name, method_row, "quant_method", config->file, 0, why);
    if (found < 0) {
        return false;
    }
    const struct method *method = &methods[found];
    const json_t *list;
    model->weights = method->dtype;
    model->exempt_head = method->head_exempt;
    return (method->read == NULL || method->read(config, model, why)) &&
           field_list(config, method->list_key, &list, why) &&
           exempt_listed(config, method->list_key, list, model, why);
}

bool quantisation_read(const struct fields *fields, struct model *model, struct error *why)
{
    const json_t *object;
    model->weights = DTYPE_BF16;
    model->kv = DTYPE_BF16;
    model->exempt_head = true;
    if (!field_object(fields, "quantization_config", &object, why)) {
        return false;
    }
    const struct fields config = {object, fields->file, "quantization_config"};
    return object == NULL || read_config(&config, model, why);
}

/* DeepSeek-V4's "fp4" has a scale of 8 bits for 32 values. */
bool quantisation_read_experts(const struct fields *fields, struct model *model, struct error *why)
{
    const char *name = NULL;
    model->experts = model->weights;
    if (!field_text(fields, "expert_dtype", &name, why)) {
        return false;
    }
    if (name == NULL || model->weights == DTYPE_BF16) {
        return true;
    }
    return dtype_find(strcmp(name, "fp4") == 0 ? "mxfp4" : name, fields->file, 0, &model->experts,
                      why);
}
