#include "predict/server/serving_stream.h"

#include "core/array.h"
#include "predict/scenario/sources.h"
#include "predict/server/serving_load.h"
#include "predict/server/stationary.h"
#include "server/requests/synthetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Requests of the first run, of the shortest that tells; steps and cached tokens of the longest. */
enum { FIRST = 500, FEW = 500, MOST_STEPS = 4000000, MOST_TOKENS = 300000000 };

/* So many servers, or fewer, need no more requests than one; more servers as many times more. (Assumed.) */
static const double share_length = 32;

/* A run is this many times as long as a request takes, and clients send so many requests each; and where no
 * question ends it before, as so many sessions one after the other (assumed): a router sends the turns of
 * one to one server, which fills and breaks down as slowly as sessions come and go. */
enum { ANSWERS = 10, CYCLES = 10, SESSIONS = 5 };

/* A server has filled when a request's time in it is over so many times. It lacks a part of the rate that is
 * asked for if that is so many half-widths of its interval, and such a share, or one of few (assumed). */
enum { FILLS = 3 };
static const double chance = 1.5, overload = 0.05, few_overload = 0.2;

/* Requests before the beginning that fill the prefix cache, at most: what is older is hardly used again. */
enum { MOST_PAST = 8000 };

/* Half-widths that are narrow enough, as shares of the figure. */
static const double of_means = 0.05, of_tails = 0.1;

/* Requests beyond the 99th percentile, at least: a short run may have no long queue at all (assumed). */
enum { TAIL = 40 };

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

/* How many times as many requests as of one server tell as much of all: each of them has to fill. */
static double stream_scale(const struct point *point)
{
    return fmax(1, (double)point_servers(point) / share_length);
}

/* Requests of a run, or before it, for which a list has room; its length is rounded up. */
static double stream_room(const struct requests *sample)
{
    return (double)requests_most(sample) / 2 / (list_growth * list_growth);
}

void stream_stage_first(const struct point *point, const struct stream_question *question,
                        struct stream_stage *out)
{
    uint64_t clients = point->workload.clients;
    bool asks = question != NULL && clients == 0 && !point->requests->sessions;
    double scale = stream_scale(point);
    double most = asks ? fmin((double)question->most * scale, stream_room(point->requests)) : 0;
    *out = asks ? (struct stream_stage){.number = 1, .requests = (uint64_t)most}
                : (struct stream_stage){.requests = (uint64_t)(FIRST * scale) + 2 * clients};
}

/* Does a request look for the beginning of its prompt? */
static bool looks_up(const struct point *point)
{
    return mechanisms_keep_prefixes(point->setup.mechanisms) && point->requests->chunk_tokens > 0;
}

/* Requests of a run that is worth it, by the steps that each takes and the work of the prefix cache. */
static uint64_t most_requests(const struct point *point, double steps)
{
    const struct requests *sample = point->requests;
    double tokens = 0, scale = stream_scale(point);
    for (size_t i = 0; looks_up(point) && i < sample->count; i++) {
        tokens += (double)request_kept_tokens(&sample->all[i]) / (double)sample->count;
    }
    double worth = fmax(fmin(MOST_STEPS / steps, MOST_TOKENS / tokens), STREAM_FEWEST * scale);
    return (uint64_t)fmin(fmin(STREAM_MOST * scale, stream_room(sample)), worth);
}

