#include "study/advise/advice_search.h"

#include "base/node.h"
#include "study/plan/planning_long.h"

#include <inttypes.h>
#include <stdio.h>

bool advice_add_targets(bool serves, struct targets *targets, struct error *why)
{
    struct targets more;
    bool good = !serves || targets_parse("queue_grows<=0", &more, why);
    if (good && serves) {
        targets->all[targets->count++] = more.all[0];
    }
    return good;
}

static bool lay(struct scenario *scenario, const char *key, uint32_t number, struct error *why)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu32, number);
    return node_set(scenario->root, key, text, why);
}

bool advice_lay_form(struct scenario *scenario, const struct advice_form *form, struct error *why)
{
    return lay(scenario, "tensor_parallel", form->gpus, why) &&
           (!scenario_serves(scenario) || form->servers == 1 ||
            lay(scenario, "replicas", form->servers, why));
}

bool advice_search(const struct scenario *scenario, const struct advice_options *options,
                   const char *systems, struct planning *out, bool *interrupted, struct error *why)
{
    bool serves = scenario_serves(scenario);
    struct planning_options with = {.targets = options->targets,
                                    .candidates = options->candidates,
                                    .axis = serves ? "rate" : "batch",
                                    .maximise = serves,
                                    .by_figure = !serves,
                                    .best = COLUMN_DECODE_RATE,
                                    .store = options->store,
                                    .jobs = options->jobs,
                                    .runs = options->runs,
                                    .on_progress = options->on_progress,
                                    .context = options->context};
    with.candidates.systems = systems;
    return serves ? planning_run_long(scenario, &with, out, interrupted, why)
                  : planning_run(scenario, &with, out, interrupted, why);
}

static uint64_t context_of(const struct scenario *scenario)
{
    struct point point;
    struct error unseen;
    if (scenario_serves(scenario) || !scenario_point(scenario, 0, &point, &unseen)) {
        return 0;
    }
    uint64_t context = point.setup.context;
    point_release(&point);
    return context;
}

bool advice_try(const struct scenario *scenario, const struct advice_options *options,
                struct advice_trial *out, bool *interrupted, struct error *why)
{
    out->tried = true;
    bool good = advice_search(scenario, options, ADVICE_PLAIN, &out->planning, interrupted, why);
    if (good) {
        out->context = context_of(&out->planning.candidates[0].scenario);
    }
    return good;
}
