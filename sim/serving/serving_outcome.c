/* Requests that no server could hold are left out. They appear in no figure except their count. */
#include "serving/serving_outcome.h"

#include "base/array.h"
#include "base/name.h"
#include "model/parallel.h"
#include "run/price.h"
#include "serve/requests/arrivals.h"
#include "serve/requests/synthetic.h"
#include "serving/backlog.h"
#include "serving/host_worth.h"
#include "serving/serving_detail.h"
#include "serving/serving_tiers.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests, and prefixes found ------------------------------------------------------- */

/* A state holds a prefix at the one place where it was taken. Engines keep few of them, or none. */
static void note_states(const struct setup *setup, struct result *result)
{
    if (setup->model.linear.key_heads > 0 && setup->mechanisms.prefix != PREFIX_NONE) {
        result_note(result, note_prefix_states());
    }
}

/* A server's steps are timed at the mean length: only the requests say that one is longer. */
static void note_longest(const struct model *model, const struct requests *requests,
                         struct result *result)
{
    if (model->trained_context > 0 && requests_longest(requests) > model->trained_context) {
        result_note(result, note_trained_context(model->name, model->trained_context));
    }
}

static void note_engine(const struct workload *workload, struct result *result)
{
    struct server_engine_version engine = {.id = (enum server_engine_id)workload->engine};
    snprintf(engine.name, sizeof engine.name, "%s", workload->engine_name);
    const char *which = server_engine_stand_in(&engine);
    if (which != NULL) {
        result_note(result,
                    note_engine_by_another(engine.name, server_engine_names[engine.id], which));
    }
}

/* Note keys of the scenario that have no effect on this server. */
static void note_unheard(const struct point *point, struct result *result)
{
    const struct workload *workload = &point->workload;
    const struct {
        bool said;
        const char *key;
    } of_clock[] = {
        {workload->rate > 0, "rate"},
        {workload->clients > 0, "clients"},
        {workload->arrivals != ARRIVALS_RANDOM, "arrivals"},
        {workload->warm > 0, "warm_requests"},
        {workload->time_scale != 1, "time_scale"},
        {workload->slo_ttft_ns > 0 || workload->slo_tpot_ns > 0, "slo"},
    };
    char keys[128] = "";
    for (size_t i = 0; !workload->timed && i < sizeof of_clock / sizeof *of_clock; i++) {
        if (of_clock[i].said) {
            name_list_add(keys, sizeof keys, of_clock[i].key);
        }
    }
    if (keys[0] != '\0') {
        result_note(result, note_clock_ignored(keys));
    }
    if (point->setup.steps != SETUP_STEPS_ALL || point->setup.warmup != SETUP_WARMUP_AUTO) {
        result_note(result, workload->timed ? note_steps_of_clock() : note_steps_ignored());
    }
}

/* Without hashes nobody knows which prompts begin alike. */
static void note_unknown(uint64_t unknown, uint64_t requests, struct result *result)
{
    if (unknown > 0) {
        result_note(result, unknown == requests ? note_hashes_lacking()
                                                : note_hashes_partly(unknown, requests));
    }
}

/* Clients whose requests are equally long end together, and so send the next ones together. */
static void note_even(const struct workload *workload, struct result *result)
{
    if (workload->clients > 1 && workload->timed && synthetic_is(workload->path) &&
        synthetic_is_even(workload->path)) {
        result_note(result, note_lock_step(workload->clients));
    }
}

