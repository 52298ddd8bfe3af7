/* An entry is the path of a module, or of all experts of a layer, and its format:
 *     "model.layers.3.mlp.up_proj": {"quant_algo": "W4A16_NVFP4", "group_size": 16}
 * Of the two types in use one has 8 bits and the other 4. A module without an entry is not
 * quantised, so all begin exempt. */
#include "model/read/mixed.h"

#include "core/name.h"
#include "model/module.h"
#include "model/read/exempt.h"

#include <string.h>

static const char *const formats[] = {"FP8", "NVFP4", "W4A16_NVFP4", NULL};

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
    for (size_t i = 0; format != NULL && formats[i] != NULL; i++) {
        if (strcmp(format, formats[i]) == 0) {
            *narrow = i > 0;
            return true;
        }
    }
    field_error(layers, name, why, "is '%.60s'", format != NULL ? format : "");
    return name_expect(format != NULL ? format : "", formats, why);
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

bool mixed_read(const struct fields *config, struct model *model, struct error *why)
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
