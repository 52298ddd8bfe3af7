/* `spillway list`: the names that a scenario can use, with what one needs to choose. */
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/list/lists.h"

#include <string.h>

static const struct list *const lists[] = {
    &list_systems, &list_models,  &list_hardware, &list_policies, &list_mechanisms,
    &list_traces,  &list_engines, &list_routers,  &list_columns,
};

bool list_print(struct frame *frame, bool json, struct error *why)
{
    bool ok = frame != NULL &&
              (json ? frame_print_json(frame, stdout, why) : frame_print(frame, NULL, stdout, why));
    frame_destroy(frame);
    return ok;
}

static bool print_names(const struct list *list, bool json, struct error *why)
{
    struct frame *frame = frame_create(list->columns, list->column_count, why);
    if (frame == NULL || !list->add(frame, why)) {
        frame_destroy(frame);
        return false;
    }
    return list_print(frame, json, why);
}

/* A kind of its own: not a table of names, but the page of one model. */
static const char page_kind[] = "model";

enum { SET, JSON };
static const struct command_option options[] = {
    [SET] = {.name = "--set",
             .argument = "KEY=VALUE",
             .summary =
                 "model: a key as in a scenario, such as tensor_parallel or dtype.kv; engine, "
                 "kv_pool; or model.KEY for a key of config.json",
             .repeats = true},
    [JSON] = {.name = "--json", .summary = "print one JSON object per name"},
    {.name = NULL},
};

static bool run_page(const struct arguments *arguments, const char *name, struct error *why)
{
    uint32_t count;
    const char *const *sets = arguments_all(arguments, SET, &count);
    if (name == NULL) {
        error_usage(why, NULL, 0, "'list model' needs a name");
        return error_expect(why, "one of 'spillway list models', or the path of a config.json");
    }
    return list_model_page(name, sets, count, arguments_given(arguments, JSON), why);
}

static bool list_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *const *operands = arguments_operands(arguments, &count);
    const char *kind = operands[0];
    size_t index = 0;
    if (strcmp(kind, page_kind) == 0) {
        return run_page(arguments, count > 1 ? operands[1] : NULL, why);
    }
    if (arguments_given(arguments, SET)) {
        error_usage(why, NULL, 0, "'list %s' takes no --set", kind);
        return error_expect(why, "spillway list model NAME --set KEY=VALUE");
    }
    bool json = arguments_given(arguments, JSON);
    bool machine = strcmp(kind, "hardware") == 0, model = strcmp(kind, "models") == 0;
    if (count > 1 && !machine && !model) {
        error_usage(why, NULL, 0, "'list %s' takes no argument '%s'", kind, operands[1]);
        return error_expect(why,
                            "spillway list %s, spillway list hardware NAME, or spillway list "
                            "models NAME",
                            kind);
    }
    if (count > 1) {
        return (machine ? list_machine : list_model)(operands[1], json, why);
    }
    while (strcmp(lists[index]->name, kind) != 0) {
        index++;
    }
    return print_names(lists[index], json, why);
}

static const char *list_name(size_t index)
{
    size_t count = sizeof lists / sizeof lists[0];
    return index < count ? lists[index]->name : index == count ? page_kind : NULL;
}

const struct command command_list = {
    .name = "list",
    .operands = "[NAME]",
    .least_operands = 1,
    .most_operands = 2,
    .kind = list_name,
    .summary = "list the names that a scenario can use, or the figures of one machine or model",
    .example = "spillway list hardware h100-sxm\n"
               "spillway list model qwen3.5-27b --set engine=vllm-0.27 --set kv_pool=20GiB",
    .options = options,
    .run = list_run,
};
