#include "predict/server/stream_question.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

const double served_shares[SERVED_FIGURES] = {0, 0.5, 0.9, 0.95, 0.99};

#define SERVED_COLUMNS(time)                                                                       \
    {                                                                                              \
        COLUMN(time##_ms), COLUMN(time##_p50_ms), COLUMN(time##_p90_ms), COLUMN(time##_p95_ms),    \
            COLUMN(time##_p99_ms)                                                                  \
    }

const struct column *served_column(int time, int figure)
{
    const struct column *const columns[SERVED_GAPS + 1][SERVED_FIGURES] = {
        SERVED_COLUMNS(ttft),  SERVED_COLUMNS(tpot), SERVED_COLUMNS(e2e),
        SERVED_COLUMNS(queue), SERVED_COLUMNS(itl),
    };
    return columns[time][figure];
}

int64_t served_time_ns(enum served_time time, const struct request *request,
                       const struct served *served)
{
    switch (time) {
    case SERVED_TTFT:
        return served->first_token_ns - served->arrived_ns;
    case SERVED_TPOT:
        return request->output > 1
                   ? (served->end_ns - served->first_token_ns) / (request->output - 1)
                   : 0;
    case SERVED_E2E:
        return served->end_ns - served->arrived_ns;
    default:
        return served->scheduled_ns - served->arrived_ns;
    }
}

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
            struct stream_time *time = &out->all[out->count++];
            time->end_ns = row->end_ns;
            for (int which = 0; which < SERVED_TIMES; which++) {
                time->ns[which] = (double)served_time_ns(which, &requests->all[i], row);
            }
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

/* Which time a column tells of, and which of its quantiles; 0: its mean. */
static bool find_figure(const struct column *column, enum served_time *time, double *share)
{
    for (int i = 0; i < SERVED_TIMES * SERVED_FIGURES; i++) {
        *time = i / SERVED_FIGURES;
        *share = served_shares[i % SERVED_FIGURES];
        if (served_column(*time, i % SERVED_FIGURES) == column) {
            return true;
        }
    }
    return false;
}

bool stream_times_of(struct stream_times *times, const struct column *column, struct estimate *out)
{
    enum served_time time;
    double share;
    if (!find_figure(column, &time, &share)) {
        return false;
    }
    for (size_t i = 0; i < times->count; i++) {
        times->values[i] = times->all[i].ns[time];
    }
    *out = share > 0 ? stationary_quantile(times->values, times->count, share, times->scratch)
                     : stationary_mean(times->values, times->count);
    return true;
}

/* Of a column that is a quantile: the share of the times that are longer than `bound`, and how many may be
 * for the quantile to be the bound. Whether they are more is known of fewer requests than the quantile, but
 * that they are fewer only where enough may be, or none is half as long. Returns false for other columns. */
static bool stream_times_beyond(struct stream_times *times, const struct column *column,
                                double bound_ns, struct estimate *out, double *limit)
{
    enum served_time time;
    double share, longest = 0;
    if (!find_figure(column, &time, &share) || share == 0) {
        return false;
    }
    for (size_t i = 0; i < times->count; i++) {
        times->values[i] = times->all[i].ns[time] > bound_ns;
        longest = fmax(longest, times->all[i].ns[time]);
    }
    *limit = 1 - share;
    *out = stationary_mean(times->values, times->count);
    if (out->value <= *limit && 2 * longest > bound_ns &&
        *limit * (double)times->count < STATIONARY_BEYOND) {
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

/* Half-widths of an interval by which a figure lies off its bound; of few requests. */
static const double clearly = 1.5, clearly_of_few = 3;

uint64_t stream_question_hash(const struct stream_question *question)
{
    uint64_t hash = question->most;
    for (uint32_t i = 0; i < question->count; i++) {
        const struct stream_bound *bound = &question->all[i];
        const double numbers[] = {bound->at_most, bound->value};
        hash = XXH64(bound->column->name, strlen(bound->column->name),
                     XXH64(numbers, sizeof numbers, hash));
    }
    return hash | 1;
}

enum side { SIDE_OPEN, SIDE_MET, SIDE_MISSED };

/* A figure without an interval is open until the run ends; how many requests are too long is known. */
static enum side find_side(const struct stream_bound *bound, const struct stream_load *load,
                           struct stream_times *times)
{
    struct estimate figure;
    double halves = load->few ? clearly_of_few : clearly;
    if (bound->column == COLUMN(queue_grows)) {
        return load->overloaded ? SIDE_MISSED : load->calm ? SIDE_MET : SIDE_OPEN;
    }
    if (bound->column == COLUMN(requests_left_out)) {
        return SIDE_MET;
    }
    double value = bound->value * unit_kinds[bound->column->unit].ns, limit = value;
    if (!stream_times_beyond(times, bound->column, value, &figure, &limit) &&
        !stream_times_of(times, bound->column, &figure)) {
        return SIDE_OPEN;
    }
    double off = limit - figure.value;
    return !(halves * figure.half < fabs(off)) ? SIDE_OPEN
           : (off > 0) == bound->at_most       ? SIDE_MET
                                               : SIDE_MISSED;
}

bool stream_question_answered(const struct stream_question *question,
                              const struct stream_load *load, struct stream_times *times)
{
    bool all = true;
    for (uint32_t i = 0; i < question->count; i++) {
        enum side side = find_side(&question->all[i], load, times);
        if (side == SIDE_MISSED) {
            return true;
        }
        all = all && side == SIDE_MET;
    }
    return all && (question->count > 0 || !load->few);
}
