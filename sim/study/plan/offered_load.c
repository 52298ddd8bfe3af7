#include "study/plan/offered_load.h"

#include "server/requests/synthetic.h"
#include "server/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Spare requests of a search; and how long cheap runs last, in times that a request takes. A run
 * that is an answer must last longer (serving_lasting()). */
enum { SPARE_PERCENT = 50, ROUGH_TIMES = 3 };

/* ---- cheap runs ---- */

bool load_at_once(struct scenario *scenario, struct error *why)
{
    scenario_values_remove(&scenario->values, "rate");
    scenario_values_remove(&scenario->values, "burstiness");
    return scenario_values_set(&scenario->values, "arrivals", ARRIVALS_AT_ONCE, why);
}

bool load_alone(struct scenario *scenario, uint64_t servers, struct error *why)
{
    scenario_values_remove(&scenario->values, "rate");
    scenario_values_remove(&scenario->values, "burstiness");
    scenario_values_remove(&scenario->values, "arrivals");
    return scenario_values_set(&scenario->values, "clients", (double)servers, why);
}

void rough_read(const struct result *at_once, struct rough *out)
{
    double taken =
        result_number(at_once, COLUMN(e2e_ms)) - result_number(at_once, COLUMN(queue_ms));
    double most = result_ok(at_once) ? result_number(at_once, COLUMN(requests_out_per_s)) : 0;
    *out = (struct rough){.most = most, .held = most > 0 ? most * taken / 1e3 : 0};
}

uint64_t rough_requests(const struct rough *rough, double rate, uint64_t least, uint64_t there)
{
    double wanted = fmax(ROUGH_TIMES * rough->held * fmin(rate / rough->most, 1), (double)least);
    return wanted < (double)there ? (uint64_t)wanted : there;
}

/* ---- more requests ---- */

bool lengthen_may(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    bool made =
        workload == NULL || (workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
                             !synthetic_says(workload->text, "requests"));
    return made && !scenario_states(scenario, "limit") && !scenario_states(scenario, "clients");
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
    if (workload == NULL) {
        return scenario_values_set(&scenario->values, "limit", (double)requests, why);
    }
    int length =
        snprintf(text, sizeof text, "\"%s,requests=%" PRIu64 "\"", workload->text, requests);
    return length < (int)sizeof text ? node_set(scenario->root, "workload", text, why)
                                     : error_set(why, NULL, 0, "the workload's text is too long");
}
