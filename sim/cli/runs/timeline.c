/* `spillway timeline`: writes one step as a Chrome trace. */
#include "cli/frame/output.h"
#include "cli/frame/question.h"
#include "predict/answer.h"

enum { SET, OUTPUT };

static const struct command_option options[] = {
    [SET] = {SCENARIO_SET_OPTION},
    [OUTPUT] = {"--output", "FILE",
                "the JSON file to write, for ui.perfetto.dev or chrome://tracing", .letter = 'o',
                .required = true},
    {.name = NULL},
};

/* Of an ensemble, the step of the family in the middle, known once all are timed: each is run, and replays
 * that are kept take no reading of a recording. */
static bool timeline_command_show(const struct point *point, const char *path, struct error *why)
{
    struct run_context context;
    struct result result;
    struct point view;
    struct output output;
    result_init(&result);
    if (!run_context_init(&context, 1, NULL, why)) {
        return false;
    }
    bool good = (point->family_count == 0 || answer_run(point, &context, &result, why)) &&
                point_view(point, families_chosen(&result), &view, why);
    run_context_release(&context);
    result_release(&result);
    if (good) {
        bool opened = output_open(path, &output, why);
        good = opened && run_timeline(&view.setup, output.file, why);
        point_view_release(&view);
        if (opened && !good) {
            output_discard(&output);
        }
    }
    return good && output_commit(&output, why);
}

static bool timeline_command_run(const struct arguments *arguments, struct error *why)
{
    struct scenario scenario;
    struct point point;
    if (!scenario_from_arguments(arguments, &scenario, why)) {
        return false;
    }
    point_init(&point);
    bool ok =
        scenario.points == 1 ||
        error_usage(why, NULL, 0, "a timeline shows one run, not a sweep of %u", scenario.points);
    ok = ok && scenario_point(&scenario, 0, &point, why) &&
         timeline_command_show(&point, arguments_text(arguments, OUTPUT), why);
    point_release(&point);
    scenario_release(&scenario);
    return ok;
}

const struct command command_timeline = {
    .name = "timeline",
    .operands = "[FILE...]",
    .summary = "write one decode step as a timeline: what ran where, and what waited",
    .example =
        "spillway timeline --set model=llama-3-8b --set hardware=a40 --set context=32768 \\\n"
        "    --set trace=smollm2-135m --set system=retroinfer -o step.json",
    .options = options,
    .more = scenario_print_keys,
    .run = timeline_command_run,
};
