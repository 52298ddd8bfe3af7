#include "predict/server/serving_stream.h"

#include "core/array.h"
#include "predict/scenario/sources.h"
#include "predict/server/serving_load.h"
#include "predict/server/stationary.h"
#include "server/requests/synthetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Requests of the first run, of the shortest that counts, and of the longest; and steps of that. */
enum { FIRST = 500, LEAST = 2500, MOST = 64000, MOST_STEPS = 4000000 };

/* A run is this many times as long as a request takes, and clients send so many requests each. */
enum { ANSWERS = 10, CYCLES = 10 };

/* Requests before the beginning that fill the prefix cache, at most: what was used longer ago is hardly
 * used again. */
enum { MOST_PAST = 8000 };

/* Half-widths that are narrow enough, as shares of the figure. */
static const double of_means = 0.05, of_tails = 0.1;

/* A list is this many times as long as the next shorter one that points share. */
static const double list_growth = 1.3;

bool serving_is_stream(const struct point *point)
{
    const struct workload *workload = &point->workload;
    return synthetic_is(workload->path) && !synthetic_says(workload->path, "requests") &&
           workload->limit == 0 && workload->warm == 0 && workload->timed &&
           workload->arrivals != ARRIVALS_AT_ONCE && (workload->rate > 0 || workload->clients > 0);
}

/* ---- the requests of a run ------------------------------------------------------------ */

void stream_stage_first(const struct point *point, struct stream_stage *out)
{
    uint64_t clients = point->workload.clients;
    *out = (struct stream_stage){.requests = FIRST + 2 * clients, .most = MOST};
}

/* Requests whose KV fills the tiers of all servers. */
static uint64_t requests_to_fill(const struct point *point, const struct serving_memory *memory)
{
    const struct requests *sample = point->requests;
    const struct prefix_options *prefix = &memory->prefix;
    double blocks = (double)prefix->gpu_blocks, tokens = 0;
    if (point->setup.mechanisms.prefix == PREFIX_NONE || sample->chunk_tokens == 0) {
        return 0;
    }
    for (uint32_t k = 0; k < prefix->lower_count; k++) {
        blocks += (double)prefix->lower[k].blocks;
    }
    for (size_t i = 0; i < sample->count; i++) {
        tokens += sample->all[i].output;
    }
    tokens = (tokens + (double)sample->hashed.distinct_tokens) / (double)sample->count;
    double all = blocks * prefix->block_tokens * (double)point_servers(point) / tokens;
    return all < MOST_PAST ? (uint64_t)ceil(all) : MOST_PAST;
}

/* Points read lists of few lengths, so that they share them. */
static uint64_t list_length(uint64_t least)
{
    double length = FIRST;
    while (length < (double)least) {
        length = ceil(length * list_growth);
    }
    return (uint64_t)length;
}

bool stream_stage_take(const struct point *point, const struct serving_memory *memory,
                       const struct stream_stage *stage, struct requests *requests, size_t *refused,
                       struct request_stream *stream, struct error *why)
{
    const struct workload *workload = &point->workload;
    bool constant = workload->arrivals == ARRIVALS_CONSTANT;
    const struct stream_options options = {
        .rate = workload->rate / workload->time_scale,
        .shape = constant ? (double)INFINITY : workload->burstiness,
        .clients = (uint32_t)workload->clients,
        .answer_ns = stage->answer_ns,
        .past = requests_to_fill(point, memory),
        .seed = point->setup.seed,
    };
    uint64_t all = stream_past(point->requests, &options) + stage->requests;
    const struct requests_options list = {.limit = list_length(all),
                                          .hash_tokens = (uint32_t)workload->hash_tokens,
                                          .seed = workload->seed};
    struct complaints complaints = {.count = 0};
    const struct requests *shared =
        sources_requests(point->sources, workload->path, &list, &complaints, why);
    if (shared == NULL) {
        return false;
    }
    *requests = *shared;
    requests->all = array_zeroed(shared->count, sizeof *requests->all, why);
    if (requests->all == NULL) {
        return false;
    }
    memcpy(requests->all, shared->all, shared->count * sizeof *requests->all);
    *refused =
        workload->request_tokens > 0 ? requests_refuse(requests, workload->request_tokens) : 0;
    if (requests->count > 0 && stream_lay(requests, &options, stream, why)) {
        return true;
    }
    stream_release(stream);
    free(requests->all);
    requests->all = NULL;
    return requests->count > 0 || error_set(why, NULL, 0, "the server refuses all requests");
}

struct decode_range stream_step_range(const struct point *point,
                                      const struct serving_memory *memory)
{
    uint32_t passes = point_passes(point);
    struct decode_range range = {(memory->sequences + passes - 1) / passes, UINT64_MAX, 1};
    uint64_t least = UINT64_MAX, most = requests_longest(point->requests);
    for (size_t i = 0; i < point->requests->count; i++) {
        uint64_t first = (uint64_t)point->requests->all[i].prompt + 1;
        least = first < least ? first : least;
    }
    while (range.most_context < most) {
        range.most_context *= 2;
    }
    range.least_context = range.most_context;
    while (range.least_context > least) {
        range.least_context /= 2;
    }
    return range;
}

/* ---- what a run tells ----------------------------------------------------------------- */

/* The warm-up of the least favourable of the queue, the batch and the share of prompts that is found:
 * of the first `count` bins of a series. */
