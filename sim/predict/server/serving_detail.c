/* Requests that were left out have a row without times. A wait of zero has no row. */
#include "predict/server/serving_detail.h"

#include "core/array.h"
#include "predict/server/serving_tiers.h"

#include <assert.h>
#include <math.h>

/* In the order of series.def. */
static_assert((int)SERIES_FIGURES == (int)RESULT_SERIES, "every figure of a series is stored");
static_assert((int)SERIES_BLOCKS == (int)RESULT_SERIES_blocks, "levels come first");
static_assert((int)SERIES_FIGURES == (int)SERIES_FOUND + PREFIX_MOST_TIERS, "one for each tier");
static_assert((int)SERIES_FOUND == (int)RESULT_SERIES_hit_tokens_gpu, "in the same order");
static_assert((int)RESULT_SERIES == (int)RESULT_SERIES_hit_tokens_gpu + TIER_COUNT, "by tier");

static bool write_requests(const struct serving_tiers *tiers, const struct requests *requests,
                           const struct served *all, struct result *result, struct error *why)
{
    result->requests = array_zeroed(requests->count, sizeof *result->requests, why);
    if (result->requests == NULL) {
        return false;
    }
    result->request_count = (uint32_t)requests->count;
    for (size_t i = 0; i < requests->count; i++) {
        uint64_t found[TIER_COUNT] = {0};
        for (uint32_t k = 0; k < tiers->count; k++) {
            found[tiers->of[k]] = all[i].match.found[k];
        }
        result->requests[i] = (struct result_request){
            .replica = all[i].server,
            .prompt = requests->all[i].prompt,
            .output = requests->all[i].output,
            .preemptions = all[i].preemptions,
            .gpu_tokens = found[TIER_GPU],
            .host_tokens = found[TIER_HOST],
            .disk_tokens = found[TIER_DISK],
            .pool_tokens = found[TIER_POOL],
            .arrived_ns = all[i].arrived_ns,
            .scheduled_ns = all[i].scheduled_ns,
            .first_token_ns = all[i].first_token_ns,
            .end_ns = all[i].end_ns,
        };
    }
    return true;
}

static bool write_waits(size_t count, const struct served *all, struct result *result,
                        struct error *why)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        for (int wait = 0; wait < WAITS; wait++) {
            rows += all[i].waits.ns[wait] > 0;
        }
    }
    result->waits = array_zeroed(rows, sizeof *result->waits, why);
    if (result->waits == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        for (int wait = 0; wait < WAITS; wait++) {
            if (all[i].waits.ns[wait] > 0) {
                result->waits[result->wait_count++] = (struct result_wait){
                    .request = (uint32_t)i,
                    .name = wait_name(wait),
                    .ns = all[i].waits.ns[wait],
                };
            }
        }
    }
    return true;
}

/* The column of a figure. */
static int serving_detail_column(const struct serving_tiers *tiers, int figure)
{
    return figure < SERIES_FOUND
               ? figure
               : RESULT_SERIES_hit_tokens_gpu + (int)tiers->of[figure - SERIES_FOUND];
}

/* Write the series; levels are written as means. */
static bool write_series(const struct serving_tiers *tiers, const struct series *series,
                         int64_t end_ns, struct result *result, struct error *why)
{
    result->bins = array_zeroed(series->count, sizeof *result->bins, why);
    if (result->bins == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < series->count; i++) {
        struct result_bin *bin = &result->bins[result->bin_count++];
        bin->start_ns = i * series->bin_ns;
        bin->ns = i + 1 < series->count ? series->bin_ns : end_ns - bin->start_ns;
        for (int f = 0; f < SERIES_FOUND + (int)tiers->count; f++) {
            double sum = series->bins[i][f];
            bin->figures[serving_detail_column(tiers, f)] =
                f <= SERIES_BLOCKS ? sum / (double)bin->ns : round(sum);
        }
    }
    return true;
}

bool serving_write_detail(const struct point *point, const struct requests *requests,
                          const struct served *served, const struct series *series, int64_t end_ns,
                          struct result *result, struct error *why)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    return write_requests(&tiers, requests, served, result, why) &&
           write_waits(requests->count, served, result, why) &&
           write_series(&tiers, series, end_ns, result, why);
}
