/* Requests that were left out have a row without times. A wait of zero has no row. */
#include "serving/serving_detail.h"

#include "base/array.h"

#include <assert.h>
#include <math.h>

/* In the order of series.def. */
static_assert((int)SERIES_FIGURES == (int)RESULT_SERIES, "every figure of a series is stored");
static_assert((int)SERIES_BLOCKS == (int)RESULT_SERIES_blocks, "levels come first");
static_assert((int)SERIES_HIT_HOST == (int)RESULT_SERIES_hit_tokens_host, "in the same order");

static bool write_requests(const struct requests *requests, const struct served *all,
                           struct result *result, struct error *why)
{
    result->requests = array_zeroed(requests->count, sizeof *result->requests, why);
    if (result->requests == NULL) {
        return false;
    }
    result->request_count = (uint32_t)requests->count;
    for (size_t i = 0; i < requests->count; i++) {
        result->requests[i] = (struct result_request){
            .replica = all[i].server,
            .prompt = requests->all[i].prompt,
            .output = requests->all[i].output,
            .preemptions = all[i].preemptions,
            .gpu_tokens = all[i].match.found[0],
            .host_tokens = all[i].match.found[1],
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

/* Write the series; levels are written as means. */
static bool write_series(const struct series *series, int64_t end_ns, struct result *result,
                         struct error *why)
{
    result->bins = array_zeroed(series->count, sizeof *result->bins, why);
    if (result->bins == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < series->count; i++) {
        struct result_bin *bin = &result->bins[result->bin_count++];
        bin->start_ns = i * series->bin_ns;
        bin->ns = i + 1 < series->count ? series->bin_ns : end_ns - bin->start_ns;
        for (int f = 0; f < SERIES_FIGURES; f++) {
            double sum = series->bins[i][f];
            bin->figures[f] = f <= SERIES_BLOCKS ? sum / (double)bin->ns : round(sum);
        }
    }
    return true;
}

bool serving_write_detail(const struct requests *requests, const struct served *served,
                          const struct series *series, int64_t end_ns, struct result *result,
                          struct error *why)
{
    return write_requests(requests, served, result, why) &&
           write_waits(requests->count, served, result, why) &&
           write_series(series, end_ns, result, why);
}
