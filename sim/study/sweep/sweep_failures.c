/* Which runs of a sweep failed, and what a command says of them. */
#include "study/sweep/sweep.h"

#include <stdio.h>

bool sweep_has_point(const struct scenario *scenario, struct error *why)
{
    struct error unseen;
    bool found = false;
    for (uint32_t i = 0; i < scenario->points && !found; i++) {
        struct point point;
        found = scenario_point(scenario, i, &point, i == 0 ? why : &unseen);
        if (found) {
            point_release(&point);
        }
    }
    return found;
}

void sweep_count(struct sweep_failures *failures, const struct result *result)
{
    failures->points++;
    failures->unfit += result_out_of_memory(result);
    if (result_failed(result) && failures->failed++ == 0) {
        snprintf(failures->first, sizeof failures->first, "%s", result->message);
        snprintf(failures->expected, sizeof failures->expected, "%s", result->expected);
        snprintf(failures->nearest, sizeof failures->nearest, "%s", result->nearest);
    }
}

bool sweep_all_ran(const struct sweep_failures *failures, struct error *why)
{
    if (failures->failed == 0) {
        return true;
    }
    error_set(why, NULL, 0, "%u of %u runs failed%s: %s", failures->failed, failures->points,
              failures->failed == 1 ? "" : ", the first", failures->first);
    error_expect(why, "%s", failures->expected);
    return error_nearest(why, failures->nearest);
}

bool sweep_any_fits(const struct sweep_failures *failures, struct error *why)
{
    return failures->unfit == 0 || failures->unfit < failures->points ||
           error_unmet(why, "nothing fits in the machine's memory; the rows say what it needs");
}

bool sweep_check(const struct result *results, uint32_t count, struct error *why)
{
    struct sweep_failures failures = {.points = 0};
    for (uint32_t i = 0; i < count; i++) {
        sweep_count(&failures, &results[i]);
    }
    return sweep_all_ran(&failures, why);
}
