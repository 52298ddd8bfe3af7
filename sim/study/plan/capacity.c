#include "study/plan/capacity.h"

#include "server/requests/synthetic.h"
#include "server/workload.h"

#include <string.h>

/* Requests that come at once. Sessions overlap only once there are many. */
enum { FEW = 250, FEW_OF_SESSIONS = 1000 };

bool capacity_set_stream(struct scenario *scenario, bool *is_stream, struct error *why)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    static const char *const finite[] = {"limit", "warm_requests", "warm_rate", "warm_clients"};
    char endless[WORKLOAD_PATH];
    *is_stream = workload != NULL && workload->kind == NODE_SCALAR &&
                 synthetic_is(workload->text) && strlen(workload->text) < sizeof endless;
    if (!*is_stream) {
        return true;
    }
    synthetic_endless(workload->text, endless);
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++) {
        scenario_values_remove(&scenario->values, finite[i]);
    }
    /* The scenario is our own; a message about the text names the place of the typed one. */
    return node_set_text((struct node *)workload, endless, why);
}

bool capacity_set_at_once(struct scenario *scenario, struct error *why)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    static const char *const of_rate[] = {"rate", "burstiness", "warm_rate"};
    bool sessions = workload != NULL && synthetic_says(workload->text, "turns");
    for (size_t i = 0; i < sizeof of_rate / sizeof *of_rate; i++) {
        scenario_values_remove(&scenario->values, of_rate[i]);
    }
    return scenario_values_set(&scenario->values, "arrivals", ARRIVALS_AT_ONCE, why) &&
           scenario_values_set(&scenario->values, "limit", sessions ? FEW_OF_SESSIONS : FEW, why);
}

double capacity_at_once(const struct result *result)
{
    return result_ok(result) ? result_number(result, COLUMN(requests_out_per_s)) : 0;
}
