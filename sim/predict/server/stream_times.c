#include "predict/server/stream_times.h"

#include "core/array.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

static int compare_ends(const void *a, const void *b)
{
    const struct stream_time *x = a, *y = b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

bool stream_times_read(const struct requests *requests, const struct served *served,
                       const struct serving_window *window, struct stream_times *out,
                       struct error *why)
{
    *out = (struct stream_times){
        .all = array_zeroed(requests->count, sizeof *out->all, why),
        .values = array_zeroed(requests->count, sizeof *out->values, why),
        .scratch = array_zeroed(requests->count, sizeof *out->scratch, why),
    };
    if (out->all == NULL || out->values == NULL || out->scratch == NULL) {
        return false;
    }
    for (size_t i = 0; i < requests->count; i++) {
        const struct served *row = &served[i];
        if (serving_counts(window, i, row)) {
            uint32_t more = requests->all[i].output - 1;
            double decode_ns = (double)(row->end_ns - row->first_token_ns);
            out->all[out->count++] = (struct stream_time){
                .end_ns = row->end_ns,
                .ttft_ns = (double)(row->first_token_ns - row->arrived_ns),
                .tpot_ns = more > 0 ? decode_ns / more : 0,
                .e2e_ns = (double)(row->end_ns - row->arrived_ns),
                .queue_ns = (double)(row->scheduled_ns - row->arrived_ns),
            };
        }
    }
    qsort(out->all, out->count, sizeof *out->all, compare_ends);
    return true;
}

void stream_times_release(struct stream_times *times)
{
    free(times->all);
    free(times->values);
    free(times->scratch);
}

/* Which time a column tells of, by its place in struct stream_time, and which of its quantiles; 0: its
 * mean. */
static bool find_figure(const struct column *column, size_t *offset, double *share)
{
    const struct {
        size_t offset;
        const struct column *mean, *p50, *p90, *p99;
    } times[] = {
        {offsetof(struct stream_time, ttft_ns), COLUMN(ttft_ms), COLUMN(ttft_p50_ms),
         COLUMN(ttft_p90_ms), COLUMN(ttft_p99_ms)},
        {offsetof(struct stream_time, tpot_ns), COLUMN(tpot_ms), COLUMN(tpot_p50_ms),
         COLUMN(tpot_p90_ms), COLUMN(tpot_p99_ms)},
        {offsetof(struct stream_time, e2e_ns), COLUMN(e2e_ms), COLUMN(e2e_p50_ms),
         COLUMN(e2e_p90_ms), COLUMN(e2e_p99_ms)},
        {offsetof(struct stream_time, queue_ns), COLUMN(queue_ms), COLUMN(queue_p50_ms),
         COLUMN(queue_p90_ms), COLUMN(queue_p99_ms)},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        *offset = times[i].offset;
        *share = column == times[i].p50   ? 0.5
                 : column == times[i].p90 ? 0.9
                 : column == times[i].p99 ? 0.99
                                          : 0;
        if (*share > 0 || column == times[i].mean) {
            return true;
        }
    }
    return false;
}

bool stream_times_of(struct stream_times *times, const struct column *column, struct estimate *out)
{
    size_t offset;
    double share;
    if (!find_figure(column, &offset, &share)) {
        return false;
    }
    for (size_t i = 0; i < times->count; i++) {
        times->values[i] = *(const double *)((const char *)&times->all[i] + offset);
    }
    *out = share > 0 ? stationary_quantile(times->values, times->count, share, times->scratch)
                     : stationary_mean(times->values, times->count);
    return true;
}

bool stream_times_beyond(struct stream_times *times, const struct column *column, double bound_ns,
                         struct estimate *out, double *limit)
{
    size_t offset;
    double share;
    if (!find_figure(column, &offset, &share) || share == 0) {
        return false;
    }
    for (size_t i = 0; i < times->count; i++) {
        const char *time = (const char *)&times->all[i] + offset;
        times->values[i] = *(const double *)time > bound_ns;
    }
    *limit = 1 - share;
    *out = stationary_mean(times->values, times->count);
    if (out->value <= *limit && *limit * (double)times->count < STATIONARY_BEYOND) {
        out->half = INFINITY;
    }
    return true;
}

double stream_times_mean(struct stream_times *times, const struct column *column)
{
    struct estimate mean = {.value = 0};
    stream_times_of(times, column, &mean);
    return mean.value;
}

struct estimate stream_times_rate(const struct stream_times *times,
                                  const struct serving_window *window)
{
    double batches[STATIONARY_BATCHES] = {0};
    double whole_s = (double)(window->to_ns - window->from_ns) / 1e9;
    for (size_t i = 0; i < times->count; i++) {
        double share = (double)(times->all[i].end_ns - window->from_ns) / 1e9 / whole_s;
        uint32_t batch = (uint32_t)(share * STATIONARY_BATCHES);
        batches[batch < STATIONARY_BATCHES ? batch : STATIONARY_BATCHES - 1] +=
            STATIONARY_BATCHES / whole_s;
    }
    return stationary_interval((double)times->count / whole_s, batches, STATIONARY_BATCHES);
}