/* Requests whose KV fills the tiers of all servers. */
static uint64_t requests_to_fill(const struct point *point, const struct serving_memory *memory)
{
    const struct requests *sample = point->requests;
    const struct prefix_options *prefix = &memory->prefix;
    double blocks = (double)prefix->gpu_blocks, tokens = 0;
    if (!looks_up(point)) {
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

bool stream_stage_take(const struct point *point, const struct serving_memory *memory,
                       const struct stream_stage *stage, struct requests *requests, size_t *refused,
                       struct request_stream *stream, struct error *why)
{
    const struct workload *workload = &point->workload;
    bool constant = workload->arrivals == ARRIVALS_CONSTANT;
    struct stream_options options = {
        .rate = workload->rate / workload->time_scale,
        .shape = constant ? (double)INFINITY : workload->burstiness,
        .clients = (uint32_t)workload->clients,
        .answer_ns = stage->answer_ns,
        .past = requests_to_fill(point, memory),
        .most_past = (uint64_t)stream_room(point->requests),
        .seed = point->setup.seed,
    };
    uint64_t all = stream_past(point->requests, &options) + stage->requests;
    double length = FIRST; /* points read lists of few lengths, so that they share them */
    while (length < (double)all) {
        length = ceil(length * list_growth);
    }
    const struct requests_options list = {.limit = (uint64_t)length,
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
    *refused = requests_refuse(requests, point_taken_tokens(point));
    bool served = requests->count > 0 || error_set(why, NULL, 0, "the server refuses all requests");
    /* Sessions of a list are not quite those of the sample, nor are all of its requests served. */
    uint64_t spare = requests->count > stage->requests ? requests->count - stage->requests : 0;
    options.most_past = spare < options.most_past ? spare : options.most_past;
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

/* Half of the widest interval of these figures, as a share of the figure. */
static double widest_half(struct stream_times *times, const struct column *const *columns)
{
    struct estimate figure;
    double wide = 0;
    for (; *columns != NULL; columns++) {
        stream_times_of(times, *columns, &figure);
        wide = fmax(wide, figure.half > 0 ? figure.half / figure.value : 0);
    }
    return wide;
}

/* How many times as wide as they may be the intervals of the means and tails are that a table shows. */
static double find_precision(const struct point *point, struct stream_times *times,
                             struct serving_window *window)
{
    const struct column *const means[] = {COLUMN(ttft_ms), COLUMN(tpot_ms), NULL};
    const struct column *const tails[] = {COLUMN(ttft_p99_ms), COLUMN(tpot_p99_ms), NULL};
    stream_times_of(times, COLUMN(ttft_p99_ms), &window->ttft_p99);
    window->rate = stream_times_rate(times, window);
    double rate = point->workload.clients > 0 ? window->rate.half / window->rate.value : 0;
    window->means_wide = fmax(widest_half(times, means), rate);
    window->tails_wide = widest_half(times, tails);
    double few = sqrt(TAIL / fmax(0.01 * (double)times->count, 1));
    return fmax(few, fmax(window->means_wide / of_means, window->tails_wide / of_tails));
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

/* Of the requests that were sent: the share that a server has no memory for; and do most of the others still
 * wait at the end of a run? Servers that can answer them begin with them while they fill. */
static double share_too_long(const struct requests *requests, const struct served *served,
                             bool *most_wait)
{
    double sent = 0, too_long = 0, wait = 0;
    for (size_t i = 0; i < requests->count; i++) {
        bool came = served[i].arrived_ns >= 0;
        sent += came;
        too_long += came && served[i].too_long;
        wait += came && !served[i].too_long && served[i].scheduled_ns < 0;
    }
    *most_wait = 2 * wait > sent - too_long;
    return sent > 0 ? too_long / sent : 0;
}

/* The queue grows beyond doubt if fewer requests end than are asked for, by more than chance and by a share
 * of them. That fewer end tells nothing alone: how many sessions begin is drawn, and before the servers had
 * the time to fill fewer end as well. So a run of sessions that lacks a share goes on, until requests pile
 * up, or it brings what was asked for. */
static struct stream_load stream_load_read(const struct point *point, double asked, uint64_t come,
                                           bool waits, struct stream_times *times,
                                           const struct serving_window *window)
{
    double lacks = asked - window->rate.value;
    double served_ns =
        stream_times_mean(times, COLUMN(e2e_ms)) - stream_times_mean(times, COLUMN(queue_ms));
    double lasts_ns = (double)(window->to_ns - window->from_ns);
    bool filled = waits || (times->count > 0 && lasts_ns > FILLS * served_ns);
    bool behind = point->workload.clients == 0 && filled && lacks > chance * window->rate.half;
    bool grows = filled && window->grows;
    bool few = (double)come < STREAM_FEWEST * stream_scale(point);
    return (struct stream_load){
        .few = few,
        .grows = grows,
        .overloaded = grows && behind && lacks > (few ? few_overload : overload) * asked,
        .settled =
            point->workload.clients > 0 || !point->requests->sessions || lacks <= overload * asked,
        .calm = point->workload.clients > 0 ||
                (!grows && (filled || !few) &&
                 (!waits_for_room(times) || lacks + window->rate.half < overload * asked)),
    };
}

/* ---- the next run --------------------------------------------------------------------- */

/* Requests count from the end of the warm-up on, which lasts until those that were under way have ended: they are
 * in no figure, so that fewer would seem to end than come. Returns false if the run is too short to have one. */
static bool set_window(const struct stream_stage *stage, const struct served *served,
                       struct serving_totals *totals)
{
    struct serving_window *window = &totals->window;
    uint32_t bins =
        totals->series.count > 0 ? totals->series.count - 1 : 0; /* the last is not full */
    uint32_t warm_up = find_warm_up(&totals->series, bins);
    bool warms = warm_up < bins;
    int64_t warm_ns = warms ? warm_up * totals->series.bin_ns : window->to_ns / 2;
    window->from_ns = warm_ns > stage->warm_ns ? warm_ns : stage->warm_ns;
    for (size_t i = 0; i < window->first; i++) {
        window->from_ns = served[i].end_ns > window->from_ns ? served[i].end_ns : window->from_ns;
    }
    window->from_ns = window->from_ns < window->to_ns ? window->from_ns : window->to_ns / 2;
    return warms;
}

void stream_stage_next(const struct point *point, const struct stream_question *question,
                       const struct stream_finding *finding, const struct serving_window *window,
                       struct stream_stage *stage)
{
    double come = (double)finding->come, scale = stream_scale(point);
    double wanted = question != NULL ? (double)question->most * scale : INFINITY;
    /* Where no request has ended since the warm-up, nothing tells how long a run has to last. */
    bool tells = finding->taken_ns > 0;
    double longer = tells ? finding->lasting_ns / fmax(finding->lasts_ns, 1) * 1.2 : 2;
    double most = fmin(fmax(wanted, longer * come), (double)finding->most);
    stage->requests = (uint64_t)fmax(most, (double)(CYCLES * point->workload.clients));
    stage->number++;
    stage->answer_ns = (int64_t)finding->taken_ns;
    stage->warm_ns = window->from_ns;
}

/* A run is long enough for a question that it answers, or for figures that are known. */
static void set_enough(const struct point *point, const struct stream_question *question,
                       const struct stream_stage *stage, const struct stream_load *load,
                       bool answered, struct serving_window *window, struct stream_finding *out)
{
    bool lasting = out->taken_ns > 0 && out->lasts_ns >= out->lasting_ns &&
                   out->come >= CYCLES * point->workload.clients;
    double wanted =
        question != NULL ? (double)question->most * stream_scale(point) : (double)stage->requests;
    bool asked_enough = lasting && (double)out->come >= wanted;
    bool told = load->settled && answered;
    out->enough = stage->number > 0 ? load->overloaded || (told && lasting) || asked_enough ||
                                          (double)out->come * list_growth >= (double)out->most
                                    : question != NULL && load->overloaded;
    window->known = question != NULL || (told && lasting); /* all that is asked */
}

bool stream_stage_judge(const struct point *point, const struct stream_question *question,
                        const struct requests *requests, const struct served *served,
                        const struct stream_stage *stage, uint32_t looks,
                        struct serving_totals *totals, struct stream_finding *out,
                        struct error *why)
{
    struct serving_window *window = &totals->window;
    struct stream_times times = {.count = 0};
    *out = (struct stream_finding){.come = stage->requests >> looks};
    double scale = stream_scale(point);
    bool whole = requests->sessions && question == NULL; /* few turns tell only what is missed */
    if (looks > 0 && (double)out->come < (whole ? STREAM_FEWEST : FEW) * scale) {
        return true;
    }
    window->known = set_window(stage, served, totals);
    struct stream_growth growth = {.grows = false}; /* clients wait */
    bool most_wait;
    double asked = point->workload.rate / point->workload.time_scale *
                   (1 - share_too_long(requests, served, &most_wait));
    if ((point->workload.clients == 0 &&
         !serving_stream_growth(requests, served, (size_t)point_servers(point), asked,
                                window->from_ns, window->to_ns, &growth, why)) ||
        !stream_times_read(requests, served, window, &times, why)) {
        stream_times_release(&times);
        return false;
    }
    double wide = find_precision(point, &times, window);
    out->taken_ns = stream_times_mean(&times, COLUMN(e2e_ms));
    out->lasts_ns = (double)(window->to_ns - window->from_ns);
    bool waits = looks == 0 && (most_wait || waits_for_room(&times));
    window->asked = asked;
    window->brief = question != NULL;
    double session_ns = requests->sessions ? stream_session_ns(requests, out->taken_ns) : 0;
    window->grows = growth.grows;
    struct stream_load load = stream_load_read(point, asked, out->come, waits, &times, window);
    window->grows = load.grows;
    bool known = window->known && wide <= 1;
    bool answered = question != NULL && stream_question_answered(question, &load, &times);
    window->close = question != NULL && !answered;
    out->taken_ns -= load.grows ? stream_times_mean(&times, COLUMN(queue_ms)) : 0;
    out->lasting_ns = fmax(ANSWERS * out->taken_ns, whole ? SESSIONS * session_ns : 0);
    out->lasting_ns = growth.open ? fmax(out->lasting_ns, 2 * out->lasts_ns) : out->lasting_ns;
    out->most = most_requests(point, (double)totals->steps / fmax((double)out->come, 1));
    load.overloaded = load.overloaded && (stage->number > 0 || window->known);
    /* What known figures leave open is decided by runs of `simulate`, which are no longer. */
    bool told = answered || (known && (question == NULL || !load.few));
    set_enough(point, question, stage, &load, told, window, out);
    window->grows = load.grows || (out->enough && growth.open);
    stream_times_release(&times);
    return true;
}
