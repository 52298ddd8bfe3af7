#include "study/plan/planning_long.h"

#include "serve/requests/synthetic.h"
#include "serving/serving_outcome.h"

#include <inttypes.h>
#include <stdio.h>

/* Each search needs at least half as many requests again. A rate that needs more than MOST is left
 * with its note. */
enum { SPARE_PERCENT = 50, ROUNDS = 6, MOST = 100000 };

/* While the first sessions go on and the last ones end, fewer requests come than were asked for.
 * Assumed: among so many requests this counts little. */
enum { SESSIONS_REQUESTS = 20000 };

/* Are the requests made up, as many as there are by default? */
static bool may_grow(const struct scenario *scenario)
{
    const struct node *workload = node_said(scenario->root, "workload");
    bool made =
        workload == NULL || (workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
                             !synthetic_says(workload->text, "requests"));
    return made && node_said(scenario->root, "limit") == NULL &&
           node_said(scenario->root, "clients") == NULL;
}

static bool has_sessions(const struct scenario *scenario)
{
    const struct node *workload = node_said(scenario->root, "workload");
    return workload != NULL && synthetic_says(workload->text, "turns");
}

/* Requests that the answer needs; 0: it has enough, or there is none. */
static uint64_t wanted(const struct scenario *scenario, const struct planning *planning,
                       uint64_t before)
{
    if (planning->winner == PLANNING_NONE) {
        return 0;
    }
    if (before == 0 && has_sessions(scenario)) {
        return SESSIONS_REQUESTS;
    }
    const struct quest *winner = &planning->quests[planning->winner];
    uint64_t requests = serving_requests_wanted(&winner->results[winner->found]);
    return requests + requests * SPARE_PERCENT / 100;
}

/* The same scenario with so many requests. */
static bool grow(const struct scenario *scenario, uint64_t requests, struct scenario *out,
                 struct error *why)
{
    const struct node *workload = node_said(scenario->root, "workload");
    char text[WORKLOAD_PATH];
    const char *key = workload != NULL ? "workload" : "limit";
    int length = workload != NULL ? snprintf(text, sizeof text, "\"%s,requests=%" PRIu64 "\"",
                                             workload->text, requests)
                                  : snprintf(text, sizeof text, "%" PRIu64, requests);
    if (!scenario_copy(scenario, out, why)) {
        return false;
    }
    if (length < (int)sizeof text && node_set(out->root, key, text, why)) {
        return true;
    }
    scenario_release(out);
    return length < (int)sizeof text || error_set(why, NULL, 0, "the workload's text is too long");
}

bool planning_run_long(const struct scenario *scenario, const struct planning_options *options,
                       struct planning *out, bool *interrupted, struct error *why)
{
    uint64_t requests = 0;
    bool good = planning_run(scenario, options, out, interrupted, why);
    for (int round = 0; good && !*interrupted && round < ROUNDS && may_grow(scenario); round++) {
        struct scenario longer;
        uint64_t more = wanted(scenario, out, requests);
        if (more == 0 || more > MOST) {
            break;
        }
        requests = more;
        if (!grow(scenario, requests, &longer, why)) {
            return false;
        }
        planning_release(out);
        good = planning_run(&longer, options, out, interrupted, why);
        scenario_release(&longer);
    }
    out->requests = requests;
    return good;
}