void serving_write_requests(const struct point *point, const struct requests *requests,
                            const struct prefix_bound *bound, struct result *result)
{
    uint64_t prompt = 0, known = 0, warm = point->workload.timed ? point->workload.warm : 0;
    for (size_t i = 0; i < requests->count; i++) {
        prompt += i >= warm ? requests->all[i].prompt : 0;
        known += requests->all[i].chunks > 0;
    }
    result_integer(result, COLUMN_REQUESTS, (int64_t)requests->count);
    result_integer(result, COLUMN_REPLICAS, (int64_t)point->workload.replicas);
    result_integer(result, COLUMN_PROMPT_TOKENS, (int64_t)prompt);
    if (requests->chunk_tokens > 0) {
        result_integer(result, COLUMN_HASHED, (int64_t)bound->chunks);
        result_integer(result, COLUMN_HASHED_UNIQUE, (int64_t)bound->distinct);
        result_integer(result, COLUMN_HASHED_HIT, (int64_t)bound->hits);
        result_integer(result, COLUMN_HASHED_FULL, (int64_t)bound->full_chunks);
        result_integer(result, COLUMN_HASHED_FULL_UNIQUE, (int64_t)bound->full_distinct);
        result_integer(result, COLUMN_HASHED_FULL_HIT, (int64_t)bound->full_hits);
    }
    if (point->setup.mechanisms.prefix != PREFIX_NONE && !synthetic_is(point->workload.path)) {
        note_unknown(requests->count - known, requests->count, result);
    }
    note_states(&point->setup, result);
    note_longest(&point->setup.model, requests, result);
    note_engine(&point->workload, result);
    note_even(&point->workload, result);
    note_unheard(point, result);
}

void serving_write_refused(const struct point *point, size_t refused, struct result *result)
{
    result_integer(result, COLUMN_LEFT_OUT, (int64_t)refused);
    if (refused > 0) {
        result_note(result,
                    note_refused(refused, point->requests->count, point->workload.request_tokens));
    }
}

static uint64_t mean_kept_tokens(const struct requests *requests)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < requests->count; i++) {
        tokens += request_kept_tokens(&requests->all[i]);
    }
    return tokens / requests->count;
}

/* What a machine has is often assumed, and one asks what more would find: so it is no error. */
static void note_host_size(const struct setup *setup, struct result *result)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    double has = profile_states(&setup->profile, CURVE_HOST_DRAM_CAPACITY)
                     ? profile_value(&setup->profile, CURVE_HOST_DRAM_CAPACITY, 0, &unseen)
                     : (double)INFINITY;
    if ((double)setup->room[TIER_HOST] > has) {
        result_note(result, note_host_too_large((uint64_t)has));
    }
}

/* The pool of a system that offloads is on the host. */
void serving_note_pool(const struct point *point, const struct prefix_options *memory,
                       const struct requests *requests, struct result *result)
{
    uint64_t tokens = memory->gpu_blocks * memory->block_tokens / point_joined_ranks(point);
    note_host_size(&point->setup, result);
    if (!mechanisms_offload(&point->setup.mechanisms) &&
        tokens + memory->block_tokens < point->setup.kv_pool_tokens) {
        result_note(result, note_pool_too_large(tokens));
    }
    if (!mechanisms_offload(&point->setup.mechanisms) && requests->count > 1 &&
        tokens < 2 * mean_kept_tokens(requests)) {
        result_note(result, note_pool_of_one(tokens));
    }
}

/* Columns of prefixes by tier. */
static const struct {
    enum column tokens, held, read, written; /* the GPU has `tokens` alone */
} tier_columns[TIER_COUNT] = {
    [TIER_GPU] = {.tokens = COLUMN_HIT_TOKENS_GPU},
    [TIER_HOST] = {COLUMN_HIT_TOKENS_HOST, COLUMN_PREFIX_HOST, COLUMN_PREFIX_HOST_READ,
                   COLUMN_PREFIX_HOST_WRITTEN},
    [TIER_DISK] = {COLUMN_HIT_TOKENS_DISK, COLUMN_PREFIX_DISK, COLUMN_PREFIX_DISK_READ,
                   COLUMN_PREFIX_DISK_WRITTEN},
    [TIER_POOL] = {COLUMN_HIT_TOKENS_POOL, COLUMN_PREFIX_POOL, COLUMN_PREFIX_POOL_READ,
                   COLUMN_PREFIX_POOL_WRITTEN},
};

