#include "study/advise/advice_search.h"

#include "base/node.h"
#include "serve/requests/synthetic.h"
#include "study/plan/planning_long.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool advice_add_targets(bool serves, struct targets *targets, struct error *why)
{
    struct targets more;
    bool good = !serves || targets_parse("queue_grows<=0", &more, why);
    if (good && serves) {
        targets->all[targets->count++] = more.all[0];
    }
    return good;
}

bool advice_lay_number(struct scenario *scenario, const char *key, uint64_t number,
                       struct error *why)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return node_set(scenario->root, key, text, why);
}

bool advice_lay_form(struct scenario *scenario, const struct advice_form *form, struct error *why)
{
    return advice_lay_number(scenario, "tensor_parallel", form->gpus, why) &&
           (!scenario_serves(scenario) || form->servers == 1 ||
            advice_lay_number(scenario, "replicas", form->servers, why));
}

/* ---- requests ---- */

/* Requests that each have the server alone: so few that they cost nothing, so far apart that they
 * never meet. An axis has two values or more. */
enum { IDLE_REQUESTS = 20, IDLE_RATES = 2 };
/* Each try of a rate serves all requests: as little work as a search takes. */
enum { A_ROUND = 2 };
static const char *const idle_rates = "rate=[0.000005, 0.00001]";

/* Are the requests made up, and does no prompt begin like another? */
static bool is_unshared(const struct scenario *scenario)
{
    const struct node *workload = node_said(scenario->root, "workload");
    return workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
           !synthetic_says(workload->text, "prefix") && !synthetic_says(workload->text, "turns");
}

/* May their number be chosen? */
static bool is_countless(const struct scenario *scenario)
{
    const struct node *workload = node_said(scenario->root, "workload");
    return is_unshared(scenario) && !synthetic_says(workload->text, "requests") &&
           node_said(scenario->root, "limit") == NULL;
}

bool advice_lay_count(struct scenario *scenario, uint64_t requests, struct error *why)
{
    char text[WORKLOAD_PATH];
    const struct node *workload = node_said(scenario->root, "workload");
    if (!is_countless(scenario)) {
        return true;
    }
    requests = requests > 0 ? requests : SYNTHETIC_REQUESTS;
    int length =
        snprintf(text, sizeof text, "\"%s,requests=%" PRIu64 "\"", workload->text, requests);
    return length < (int)sizeof text ? node_set(scenario->root, "workload", text, why)
                                     : error_set(why, NULL, 0, "the workload's text is too long");
}

bool advice_is_idle(const struct quest *quest)
{
    return quest->axis.count == IDLE_RATES && strcmp(quest->axis.key, "rate") == 0;
}

/* ---- searches ---- */

/* Search requests that have the server alone. `*meets`: some system meets the targets with them. */
static bool search_idle(const struct scenario *scenario, const struct planning_options *with,
                        struct planning *out, bool *meets, bool *interrupted, struct error *why)
{
    struct scenario idle;
    struct planning_options alone = *with;
    alone.axis = idle_rates;
    alone.store = NULL;
    bool good = scenario_copy(scenario, &idle, why) &&
                advice_lay_number(&idle, "limit", IDLE_REQUESTS, why) &&
                planning_run(&idle, &alone, out, interrupted, why);
    scenario_release(&idle);
    *meets = good && (out->winner != PLANNING_NONE || out->nearest == PLANNING_NONE);
    return good;
}

/* The highest rate of requests. */
static bool search_rate(const struct scenario *scenario, const struct planning_options *with,
                        struct planning *out, bool *interrupted, struct error *why)
{
    bool meets = true;
    /* the queue is bounded by itself if no target was stated */
    if (with->targets.count > 1 && is_unshared(scenario) &&
        node_said(scenario->root, "limit") == NULL) {
        if (!search_idle(scenario, with, out, &meets, interrupted, why)) {
            return false;
        }
        if (!meets || *interrupted) {
            return true;
        }
        planning_release(out);
    }
    return planning_run_long(scenario, with, out, interrupted, why);
}

bool advice_search(const struct scenario *scenario, const struct advice_options *options,
                   const char *systems, struct planning *out, bool *interrupted, struct error *why)
{
    bool serves = scenario_serves(scenario);
    bool any = systems == NULL && node_said(scenario->root, "system") == NULL;
    struct planning_options with = {.targets = options->targets,
                                    .candidates = options->candidates,
                                    .axis = serves ? "rate" : "batch",
                                    .maximise = serves,
                                    .by_figure = !serves,
                                    .best = COLUMN_DECODE_RATE,
                                    .tries = serves ? A_ROUND : 0,
                                    .store = options->store,
                                    .jobs = options->jobs,
                                    .runs = options->runs,
                                    .on_progress = options->on_progress,
                                    .on_decided = options->on_decided,
                                    .context = options->context};
    with.candidates.systems = systems;
    with.candidates.engines = serves && any;
    with.candidates.unshared = any && is_unshared(scenario);
    return serves ? search_rate(scenario, &with, out, interrupted, why)
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
