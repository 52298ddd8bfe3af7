#include "study/plan/capacity.h"

#include "server/requests/synthetic.h"

#include <string.h>

/* Requests that come at once. Sessions overlap only once there are many; a server idles while users think. */
enum { FEW = 250, FEW_OF_SESSIONS = 1000 };

/* The text of made-up requests; NULL: they are of a file. */
static const struct node *made_up(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    bool made = workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
                strlen(workload->text) < WORKLOAD_PATH;
    return made ? workload : NULL;
}

/* The scenario is our own; a message about the text names the place of the typed one. */
static bool state_without(const struct node *workload, const char *key, struct error *why)
{
    char text[WORKLOAD_PATH];
    synthetic_without(workload->text, key, text);
    return node_set_text((struct node *)workload, text, why);
}

bool capacity_set_stream(struct scenario *scenario, bool *is_stream, struct error *why)
{
    const struct node *workload = made_up(scenario);
    static const char *const finite[] = {"limit", "warm_requests", "warm_rate", "warm_clients"};
    *is_stream = workload != NULL;
    for (size_t i = 0; *is_stream && i < sizeof finite / sizeof *finite; i++) {
        scenario_values_remove(&scenario->values, finite[i]);
    }
    return !*is_stream || state_without(workload, "requests", why);
}

bool capacity_has_sessions(const struct scenario *scenario)
{
    const struct node *workload = made_up(scenario);
    return workload != NULL && synthetic_says(workload->text, "turns");
}

uint32_t capacity_draws(const struct result *holds, uint32_t count, uint32_t *values)
{
    values[0] = count;
    values[1] = count + 1;
    return result_number(holds, COLUMN(hit_tokens_gpu)) > 0 ? CAPACITY_DRAWS : 0;
}

bool capacity_set_draw(struct scenario *scenario, uint32_t value, uint32_t count, struct error *why)
{
    double seed = scenario_stated(&scenario->values, "seed", 1);
    return value < count ||
           scenario_values_set(&scenario->values, "seed", seed + value - count + 1, why);
}

void capacity_note_draw(struct result *result)
{
    int64_t seed = result_cell(result, COLUMN(seed))->integer;
    result_note(result, note_make(NOTE_other_draw, note_whole((uint64_t)seed)));
}

bool capacity_set_at_once(struct scenario *scenario, struct error *why)
{
    const struct node *workload = made_up(scenario);
    static const char *const of_rate[] = {"rate", "burstiness", "warm_rate"};
    bool sessions = capacity_has_sessions(scenario);
    double servers = scenario_stated(&scenario->values, "replicas", 1);
    for (size_t i = 0; i < sizeof of_rate / sizeof *of_rate; i++) {
        scenario_values_remove(&scenario->values, of_rate[i]);
    }
    return (!sessions || state_without(workload, "think", why)) &&
           scenario_values_set(&scenario->values, "arrivals", ARRIVALS_AT_ONCE, why) &&
           scenario_values_set(&scenario->values, "limit",
                               sessions ? FEW_OF_SESSIONS * servers : FEW, why);
}

/* Of outputs that differ, a few last long: half of the requests tell more then, unless some are left out. */
double capacity_at_once(const struct result *result)
{
    double half_s = result_number(result, COLUMN(e2e_p50_ms)) / 1e3;
    double half = result_number(result, COLUMN(requests)) / 2;
    double all = result_number(result, COLUMN(requests_out_per_s));
    bool serves = result_number(result, COLUMN(requests_left_out)) == 0;
    return !result_ok(result) ? 0 : serves && half / half_s > all ? half / half_s : all;
}
