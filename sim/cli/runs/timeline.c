/* `spillway timeline`: writes one step as a Chrome trace, or prints one layer as text. */
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/output.h"
#include "cli/runs/layer_text.h"
#include "cli/frame/scenario_options.h"
#include "core/units.h"
#include "predict/decode/run.h"
#include "predict/answer.h"

enum { SET, OUTPUT, LAYER };

static const struct command_option options[] = {
    [SET] = SCENARIO_SET_OPTION,
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .summary = "the JSON file to write, for ui.perfetto.dev or chrome://tracing"},
    [LAYER] = {.name = "--layer",
               .argument = "N",
               .summary = "instead of a file: print layer N (from 0) as a picture with a lane for "
                          "each resource, and its stages in order"},
    {.name = NULL},
};

static bool write_timeline(const struct setup *setup, const char *path, struct error *why)
{
    struct output output;
    if (!output_open(path, &output, why)) {
        return false;
    }
    if (!run_timeline(setup, output.file, why)) {
        output_discard(&output);
        return false;
    }
    return output_commit(&output, why);
}

static bool print_layer(const struct setup *setup, uint32_t layer, struct error *why)
{
    struct layer_schedule schedule;
    if (!run_layer(setup, layer, &schedule, why)) {
        return false;
    }
    bool ok = layer_print(&schedule, layer, stdout, why);
    layer_schedule_release(&schedule);
    return ok;
}

/* One of the two options says what is wanted. `layer` is UINT64_MAX if it is a file. */
static bool read_layer(const struct arguments *arguments, uint64_t *layer, struct error *why)
{
    const char *text = arguments_text(arguments, LAYER);
    *layer = UINT64_MAX;
    if (arguments_given(arguments, OUTPUT) == (text != NULL)) {
        return error_usage(why, NULL, 0, "give either --output or --layer");
    }
    return text == NULL ||
           units_parse_whole(text, UNIT_COUNT, UINT32_MAX, NULL, 0, "--layer", layer, why);
}

/* Of an ensemble, the step of the family whose result is the answer's: the one in the middle by its
 * step, which is known once all of them are timed. So each family is run, as `simulate` runs it; with
 * replays kept from there, that takes no reading of a recording. */
static bool timeline_command_show(const struct point *point, const char *path, uint64_t layer,
                                  struct error *why)
{
    struct run_context context;
    struct point view;
    if (!run_context_init(&context, 1, NULL, why)) {
        return false;
    }
    bool good = answer_view(point, &context, &view, why);
    run_context_release(&context);
    if (good) {
        good = layer <= UINT32_MAX ? print_layer(&view.setup, (uint32_t)layer, why)
                                   : write_timeline(&view.setup, path, why);
        point_view_release(point, &view);
    }
    return good;
}

static bool timeline_command_run(const struct arguments *arguments, struct error *why)
{
    struct scenario scenario;
    struct point point;
    uint64_t layer;
    if (!read_layer(arguments, &layer, why) ||
        !scenario_from_arguments(arguments, &scenario, why)) {
        return false;
    }
    point_init(&point);
    bool ok =
        scenario.points == 1 ||
        error_usage(why, NULL, 0, "a timeline shows one run, not a sweep of %u", scenario.points);
    ok = ok && scenario_point(&scenario, 0, &point, why) &&
         timeline_command_show(&point, arguments_text(arguments, OUTPUT), layer, why);
    point_release(&point);
    scenario_release(&scenario);
    return ok;
}

const struct command command_timeline = {
    .name = "timeline",
    .operands = "[FILE...]",
    .most_operands = COMMAND_MANY,
    .summary = "write one decode step as a timeline: what ran where, and what waited",
    .example =
        "spillway timeline --set model=llama-3-8b --set hardware=a40 --set context=32768 \\\n"
        "    --set trace=smollm2-135m --set system=retroinfer -o step.json",
    .options = options,
    .more = scenario_print_keys,
    .run = timeline_command_run,
};
