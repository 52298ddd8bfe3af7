/* Lists in which a config describes each layer. */
#include "model/read/layers.h"

bool layers_each(const struct fields *fields, const char *key, size_t count,
                 const struct model *model, struct error *why)
{
    if (count == model->layer_count) {
        return true;
    }
    field_error(fields, key, why, "lists %zu layers", count);
    return error_expect(why, "%u layers, as in 'num_hidden_layers'", model->layer_count);
}

bool layers_wrong_word(const struct fields *fields, const char *key, uint32_t layer,
                       const char *word, struct error *why)
{
    return field_error(fields, key, why, "has '%.60s' for layer %u",
                       word != NULL ? word : "no text", layer);
}
