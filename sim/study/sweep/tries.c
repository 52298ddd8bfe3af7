#include "study/sweep/tries.h"

/* A scenario that lists the tries as its points. */
static bool list_points(const struct tries *tries, struct scenario *out, struct error *why)
{
    bool good = scenario_init(out, why);
    for (uint32_t i = 0; good && i < tries->count; i++) {
        struct scenario point;
        good =
            tries->lay(i, &point, tries->context, why) && scenario_add_case(out, point.root, why);
        scenario_release(&point);
    }
    return good;
}

bool tries_run(const struct tries *tries, bool *interrupted, struct error *why)
{
    struct scenario points;
    struct run_context runs = *tries->runs; /* a view */
    runs.rough = tries->rough;
    const struct sweep_options sweep = {.store = tries->rough ? NULL : tries->store,
                                        .jobs = tries->jobs,
                                        .runs = &runs,
                                        .keep_failed = true,
                                        .on_result = tries->take,
                                        .context = tries->context};
    if (tries->count == 0) {
        return true;
    }
    bool good = list_points(tries, &points, why);
    points.sources = sources_hold(tries->sources);
    good = good && sweep_run(&points, &sweep, interrupted, why);
    scenario_release(&points);
    return good;
}
