/* Which layers attend to a window or a chunk only, or keep a state instead of KV. Layers start with
 * full attention. */
#include "model/read/layers.h"

#include <string.h>

/* A window that holds the trained context is none. */
static void slide(struct model *model, uint32_t layer, uint32_t window)
{
    bool whole = model->trained_context > 0 && window >= model->trained_context;
    model->layers[layer].attention = whole ? ATTENTION_FULL : ATTENTION_SLIDING;
    model->layers[layer].window = whole ? 0 : window;
}

bool windows_none(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why)
{
    (void)fields;
    (void)kind;
    (void)model;
    (void)why;
    return true;
}

static bool slide_listed(const struct fields *fields, const json_t *types, uint32_t window,
                         struct model *model, struct error *why)
{
    if (!layers_each(fields, "layer_types", json_array_size(types), model, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        bool slides = type != NULL && strcmp(type, "sliding_attention") == 0;
        if (slides && window == 0) {
            field_error(fields, "sliding_window", why, "is missing");
            return error_expect(why, "a whole number: 'layer_types' has sliding layers");
        }
        if (slides) {
            slide(model, i, window);
        } else if (type == NULL || strcmp(type, "full_attention") != 0) {
            layers_wrong_word(fields, "layer_types", i, type, why);
            return error_expect(why, "full_attention or sliding_attention");
        }
    }
    return true;
}

/* Every pattern-th layer attends to everything. Older files spell the key with an underscore. */
static bool slide_by_pattern(const struct fields *fields, uint32_t pattern, uint32_t window,
                             struct model *model, struct error *why)
{
    if (!field_whole(fields, "_sliding_window_pattern", 1, LAYERS_MOST, pattern, &pattern, why) ||
        !field_whole(fields, "sliding_window_pattern", 1, LAYERS_MOST, pattern, &pattern, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if ((i + 1) % pattern != 0) {
            slide(model, i, window);
        }
    }
    return true;
}

bool windows_listed(const struct fields *fields, const struct architecture *kind,
                    struct model *model, struct error *why)
{
    uint32_t window;
    const json_t *types;
    if (!field_whole(fields, "sliding_window", 1, SIZE_MOST, kind->window, &window, why) ||
        !field_list(fields, "layer_types", &types, why)) {
        return false;
    }
    return types != NULL ? slide_listed(fields, types, window, model, why)
                         : slide_by_pattern(fields, kind->window_pattern, window, model, why);
}

bool windows_above(const struct fields *fields, const struct architecture *kind,
                   struct model *model, struct error *why)
{
    bool sliding = false;
    uint32_t window, first;
    const json_t *types;
    if (!field_bool(fields, "use_sliding_window", &sliding, why)) {
        return false;
    }
    if (!sliding) {
        return true;
    }
    if (!field_whole(fields, "sliding_window", 1, SIZE_MOST, kind->window, &window, why) ||
        !field_list(fields, "layer_types", &types, why)) {
        return false;
    }
    if (types != NULL) {
        return slide_listed(fields, types, window, model, why);
    }
    if (!field_whole(fields, "max_window_layers", 0, SIZE_MOST, FIELD_REQUIRED, &first, why)) {
        return false;
    }
    for (uint32_t i = first; i < model->layer_count; i++) {
        slide(model, i, window);
    }
    return true;
}

bool windows_all(const struct fields *fields, const struct architecture *kind, struct model *model,
                 struct error *why)
{
    const json_t *stated = json_object_get(fields->object, "sliding_window"), *types;
    uint32_t window;
    if (!field_whole(fields, "sliding_window", 1, SIZE_MOST, 0, &window, why) ||
        !field_list(fields, "layer_types", &types, why)) {
        return false;
    }
    if (stated == NULL) {
        window = (uint32_t)kind->window;
    }
    if (types != NULL) {
        return slide_listed(fields, types, window, model, why);
    }
    for (uint32_t i = 0; window > 0 && i < model->layer_count; i++) {
        slide(model, i, window);
    }
    return true;
}

/* ---- chunks ---- */

static void chunk(struct model *model, uint32_t layer, uint32_t size)
{
    model->layers[layer].attention = ATTENTION_CHUNKED;
    model->layers[layer].window = size;
}

static bool chunk_listed(const struct fields *fields, const json_t *rotated, uint32_t size,
                         struct model *model, struct error *why)
{
    if (!layers_each(fields, "no_rope_layers", json_array_size(rotated), model, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        const json_t *entry = json_array_get(rotated, i);
        json_int_t value = json_integer_value(entry);
        if (!json_is_integer(entry) || value < 0 || value > 1) {
            field_error(fields, "no_rope_layers", why, "has an invalid entry for layer %u", i);
            return error_expect(why, "1 with positions and chunks, 0 without");
        }
        model->layers[i].unrotated = value == 0;
        if (value == 1) {
            chunk(model, i, size);
        }
    }
    return true;
}

bool windows_chunked(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    uint32_t size, step;
    const json_t *rotated;
    if (!field_whole(fields, "attention_chunk_size", 1, SIZE_MOST, kind->window, &size, why) ||
        !field_whole(fields, "no_rope_layer_interval", 1, SIZE_MOST, kind->window_pattern, &step,
                     why) ||
        !field_list(fields, "no_rope_layers", &rotated, why)) {
        return false;
    }
    if (json_array_size(rotated) > 0) {
        return chunk_listed(fields, rotated, size, model, why);
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        model->layers[i].unrotated = (i + 1) % step == 0;
        if (!model->layers[i].unrotated) {
            chunk(model, i, size);
        }
    }
    return true;
}

/* ---- linear layers ---- */

static bool linear_listed(const struct fields *fields, const json_t *types, struct model *model,
                          struct error *why)
{
    if (!layers_each(fields, "layer_types", json_array_size(types), model, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        bool linear = type != NULL && strcmp(type, "linear_attention") == 0;
        if (!linear && (type == NULL || strcmp(type, "full_attention") != 0)) {
            layers_wrong_word(fields, "layer_types", i, type, why);
            return error_expect(why, "full_attention or linear_attention");
        }
        model->layers[i].attention = linear ? ATTENTION_LINEAR : ATTENTION_FULL;
    }
    return true;
}

static bool check_keeps_kv(const struct fields *fields, const struct model *model,
                           struct error *why)
{
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (model->layers[i].attention != ATTENTION_LINEAR) {
            return true;
        }
    }
    error_input(why, fields->file, 0, "no layer has full attention");
    return error_expect(why, "one at least: models without KV are not modelled");
}

bool windows_linear(const struct fields *fields, const struct architecture *kind,
                    struct model *model, struct error *why)
{
    uint32_t step;
    const json_t *types;
    if (!field_whole(fields, "full_attention_interval", 1, SIZE_MOST, kind->window_pattern, &step,
                     why) ||
        !field_list(fields, "layer_types", &types, why)) {
        return false;
    }
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bool full = (i + 1) % step == 0;
        model->layers[i].attention = full ? ATTENTION_FULL : ATTENTION_LINEAR;
    }
    return (types == NULL || linear_listed(fields, types, model, why)) &&
           check_keeps_kv(fields, model, why);
}
