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
enum { FIRST = 500, LEAST = STREAM_FEWEST, MOST = 64000, MOST_STEPS = 4000000 };

/* A run is this many times as long as a request takes, and clients send so many requests each. */
enum { ANSWERS = 10, CYCLES = 10 };

/* A server has filled when a request's time in it is over so many times. It lacks a part of the rate that is
 * asked for if that is so many half-widths of its interval, and such a share: 0.05 is beyond doubt, and 0.2
 * in the first run, whose warm-up is not known. (Assumed.) */
enum { FILLS = 3 };
static const double chance = 1.5, behind_share = 0.03, overload = 0.05, first_overload = 0.2;

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

void stream_stage_first(const struct point *point, const struct stream_question *question,
                        struct stream_stage *out)
{
    uint64_t clients = point->workload.clients;
    bool asks = question != NULL && clients == 0 && !point->requests->sessions;
    *out = asks ? (struct stream_stage){.number = 1, .requests = LEAST, .most = MOST}
                : (struct stream_stage){.requests = FIRST + 2 * clients, .most = MOST};
}

/* Requests of a run, or before it, for which a list has room; its length is rounded up. */
static double stream_room(const struct requests *sample)
{
    return (double)requests_most(sample) / 2 / (list_growth * list_growth);
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
    return (uint64_t)ceil(fmin(all, fmin(MOST_PAST, stream_room(sample))));
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
    const struct requests *shared = sources_requests(point->sources, workload->path, &list, why);
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
    bool served = requests->count > 0 || error_set(why, NULL, 0, "the server refuses all requests");
    if (served && stream_lay(requests, &options, stream, why)) {
        return true;
    }
    stream_release(stream);
    free(requests->all);
    requests->all = NULL;
    return false;
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

/* How many times as wide the interval is as it may be. */
static double too_wide(const struct estimate *estimate, double share)
{
    return estimate->half > 0 ? estimate->half / (share * estimate->value) : 0;
}

/* The means and the tail that are known least: 1 or less is enough. */
static double find_precision(const struct point *point, struct stream_times *times,
                             struct serving_window *window)
{
    struct estimate mean = {.value = 0}, pace = mean;
    stream_times_of(times, COLUMN(ttft_ms), &mean);
    stream_times_of(times, COLUMN(tpot_ms), &pace);
    stream_times_of(times, COLUMN(ttft_p99_ms), &window->ttft_p99);
    window->rate = stream_times_rate(times, window);
    double wide = fmax(fmax(too_wide(&mean, of_means), too_wide(&pace, of_means)),
                       too_wide(&window->ttft_p99, of_tails));
    return point->workload.clients > 0 ? fmax(wide, too_wide(&window->rate, of_means)) : wide;
}

/* Do requests wait for room, by the medians (serving_saturated())? */
static bool waits_for_room(struct stream_times *times)
{
    struct estimate queue = {.value = 0}, ttft = queue, tpot = queue;
    stream_times_of(times, COLUMN(queue_p50_ms), &queue);
    stream_times_of(times, COLUMN(ttft_p50_ms), &ttft);
    stream_times_of(times, COLUMN(tpot_p50_ms), &tpot);
    return serving_waits_for_room(queue.value, ttft.value, tpot.value);
}

/* The share of the requests that are no request of a server, because it has no memory for them. */
static double share_too_long(const struct requests *requests, const struct served *served)
{
    double sent = 0, too_long = 0;
    for (size_t i = 0; i < requests->count; i++) {
        sent += served[i].arrived_ns >= 0;
        too_long += served[i].arrived_ns >= 0 && served[i].too_long;
    }
    return sent > 0 ? too_long / sent : 0;
}

/* The queue grows as well if fewer requests end than are asked for, by more than chance, although the server
 * had the time to fill: a session that waits holds its next requests back, so that no more may come than end.
 * Beyond doubt, if these are a share of them. */
static struct stream_load stream_load_read(const struct point *point,
                                           const struct stream_stage *stage, double asked,
                                           struct stream_times *times,
                                           const struct serving_window *window)
{
    double lacks = asked - window->rate.value;
    double served_ns =
        stream_times_mean(times, COLUMN(e2e_ms)) - stream_times_mean(times, COLUMN(queue_ms));
    bool filled = (double)(window->to_ns - window->from_ns) > FILLS * served_ns;
    bool behind = point->workload.clients == 0 && filled && lacks > chance * window->rate.half;
    bool grows = window->grows || (behind && stage->number > 0 && lacks > behind_share * asked);
    return (struct stream_load){
        .grows = grows,
        .overloaded =
            grows && behind && lacks > (stage->number > 0 ? overload : first_overload) * asked,
        .calm =
            point->workload.clients > 0 ||
            (!grows && (!waits_for_room(times) || lacks + window->rate.half < overload * asked)),
    };
}

/* What a run tells the next one. */
struct stream_look {
    double wide;               /* the figures' intervals, of what they may be */
    double taken_ns, lasts_ns; /* by a request; and how long requests count */
};

/* ---- the next run --------------------------------------------------------------------- */

/* Of figures whose intervals are so many times as wide as they may be: an interval narrows with the root
 * of the requests. */
static uint64_t stage_requests(const struct stream_stage *stage, double wide)
{
    double times = isfinite(wide) ? fmin(fmax(1.2 * wide * wide, 1.5), 8) : 4;
    double wanted = fmax(times * (double)stage->requests, LEAST);
    return wanted < (double)stage->most ? (uint64_t)wanted : stage->most;
}

/* Requests count from the end of the warm-up on. Returns false if the run is too short to have one. */
static bool set_window(const struct stream_stage *stage, struct serving_totals *totals)
{
    struct serving_window *window = &totals->window;
    uint32_t bins = totals->series.count - 1; /* the last one is not full */
    uint32_t warm_up = find_warm_up(&totals->series, bins);
    bool warms = warm_up < bins;
    int64_t warm_ns = warms ? warm_up * totals->series.bin_ns : window->to_ns / 2;
    window->from_ns = warm_ns > stage->warm_ns ? warm_ns : stage->warm_ns;
    window->from_ns = window->from_ns < window->to_ns ? window->from_ns : window->to_ns / 2;
    return warms;
}

/* The next run is longer: until the figures are known, the bounds answered, or requests have come for many
 * times as long as one takes. */
static void stage_next(const struct point *point, const struct stream_look *look,
                       struct stream_stage *stage)
{
    uint64_t wanted = stage_requests(stage, look->wide), cycles = CYCLES * point->workload.clients;
    if (look->lasts_ns < ANSWERS * look->taken_ns) {
        double longer = ANSWERS * look->taken_ns / fmax(look->lasts_ns, 1) * 1.2;
        wanted = (uint64_t)fmin(fmax((double)wanted, longer * (double)stage->requests),
                                (double)stage->most);
    }
    stage->number++;
    stage->requests = wanted > cycles ? wanted : cycles;
    stage->answer_ns = (int64_t)look->taken_ns;
}

bool stream_stage_judge(const struct point *point, const struct stream_question *question,
                        const struct requests *requests, const struct served *served,
                        struct serving_totals *totals, struct stream_stage *stage,
                        struct error *why)
{
    struct serving_window *window = &totals->window;
    struct stream_times times = {.count = 0};
    bool warms = set_window(stage, totals);
    if (!serving_stream_grows(point, requests, served, window->to_ns, &window->grows, why) ||
        !stream_times_read(requests, served, window, &times, why)) {
        stream_times_release(&times);
        return false;
    }
    struct stream_look look = {.wide = find_precision(point, &times, window),
                               .taken_ns = stream_times_mean(&times, COLUMN(e2e_ms)),
                               .lasts_ns = (double)(window->to_ns - window->from_ns)};
    double asked =
        point->workload.rate / point->workload.time_scale * (1 - share_too_long(requests, served));
    struct stream_load load = stream_load_read(point, stage, asked, &times, window);
    window->grows = load.grows;
    bool lasting = look.lasts_ns >= ANSWERS * look.taken_ns &&
                   stage->requests >= CYCLES * point->workload.clients;
    window->known = warms && lasting && look.wide <= 1;
    double open = INFINITY;
    bool answered = question != NULL && stream_question_answered(question, &load, &times, &open);
    look.wide = fmin(look.wide, open);
    look.taken_ns -= load.overloaded ? stream_times_mean(&times, COLUMN(queue_ms)) : 0;
    stream_times_release(&times);
    double steps = (double)totals->steps / (double)stage->requests;
    double most =
        fmin(question != NULL ? (double)question->most : MOST, stream_room(point->requests));
    stage->most = (uint64_t)fmin(most, fmax(MOST_STEPS / steps, LEAST));
    stage->enough = stage->number > 0 ? window->known || load.overloaded || (answered && lasting) ||
                                            stage->requests >= stage->most
                                      : question != NULL && warms && load.overloaded;
    window->known = window->known || question != NULL; /* all that is asked */
    if (!stage->enough) {
        stage_next(point, &look, stage);
        stage->warm_ns = window->from_ns;
    }
    return true;
}
