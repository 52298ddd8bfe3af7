/* `spillway list`: the names that a scenario can use, with what one needs to choose. */
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/list/lists.h"

#include <string.h>

static const struct list *const lists[] = {
    &list_systems,    &list_models, &list_hardware, &list_policies,
    &list_mechanisms, &list_traces, &list_engines,  &list_routers,
};

static bool list_print(const struct list *list, struct error *why)
{
    struct frame *frame = frame_create(list->columns, list->column_count, why);
    bool ok = frame != NULL && list->add(frame, why) && frame_print(frame, NULL, stdout, why);
    frame_destroy(frame);
    return ok;
}

static bool list_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *const *operands = arguments_operands(arguments, &count);
    const char *kind = operands[0];
    size_t index = 0;
    bool machine = strcmp(kind, "hardware") == 0, model = strcmp(kind, "models") == 0;
    if (count > 1 && !machine && !model) {
        error_usage(why, NULL, 0, "'list %s' takes no argument '%s'", kind, operands[1]);
        return error_expect(why,
                            "spillway list %s, spillway list hardware NAME, or spillway list "
                            "models NAME",
                            kind);
    }
    if (count > 1) {
        return (machine ? list_machine : list_model)(operands[1], why);
    }
    while (strcmp(lists[index]->name, kind) != 0) {
        index++;
    }
    return list_print(lists[index], why);
}

static const char *list_name(size_t index)
{
    return index < sizeof lists / sizeof lists[0] ? lists[index]->name : NULL;
}

static const struct command_option options[] = {{.name = NULL}};

const struct command command_list = {
    .name = "list",
    .operands = "[NAME]",
    .least_operands = 1,
    .most_operands = 2,
    .kind = list_name,
    .summary = "list the names that a scenario can use, or the figures of one machine or model",
    .example = "spillway list systems\nspillway list hardware h100-sxm",
    .options = options,
    .run = list_run,
};