/* Tokens by the tier that has them; those of host memory are 0 where prefixes are not kept there. */
static void write_tokens(const struct point *point, const uint64_t found[PREFIX_MOST_TIERS],
                         uint64_t computed, struct result *result)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    result_integer(result, COLUMN_HIT_TOKENS_HOST, 0);
    for (uint32_t k = 0; k < tiers.count; k++) {
        result_integer(result, tier_columns[tiers.of[k]].tokens, (int64_t)found[k]);
    }
    result_integer(result, COLUMN_RECOMPUTE_TOKENS, (int64_t)computed);
}

/* What prefixes take of each tier. */
static void write_moved(const struct point *point, const struct serving_memory *memory,
                        const struct prefix_moved moved[PREFIX_MOST_TIERS], struct result *result)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    for (uint32_t k = 1; k < tiers.count; k++) {
        int64_t bytes = (int64_t)memory->block_bytes;
        enum tier_id tier = tiers.of[k];
        result_integer(result, tier_columns[tier].held, (int64_t)moved[k].held * bytes);
        result_integer(result, tier_columns[tier].read, (int64_t)moved[k].loaded * bytes);
        result_integer(result, tier_columns[tier].written, (int64_t)moved[k].saved * bytes);
    }
}

/* Drives wear by what is written to them. */
static void write_wear(const struct point *point, int64_t end_ns, struct result *result)
{
    const struct profile *profile = &point->setup.profile;
    const struct cell *written = &result->cells[COLUMN_PREFIX_DISK_WRITTEN];
    struct trust unseen = {.basis = BASIS_MEASURED};
    if (!written->set || end_ns <= 0) {
        return;
    }
    double days = (double)end_ns / 86400e9;
    double day = (double)written->integer / (double)point->workload.replicas / days;
    result_integer(result, COLUMN_PREFIX_DISK_DAY, llround(day));
    if (profile_states(profile, CURVE_DISK_CAPACITY)) {
        double capacity = profile_value(profile, CURVE_DISK_CAPACITY, 0, &unseen);
        result_real(result, COLUMN_PREFIX_DISK_WRITES, day / capacity);
    }
}

static void serving_outcome_add_left_out(uint64_t too_long, struct result *result)
{
    int64_t refused = result->cells[COLUMN_LEFT_OUT].integer;
    result_integer(result, COLUMN_LEFT_OUT, refused + (int64_t)too_long);
    if (too_long > 0) {
        result_note(result, note_too_long(too_long));
    }
}

bool serving_write_found(const struct point *point, const struct serving_memory *memory,
                         const struct prefix_totals *found, struct result *result,
                         struct error *why)
{
    if (host_worth_known(point)) {
        result_integer(result, COLUMN_HOST_SAVES, llround(found->worth_ns));
    }
    write_tokens(point, found->found, found->compute_tokens, result);
    if (found->best_known) {
        result_integer(result, COLUMN_HIT_TOKENS_BEST, (int64_t)found->best_tokens);
    }
    write_moved(point, memory, found->moved, result);
    serving_outcome_add_left_out(found->too_long, result);
    return result_text(result, COLUMN_STATUS, "ok", why);
}

/* ---- times ----------------------------------------------------------------------------- */

/* A time, for each request that has it. */
struct sample {
    double *ns;
    size_t count;
};

struct outcome_samples {
    struct sample ttft, tpot, queue, e2e;
};

static void sample_add(struct sample *sample, int64_t ns)
{
    sample->ns[sample->count++] = (double)ns;
}

static bool samples_create(struct outcome_samples *samples, size_t count, struct error *why)
{
    struct sample *all[] = {&samples->ttft, &samples->tpot, &samples->queue, &samples->e2e};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if ((all[i]->ns = array_zeroed(count, sizeof *all[i]->ns, why)) == NULL) {
            return false;
        }
    }
    return true;
}

static void samples_release(struct outcome_samples *samples)
{
    free(samples->ttft.ns);
    free(samples->tpot.ns);
    free(samples->queue.ns);
    free(samples->e2e.ns);
}

/* Time per output token after the first. */
static int64_t tpot_ns(const struct request *request, const struct served *served)
{
    return request->output > 1 ? (served->end_ns - served->first_token_ns) / (request->output - 1)
                               : 0;
}

