#include "cli/trace/trace_argument.h"

#include "core/array.h"
#include "core/named.h"
#include "trace/demand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace *trace_named(const char *name, struct error *why)
{
    char path[4096];
    bool found = named_file(&named_trace, name, NULL, 0, path, sizeof path, why);
    return found ? trace_open(path, why) : NULL;
}

struct trace *trace_from_arguments(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    return trace_named(arguments_operands(arguments, &count)[0], why);
}

const char layer_choice_summary[] =
    "layers of the model, as in 5,11,17, or all (default: those without sliding windows)";

/* The layers in `list`, into the `*count` elements of `layers`, which has room for all. */
static bool layer_choice_read_list(const struct trace *trace, const char *list, uint32_t *layers,
                                   uint32_t *count, struct error *why)
{
    const char *at = list;
    *count = 0;
    for (bool more = true; more; at += more) {
        char *end;
        uint32_t layer;
        unsigned long number = strtoul(at, &end, 10);
        bool digits = *at >= '0' && *at <= '9' && (*end == ',' || *end == '\0');
        if (!digits || number > UINT32_MAX || !trace_find_layer(trace, (uint32_t)number, &layer) ||
            (*count > 0 && layer <= layers[*count - 1])) {
            error_usage(why, NULL, 0, "'--layers' is '%s' for %s", list, trace_path(trace));
            return error_expect(why, "all, or layers that it has, ascending");
        }
        layers[(*count)++] = layer;
        at = end;
        more = *end == ',';
    }
    return true;
}

static bool find_offloading(const struct trace *trace, uint32_t *layers, uint32_t *count,
                            struct error *why)
{
    *count = 0;
    for (uint32_t layer = 0; layer < trace_header(trace)->layers; layer++) {
        bool slides;
        if (!trace_layer_slides(trace, layer, &slides, why)) {
            return false;
        }
        layers[*count] = layer;
        *count += !slides;
    }
    return true;
}

bool layer_choice_apply(struct trace *trace, const char *list, struct layer_choice *out,
                        struct error *why)
{
    uint32_t count, all = trace_header(trace)->layers;
    *out = (struct layer_choice){.layers = all};
    if (list != NULL && strcmp(list, "all") == 0) {
        return true;
    }
    uint32_t *layers = array_zeroed(all, sizeof *layers, why);
    bool ok =
        layers != NULL && (list != NULL ? layer_choice_read_list(trace, list, layers, &count, why)
                                        : find_offloading(trace, layers, &count, why));
    if (ok && count > 0 && count < all) {
        out->sliding = list == NULL ? all - count : 0;
        ok = trace_choose_layers(trace, layers, count, why);
    }
    free(layers);
    return ok;
}

void layer_choice_write(const struct layer_choice *choice, const struct trace *trace,
                        char text[LAYER_CHOICE_TEXT])
{
    uint32_t chosen = trace_header(trace)->layers;
    text[0] = '\0';
    if (chosen < choice->layers) {
        int used = snprintf(text, LAYER_CHOICE_TEXT, ", %u of %u layers", chosen, choice->layers);
        if (choice->sliding > 0) {
            snprintf(text + used, (size_t)(LAYER_CHOICE_TEXT - used),
                     ", without %u with sliding windows", choice->sliding);
        }
    }
}
