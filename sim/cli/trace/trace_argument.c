#include "cli/trace/trace_argument.h"

#include "core/array.h"
#include "core/text.h"
#include "trace/demand.h"

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

bool selection_from_arguments(const struct arguments *arguments, double *share, struct error *why)
{
    const char *text = arguments_shared(arguments, "--selection");
    *share = 0.1;
    if (text != NULL && !units_parse(text, UNIT_SHARE, NULL, 0, "--selection", share, why)) {
        return false;
    }
    if (!(*share > 0 && *share <= 1)) {
        error_usage(why, NULL, 0, "'--selection' is '%s'", text);
        return error_expect(why, "more than 0 %% and at most 100 %%");
    }
    return true;
}

const char layer_choice_summary[] =
    "layers of the model, as in 5,11,17, or all (default: those without sliding windows)";

bool layer_choice_apply(const struct arguments *arguments, struct trace *trace,
                        struct layer_choice *out, struct error *why)
{
    uint32_t count, all = trace_header(trace)->layers;
    const char *const *texts =
        arguments_all(arguments, arguments_number(arguments, "--layers"), &count);
    bool listed = count > 0;
    *out = (struct layer_choice){.layers = all};
    if (listed && strcmp(texts[0], "all") == 0) {
        return true;
    }
    uint32_t *layers = array_zeroed(all, sizeof *layers, why);
    bool ok = layers != NULL;
    for (uint32_t i = 0; ok && listed && i < count; i++) {
        uint64_t number;
        if (i == all ||
            !units_parse_whole(texts[i], UNIT_COUNT, UINT32_MAX, NULL, 0, "", &number, why) ||
            !trace_find_layer(trace, (uint32_t)number, &layers[i]) ||
            (i > 0 && layers[i] <= layers[i - 1])) {
            error_usage(why, NULL, 0, "--layers: '%s' for %s", texts[i], trace_path(trace));
            ok = error_expect(why, "all, or layers that it has, ascending");
        }
    }
    for (uint32_t layer = 0; ok && !listed && layer < all; layer++) { /* those that offload */
        bool slides = true;
        ok = trace_layer_slides(trace, layer, &slides, why);
        layers[count] = layer;
        count += !slides;
    }
    if (ok && count > 0 && count < all) {
        out->sliding = listed ? 0 : all - count;
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
        text_append(text, LAYER_CHOICE_TEXT, ", %u of %u layers", chosen, choice->layers);
    }
    if (chosen < choice->layers && choice->sliding > 0) {
        text_append(text, LAYER_CHOICE_TEXT, ", without %u with sliding windows", choice->sliding);
    }
}