static uint32_t find_warm_up(const struct series *series, uint32_t count)
{
    double means[SERIES_BINS];
    uint32_t most = 0;
    for (int figure = 0; figure < 3; figure++) {
        double found = 0;
        for (uint32_t i = 0; i < count; i++) {
            const double *bin = series->bins[i];
            double hits = 0, prompts = bin[SERIES_PROMPT];
            for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
                hits += bin[SERIES_FOUND + k];
            }
            found = hits + prompts > 0 ? hits / (hits + prompts) : found;
            means[i] = figure == 0   ? bin[SERIES_WAITING]
                       : figure == 1 ? bin[SERIES_RUNNING]
                                     : found;
        }
        uint32_t warm_up = stationary_warm_up(means, count);
        most = warm_up > most ? warm_up : most;
    }
    return most;
}

/* The times of requests that count, in the order of their ends. */
struct stream_times {
    struct stream_time {
        int64_t end_ns;
        double ttft_ns, tpot_ns, e2e_ns;
    } * all; /* owned */
    size_t count;
    double *values, *scratch; /* [count] owned */
};

static int compare_ends(const void *a, const void *b)
{
    const struct stream_time *x = a, *y = b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static bool read_times(const struct requests *requests, const struct served *served,
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
            };
        }
    }
    qsort(out->all, out->count, sizeof *out->all, compare_ends);
    return true;
}

static void release_times(struct stream_times *times)
{
    free(times->all);
    free(times->values);
    free(times->scratch);
}

static const double *time_column(struct stream_times *times, size_t offset)
{
    for (size_t i = 0; i < times->count; i++) {
        times->values[i] = *(const double *)((const char *)&times->all[i] + offset);
    }
    return times->values;
}

/* Requests that end per second, by batches of equal time. */
static struct estimate find_rate(const struct stream_times *times,
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

/* How many times as wide the interval is as it may be. */
static double too_wide(const struct estimate *estimate, double share)
{
    return estimate->half > 0 ? estimate->half / (share * estimate->value) : 0;
}

/* The means and the tail that are known least: 1 or less is enough. */
static double find_precision(const struct point *point, struct stream_times *times,
                             struct serving_window *window)
{
    const size_t ttft = offsetof(struct stream_time, ttft_ns),
                 tpot = offsetof(struct stream_time, tpot_ns);
    struct estimate mean = stationary_mean(time_column(times, ttft), times->count);
    struct estimate pace = stationary_mean(time_column(times, tpot), times->count);
    window->ttft_p99 =
        stationary_quantile(time_column(times, ttft), times->count, 0.99, times->scratch);
    window->rate = find_rate(times, window);
    double wide = fmax(fmax(too_wide(&mean, of_means), too_wide(&pace, of_means)),
                       too_wide(&window->ttft_p99, of_tails));
    return point->workload.clients > 0 ? fmax(wide, too_wide(&window->rate, of_means)) : wide;
}

/* ---- the next run --------------------------------------------------------------------- */

/* Of figures whose intervals are so many times as wide as they may be: an interval narrows with the root
 * of the requests. */
static uint64_t stage_requests(const struct stream_stage *stage, double wide)
{
    double times = isfinite(wide) ? fmin(fmax(1.2 * wide * wide, 1.5), 8) : 4;
    double wanted = fmax(times * (double)stage->requests, LEAST);
    return wanted < (double)stage->most ? (uint64_t)wanted : stage->most;
}

bool stream_stage_judge(const struct point *point, const struct requests *requests,
                        const struct served *served, struct serving_totals *totals,
                        struct stream_stage *stage, struct error *why)
{
    struct serving_window *window = &totals->window;
    struct stream_times times;
    uint32_t bins = totals->series.count - 1; /* the last one is not full */
    uint32_t warm_up = find_warm_up(&totals->series, bins);
    bool warms = warm_up < bins;
    int64_t warm_ns = warms ? warm_up * totals->series.bin_ns : window->to_ns / 2;
    window->from_ns = warm_ns > stage->warm_ns ? warm_ns : stage->warm_ns;
    window->from_ns = window->from_ns < window->to_ns ? window->from_ns : window->to_ns / 2;
    if (!read_times(requests, served, window, &times, why)) {
        release_times(&times);
        return false;
    }
    double wide = find_precision(point, &times, window);
    const double *e2e = time_column(&times, offsetof(struct stream_time, e2e_ns));
    double taken_ns = stationary_mean(e2e, times.count).value;
    double lasts = (double)(window->to_ns - window->from_ns);
    release_times(&times);
    bool lasting =
        lasts >= ANSWERS * taken_ns && stage->requests >= CYCLES * point->workload.clients;
    window->known = warms && lasting && wide <= 1;
    double steps = (double)totals->steps / (double)stage->requests;
    if (steps * MOST > MOST_STEPS) {
        stage->most = (uint64_t)fmax(MOST_STEPS / steps, LEAST);
    }
    stage->enough = stage->number > 0 && (window->known || stage->requests >= stage->most);
    if (stage->enough) {
        return true;
    }
    uint64_t wanted = stage_requests(stage, wide);
    if (!lasting && taken_ns > 0) {
        double longer = ANSWERS * taken_ns / fmax(lasts, 1) * 1.2;
        wanted = (uint64_t)fmin(fmax((double)wanted, longer * (double)stage->requests),
                                (double)stage->most);
        wanted =
            wanted > CYCLES * point->workload.clients ? wanted : CYCLES * point->workload.clients;
    }
    stage->number++;
    stage->requests = wanted;
    stage->answer_ns = (int64_t)taken_ns;
    stage->warm_ns = window->from_ns;
    return true;
}
