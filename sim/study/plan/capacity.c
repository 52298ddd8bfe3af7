#include "study/plan/capacity.h"

#include "server/requests/synthetic.h"
#include "server/workload.h"

#include <stdio.h>
#include <string.h>

bool capacity_set_stream(struct scenario *scenario, bool *is_stream, struct error *why)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    char endless[WORKLOAD_PATH], text[WORKLOAD_PATH + 2];
    *is_stream = workload != NULL && workload->kind == NODE_SCALAR &&
                 synthetic_is(workload->text) && strlen(workload->text) < sizeof endless;
    if (!*is_stream) {
        return true;
    }
    synthetic_endless(workload->text, endless);
    snprintf(text, sizeof text, "\"%s\"", endless);
    scenario_values_remove(&scenario->values, "limit");
    scenario_values_remove(&scenario->values, "warm_requests");
    return node_set(scenario->root, "workload", text, why);
}