static bool meets(const struct workload *workload, const struct request *request,
                  const struct served *served)
{
    uint64_t ttft = (uint64_t)(served->first_token_ns - served->arrived_ns);
    return (workload->slo_ttft_ns == 0 || ttft <= workload->slo_ttft_ns) &&
           (workload->slo_tpot_ns == 0 ||
            (uint64_t)tpot_ns(request, served) <= workload->slo_tpot_ns);
}

struct tokens {
    uint64_t found[PREFIX_MOST_TIERS], computed, output, preemptions, too_long, good;
    uint64_t counted; /* requests: neither left out nor for warming */
    int64_t since_ns; /* arrival of the first of them */
};

static void read_served(const struct point *point, const struct requests *requests,
                        const struct served *all, struct outcome_samples *samples,
                        struct tokens *tokens)
{
    tokens->since_ns = point->workload.warm > 0 ? INT64_MAX : 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        const struct served *served = &all[i];
        tokens->too_long += served->too_long;
        if (served->too_long || i < point->workload.warm) {
            continue;
        }
        tokens->counted++;
        tokens->since_ns =
            served->arrived_ns < tokens->since_ns ? served->arrived_ns : tokens->since_ns;
        sample_add(&samples->ttft, served->first_token_ns - served->arrived_ns);
        sample_add(&samples->queue, served->scheduled_ns - served->arrived_ns);
        sample_add(&samples->e2e, served->end_ns - served->arrived_ns);
        if (request->output > 1) {
            sample_add(&samples->tpot, tpot_ns(request, served));
        }
        for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
            tokens->found[k] += served->match.found[k];
        }
        tokens->computed += served->match.compute_tokens;
        tokens->output += request->output;
        tokens->preemptions += served->preemptions;
        tokens->good += meets(&point->workload, request, served);
    }
}

/* Write mean and quantiles of a time; nothing if no request has it. */
static void write_sample(struct sample *sample, enum column mean, enum column p50, enum column p90,
                         enum column p99, struct result *result)
{
    const enum column columns[] = {p50, p90, p99};
    const double shares[] = {0.5, 0.9, 0.99};
    if (sample->count == 0) {
        return;
    }
    gsl_sort(sample->ns, 1, sample->count);
    result_integer(result, mean, llround(gsl_stats_mean(sample->ns, 1, sample->count)));
    for (int i = 0; i < 3; i++) {
        double ns = gsl_stats_quantile_from_sorted_data(sample->ns, 1, sample->count, shares[i]);
        result_integer(result, columns[i], llround(ns));
    }
}

static void write_gaps(const struct gaps *gaps, struct result *result)
{
    if (gaps->count == 0) {
        return;
    }
    result_integer(result, COLUMN_ITL, llround(gaps->sum_ns / (double)gaps->count));
    result_integer(result, COLUMN_ITL_P50, llround(gaps_quantile_ns(gaps, 0.5)));
    result_integer(result, COLUMN_ITL_P90, llround(gaps_quantile_ns(gaps, 0.9)));
    result_integer(result, COLUMN_ITL_P99, llround(gaps_quantile_ns(gaps, 0.99)));
}

static void serving_outcome_write_rates(const struct point *point, const struct tokens *tokens,
                                        const struct serving_totals *totals, struct result *result)
{
    const struct workload *workload = &point->workload;
    double seconds = (double)(totals->end_ns - tokens->since_ns) / 1e9;
    double gpus = (double)(workload->replicas * model_gpus(&point->setup.model));
    if (seconds <= 0) {
        return;
    }
    double rate = (double)tokens->output / seconds;
    result_real(result, COLUMN_DECODE_RATE, rate);
    result_real(result, COLUMN_GPU_RATE, rate / gpus);
    price_write(&point->setup.profile, result);
    result_real(result, COLUMN_GPU_BUSY,
                (double)totals->busy_ns / ((double)totals->end_ns * (double)point_servers(point)));
    if (workload->slo_ttft_ns > 0 || workload->slo_tpot_ns > 0) {
        result_real(result, COLUMN_GOODPUT, (double)tokens->good / seconds);
    }
}

