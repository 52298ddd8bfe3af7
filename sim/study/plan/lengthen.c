#include "study/plan/lengthen.h"

#include "server/requests/synthetic.h"
#include "server/workload.h"

#include <inttypes.h>
#include <stdio.h>

enum { SPARE_PERCENT = 50 };

bool lengthen_may(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    bool made =
        workload == NULL || (workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
                             !synthetic_says(workload->text, "requests"));
    return made && node_stated(scenario->root, "limit") == NULL &&
           node_stated(scenario->root, "clients") == NULL;
}

bool lengthen_has_sessions(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    return workload != NULL && synthetic_says(workload->text, "turns");
}

uint64_t lengthen_spare(uint64_t needed)
{
    return needed + needed * SPARE_PERCENT / 100;
}

bool lengthen_set(struct scenario *scenario, uint64_t requests, struct error *why)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    char text[WORKLOAD_PATH];
    const char *key = workload != NULL ? "workload" : "limit";
    int length = workload != NULL ? snprintf(text, sizeof text, "\"%s,requests=%" PRIu64 "\"",
                                             workload->text, requests)
                                  : snprintf(text, sizeof text, "%" PRIu64, requests);
    return length < (int)sizeof text ? node_set(scenario->root, key, text, why)
                                     : error_set(why, NULL, 0, "the workload's text is too long");
}
