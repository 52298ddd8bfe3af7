/* The figures are independent, so they are tried in parallel. */
#include "predict/server/serving_ranges.h"

#include "core/array.h"
#include "core/parallel.h"
#include "machine/profile.h"
#include "predict/server/serving.h"

#include <stdlib.h>

struct serving_trial {
    const struct point *point;
    double by;
    const struct run_context *context;
    struct run_ranges *ranges;
};

/* Of many requests, their rows would be most of the memory. */
static void keep_cells(struct result *result)
{
    free(result->requests);
    free(result->waits);
    free(result->bins);
    result->requests = NULL;
    result->waits = NULL;
    result->bins = NULL;
    result->request_count = result->wait_count = result->bin_count = 0;
}

static bool serve_scaled(const struct serving_trial *trial, enum curve_id id, double scale,
                         struct result *result, struct error *why)
{
    struct point scaled = *trial->point;
    struct scaled_profile profile;
    if (!scaled_profile_init_one(&trial->point->setup.profile, id, scale, &profile, why)) {
        return false;
    }
    scaled.setup.profile = profile.profile;
    bool ok = serving_again(&scaled, trial->context, result, why);
    scaled_profile_release(&profile);
    if (ok) {
        keep_cells(result);
    }
    return ok;
}

/* Each range has two results from the start, so that they can be released after any failure. */
static bool try_figure(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    (void)thread;
    const struct serving_trial *trial = context;
    struct run_range *range = &trial->ranges->all[index];
    double less = range->curve == CURVE_GPU_HBM_CAPACITY ? 1 : 1 - trial->by;
    return stop_flag_check(trial->context->stop, why) &&
           serve_scaled(trial, range->curve, less, &range->ends[0], why) &&
           serve_scaled(trial, range->curve, 1 + trial->by, &range->ends[1], why);
}

static bool list_figures(const struct point *point, struct run_ranges *ranges, struct error *why)
{
    enum curve_id ids[CURVE_COUNT + 1];
    size_t count = point_curves(point, ids);
    bool listed = false;
    for (size_t i = 0; i < count; i++) {
        listed = listed || ids[i] == CURVE_GPU_HBM_CAPACITY;
    }
    if (!listed && point->setup.kv_pool_tokens == 0) {
        ids[count++] = CURVE_GPU_HBM_CAPACITY;
    }
    ranges->all = array_zeroed(count, sizeof *ranges->all, why);
    if (ranges->all == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct run_range *range = &ranges->all[ranges->count++];
        range->curve = ids[i];
        result_init(&range->ends[0]);
        result_init(&range->ends[1]);
    }
    return true;
}

bool serving_ranges(const struct point *point, double by, const struct run_context *context,
                    struct result *result, struct run_ranges *ranges, struct error *why)
{
    struct serving_trial trial = {point, by, context, ranges};
    *ranges = (struct run_ranges){NULL, 0};
    if (!serving_run(point, context, result, why)) {
        return false;
    }
    if (!point->workload.timed) {
        return true;
    }
    if (list_figures(point, ranges, why) &&
        parallel_for(ranges->count, context->threads, try_figure, &trial, why)) {
        return true;
    }
    result_release(result);
    run_ranges_release(ranges);
    return false;
}