/* A rate that a server sustains for a short time may be too high for longer. If requests arrive for
 * less than LASTING times as long as one takes, the last ones arrive before the first have made room.
 * The number is assumed: a plan over 1.2 times found a rate 45 % above that of a plan over the same
 * requests ten times over. */
enum { LASTING = 10 };

uint64_t serving_lasting(double rate, double taken_s)
{
    return (uint64_t)ceil(LASTING * taken_s * rate + 1);
}

static void note_load(const struct point *point, bool grows, int64_t last_ns, struct result *result)
{
    int64_t taken_ns = result->cells[COLUMN_E2E].integer;
    if (grows) {
        result_note(result, note_queue_grows());
    } else if (point->workload.clients == 0 && last_ns < LASTING * taken_ns) {
        result_note(result, note_arrivals_short());
    }
}

/* While the first sessions go on and the last ones end, fewer requests come than were asked for. */
static bool lack_sessions(const struct point *point, const struct requests *requests, double came)
{
    return requests->sessions && came < 0.9 * point->workload.rate;
}

uint64_t serving_requests_wanted(const struct result *result)
{
    const struct cell *rate = &result->cells[COLUMN_RATE_IN], *taken = &result->cells[COLUMN_E2E];
    const struct cell *requests = &result->cells[COLUMN_REQUESTS];
    if (!rate->set || !taken->set || !requests->set) {
        return 0;
    }
    uint64_t wanted = serving_lasting(rate->real, (double)taken->integer / 1e9);
    return wanted > (uint64_t)requests->integer ? wanted : 0;
}

bool serving_sessions_lack(const struct result *result)
{
    return result->cells[COLUMN_RATE_IN].set && !result->cells[COLUMN_QUEUE_GROWS].set;
}

double serving_session_s(const struct result *result, double rate)
{
    double more = result_number(result, COLUMN_REQUESTS) - 1;
    return fmax(more / result_number(result, COLUMN_RATE_IN) - more / rate, 0);
}

/* When the last request came, and the last session or request without one began. */
struct arrivals {
    int64_t last_ns, begun_ns;
};

static struct arrivals serving_outcome_read_arrivals(const struct requests *requests,
                                                     const struct served *all)
{
    struct arrivals arrivals = {0, 0};
    for (size_t i = 0; i < requests->count; i++) {
        int64_t ns = all[i].arrived_ns;
        arrivals.last_ns = ns > arrivals.last_ns ? ns : arrivals.last_ns;
        bool begins = requests->all[i].turn == 0 && ns > arrivals.begun_ns;
        arrivals.begun_ns = begins ? ns : arrivals.begun_ns;
    }
    return arrivals;
}

/* Clients that wait for their answers set the rate themselves. */
static bool write_load(const struct point *point, const struct requests *requests,
                       const struct served *all, struct arrivals arrivals, struct result *result,
                       struct error *why)
{
    const struct workload *workload = &point->workload;
    double came = (double)(requests->count - 1) * 1e9 / (double)arrivals.last_ns;
    double asked = requests->sessions || workload->time_scale != 1 ? 0 : workload->rate;
    bool few = lack_sessions(point, requests, came), grows = false;
    if (workload->clients == 0 &&
        !(few ? backlog_waits : backlog_grows)(all, requests->count, arrivals.begun_ns, asked,
                                               &grows, why)) {
        return false;
    }
    result_real(result, COLUMN_RATE_IN, came);
    if (grows || !few) { /* a few sessions that are served say nothing of many */
        result_integer(result, COLUMN_QUEUE_GROWS, grows);
    }
    note_load(point, grows, arrivals.last_ns, result);
    if (few) {
        result_note(result, note_sessions_too_few(workload->rate, came));
    }
    return true;
}

