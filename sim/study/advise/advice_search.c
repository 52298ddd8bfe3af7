#include "study/advise/advice_search.h"

#include "core/node.h"
#include "server/requests/synthetic.h"
#include "study/plan/lengthen.h"
#include "study/plan/planning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool advice_add_targets(bool serves, struct targets *targets, struct error *why)
{
    return !serves || (targets_add_unjudged("queue_grows<=0", targets, why) &&
                       targets_add_unjudged("requests_left_out<=0", targets, why));
}

bool advice_set_number(struct scenario *scenario, const char *key, double number, struct error *why)
{
    char text[32];
    snprintf(text, sizeof text, "%.12g", number);
    return node_set(scenario->root, key, text, why);
}

bool advice_set_form(struct scenario *scenario, const struct advice_form *form, struct error *why)
{
    return advice_set_number(scenario, "tensor_parallel", form->gpus, why) &&
           (!scenario_serves(scenario) || form->servers == 1 ||
            advice_set_number(scenario, "replicas", form->servers, why));
}

/* ---- requests ---- */

/* Each try of a rate serves all requests: as little work as a search takes. */
enum { A_ROUND = 2 };
/* Rates are found to a tenth: values of the axis are 2.5 % apart. */
enum { CLOSE = 4 };

bool advice_is_unshared(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    return workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
           !synthetic_says(workload->text, "prefix") && !synthetic_says(workload->text, "turns");
}

bool advice_set_count(struct scenario *scenario, uint64_t requests, struct error *why)
{
    bool made = node_stated(scenario->root, "workload") != NULL && lengthen_may(scenario);
    return !made || lengthen_set(scenario, requests > 0 ? requests : SYNTHETIC_REQUESTS, why);
}

/* ---- searches ---- */

bool advice_search(const struct scenario *scenario, const struct advice_options *options,
                   const char *systems, struct planning *out, bool *interrupted, struct error *why)
{
    bool serves = scenario_serves(scenario);
    bool any = systems == NULL && node_stated(scenario->root, "system") == NULL;
    struct planning_options with = {.targets = options->targets,
                                    .candidates = options->candidates,
                                    .axis = serves ? "rate" : "batch",
                                    .maximise = serves,
                                    .by_figure = !serves,
                                    .best = COLUMN(decode_tokens_per_s),
                                    .tries = serves ? A_ROUND : 0,
                                    .close = CLOSE,
                                    .store = options->store,
                                    .jobs = options->jobs,
                                    .runs = options->runs,
                                    .on_progress = options->on_progress,
                                    .on_decided = options->on_decided,
                                    .context = options->context};
    with.candidates.systems = systems;
    with.candidates.engines = serves && any;
    with.candidates.unshared = any && advice_is_unshared(scenario);
    return serves ? planning_run_long(scenario, &with, out, interrupted, why)
                  : planning_run(scenario, &with, out, interrupted, why);
}

static uint64_t advice_search_context_of(const struct scenario *scenario)
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
    bool good = advice_search(scenario, options, ADVICE_PLAIN, &out->planning, interrupted, why);
    if (good) {
        out->context = advice_search_context_of(&out->planning.candidates[0].scenario);
    }
    return good;
}
