#include "study/planned.h"

#include "study/run.h"

bool planned_point(const struct scenario *scenario, uint32_t point, struct planned *out,
                   struct error *why)
{
    struct shared *shared = shared_create(1, why);
    *out = (struct planned){.plan = {.batch = 0}};
    bool good = shared != NULL && scenario_point(scenario, point, &out->setup, why) &&
                run_plan(&out->setup, 0, shared, &out->plan, why);
    shared_destroy(shared);
    return good;
}

void planned_release(struct planned *planned)
{
    plan_release(&planned->plan);
    setup_release(&planned->setup);
}
