/* A sweep whose results all stay in memory. */
#include "study/sweep/sweep.h"

struct keeping {
    const struct sweep_options *options; /* the caller's */
    struct result *results;
    uint32_t *count;
};

static bool sweep_keep_result(uint32_t index, struct result *result, void *context,
                              struct error *why)
{
    const struct keeping *keeping = context;
    (void)why;
    keeping->results[index] = *result;
    *keeping->count = index + 1;
    result_init(result);
    return true;
}

static void sweep_keep_report_progress(uint32_t done, uint32_t points, void *context)
{
    const struct sweep_options *options = ((const struct keeping *)context)->options;
    if (options->on_progress != NULL) {
        options->on_progress(done, points, options->context);
    }
}

bool sweep_keep(const struct scenario *scenario, const struct sweep_options *options,
                struct result *results, uint32_t *count, bool *interrupted, struct error *why)
{
    struct keeping keeping = {options, results, count};
    struct sweep_options sweep = *options;
    sweep.on_result = sweep_keep_result;
    sweep.on_progress = sweep_keep_report_progress;
    sweep.on_work = NULL;
    sweep.context = &keeping;
    return sweep_run(scenario, &sweep, interrupted, why);
}