static bool write_arrivals(const struct point *point, const struct requests *requests,
                           const struct served *all, const struct serving_totals *totals,
                           const struct tokens *tokens, struct result *result, struct error *why)
{
    struct arrivals arrivals = serving_outcome_read_arrivals(requests, all);
    int64_t taken_ns = totals->end_ns - tokens->since_ns;
    if (point->setup.mechanisms.residency == RESIDENCY_PRESSURE) {
        result_real(result, COLUMN_RESIDENT_SHARE, totals->resident_share);
    }
    if (taken_ns > 0) {
        result_real(result, COLUMN_RATE_OUT, (double)tokens->counted * 1e9 / (double)taken_ns);
    }
    if (arrivals.last_ns == 0 && requests->count > 0) {
        result_integer(result, COLUMN_QUEUE_GROWS, 0); /* all at once: the queue only shrinks */
    }
    return arrivals.last_ns == 0 || write_load(point, requests, all, arrivals, result, why);
}

static bool write_trust(const struct serving_totals *totals, struct result *result,
                        struct error *why)
{
    struct trust trust = totals->trust;
    bool traced = totals->trace_source[0] != '\0';
    for (int i = 0; i < BASIS_COUNT; i++) {
        result->basis[i] = (struct result_item){basis_name((enum basis)i), 0, totals->basis[i]};
    }
    result->basis_count = BASIS_COUNT;
    result_integer(result, COLUMN_EXTRAPOLATED, trust.extrapolated);
    return result_text(result, COLUMN_BASIS, basis_name(trust.basis), why) &&
           (!traced ||
            (result_text(result, COLUMN_TRACE_BASIS, basis_name(totals->trace_basis), why) &&
             result_text(result, COLUMN_TRACE_SOURCE, totals->trace_source, why)));
}

bool serving_write_times(const struct point *point, const struct serving_memory *memory,
                         const struct requests *requests, const struct served *served,
                         const struct serving_totals *totals, struct result *result,
                         struct error *why)
{
    struct outcome_samples samples = {.ttft = {.ns = NULL}};
    struct tokens tokens = {.computed = 0};
    if (!samples_create(&samples, requests->count, why)) {
        samples_release(&samples);
        return false;
    }
    read_served(point, requests, served, &samples, &tokens);
    write_sample(&samples.ttft, COLUMN_TTFT, COLUMN_TTFT_P50, COLUMN_TTFT_P90, COLUMN_TTFT_P99,
                 result);
    write_sample(&samples.queue, COLUMN_QUEUE, COLUMN_QUEUE_P50, COLUMN_QUEUE_P90, COLUMN_QUEUE_P99,
                 result);
    write_sample(&samples.e2e, COLUMN_E2E, COLUMN_E2E_P50, COLUMN_E2E_P90, COLUMN_E2E_P99, result);
    write_sample(&samples.tpot, COLUMN_TPOT, COLUMN_TPOT_P50, COLUMN_TPOT_P90, COLUMN_TPOT_P99,
                 result);
    samples_release(&samples);
    write_gaps(&totals->gaps, result);
    write_tokens(point, tokens.found, tokens.computed, result);
    write_moved(point, memory, totals->moved, result);
    write_wear(point, totals->end_ns, result);
    serving_outcome_write_rates(point, &tokens, totals, result);
    result_integer(result, COLUMN_KV_BLOCKS, (int64_t)totals->blocks);
    result_integer(result, COLUMN_PREEMPTIONS, (int64_t)tokens.preemptions);
    serving_outcome_add_left_out(tokens.too_long, result);
    return write_arrivals(point, requests, served, totals, &tokens, result, why) &&
           serving_write_detail(point, requests, served, &totals->series, totals->end_ns, result,
                                why) &&
           write_trust(totals, result, why) && result_text(result, COLUMN_STATUS, "ok", why);
}

bool serving_saturated(const struct result *result)
{
    const struct cell *queue = &result->cells[COLUMN_QUEUE_P50];
    const struct cell *ttft = &result->cells[COLUMN_TTFT_P50];
    const struct cell *tpot = &result->cells[COLUMN_TPOT_P50];
    return queue->set && ttft->set && tpot->set && 2 * queue->integer > ttft->integer &&
           queue->integer > 4 * tpot->integer;
}
