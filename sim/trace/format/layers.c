/* Which layers of a trace are read, and their numbers in the model. A recording of layers 5, 11 and
 * 17 has layers 0, 1 and 2, and lists the model's in its source. */
#include "trace/format/file.h"

#include "core/array.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>

/* The list counts if it has an ascending number for each layer of the file. */
static bool is_list(const json_t *list, uint32_t layers)
{
    json_int_t last = -1;
    bool fits = json_array_size(list) == layers;
    for (uint32_t i = 0; fits && i < layers; i++) {
        json_int_t number = json_integer_value(json_array_get(list, i));
        fits = json_is_integer(json_array_get(list, i)) && number > last && number < UINT32_MAX;
        last = number;
    }
    return fits;
}

bool trace_layers_init(struct trace *trace, struct error *why)
{
    uint32_t layers = trace->header.layers;
    json_t *source = json_loads(trace->header.source, 0, NULL);
    const json_t *list = json_object_get(source, "layers");
    bool listed = is_list(list, layers);
    trace->shown = trace->header;
    if (listed && (trace->numbers = array_zeroed(layers, sizeof *trace->numbers, why)) != NULL) {
        for (uint32_t i = 0; i < layers; i++) {
            trace->numbers[i] = (uint32_t)json_integer_value(json_array_get(list, i));
        }
    }
    json_decref(source);
    return !listed || trace->numbers != NULL;
}

uint32_t trace_model_layer(const struct trace *trace, uint32_t layer)
{
    uint32_t stored = trace->chosen != NULL ? trace->chosen[layer] : layer;
    return trace->numbers != NULL ? trace->numbers[stored] : stored;
}

bool trace_find_layer(const struct trace *trace, uint32_t number, uint32_t *layer)
{
    for (uint32_t i = 0; i < trace->shown.layers; i++) {
        if (trace_model_layer(trace, i) == number) {
            *layer = i;
            return true;
        }
    }
    return false;
}

bool trace_choose_layers(struct trace *trace, const uint32_t *layers, uint32_t count,
                         struct error *why)
{
    uint32_t *chosen = array_zeroed(count, sizeof *chosen, why);
    if (chosen == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert(layers[i] < trace->shown.layers);
        chosen[i] = trace->chosen != NULL ? trace->chosen[layers[i]] : layers[i];
    }
    free(trace->chosen);
    trace->chosen = chosen;
    trace->shown.layers = count;
    return true;
}
