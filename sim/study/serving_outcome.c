/* Requests that were left out, because no server could hold them, are in no figure but their count.
 */
#include "study/serving_outcome.h"

#include "base/array.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- what was asked, what was found ---------------------------------------------------- */

void serving_write_requests(const struct requests *requests, const struct prefix_bound *bound,
                            struct result *result)
{
    uint64_t prompt = 0;
    for (size_t i = 0; i < requests->count; i++) {
        prompt += requests->all[i].prompt;
    }
    result_integer(result, COLUMN_REQUESTS, (int64_t)requests->count);
    result_integer(result, COLUMN_PROMPT_TOKENS, (int64_t)prompt);
    if (requests->chunk_tokens > 0) {
        result_integer(result, COLUMN_HASHED, (int64_t)bound->chunks);
        result_integer(result, COLUMN_HASHED_UNIQUE, (int64_t)bound->distinct);
        result_integer(result, COLUMN_HASHED_HIT, (int64_t)bound->hits);
        result_integer(result, COLUMN_HASHED_FULL, (int64_t)bound->full_chunks);
        result_integer(result, COLUMN_HASHED_FULL_UNIQUE, (int64_t)bound->full_distinct);
        result_integer(result, COLUMN_HASHED_FULL_HIT, (int64_t)bound->full_hits);
    }
}

static void write_tokens(uint64_t gpu, uint64_t host, uint64_t computed, struct result *result)
{
    result_integer(result, COLUMN_HIT_TOKENS_GPU, (int64_t)gpu);
    result_integer(result, COLUMN_HIT_TOKENS_HOST, (int64_t)host);
    result_integer(result, COLUMN_RECOMPUTE_TOKENS, (int64_t)computed);
}

static void note_too_long(uint64_t too_long, struct result *result)
{
    if (too_long > 0) {
        snprintf(result->message, sizeof result->message,
                 "%llu requests are longer than the server's KV memory and were left out",
                 (unsigned long long)too_long);
    }
}

void serving_write_found(const struct prefix_totals *found, struct result *result)
{
    write_tokens(found->gpu_tokens, found->host_tokens, found->compute_tokens, result);
    note_too_long(found->too_long, result);
}

/* ---- times ----------------------------------------------------------------------------- */

/* A time of each request that has it. */
struct sample {
    double *ns;
    size_t count;
};

struct samples {
    struct sample ttft, tpot, queue, e2e;
};

static void sample_add(struct sample *sample, int64_t ns)
{
    sample->ns[sample->count++] = (double)ns;
}

static bool samples_create(struct samples *samples, size_t count, struct error *why)
{
    struct sample *all[] = {&samples->ttft, &samples->tpot, &samples->queue, &samples->e2e};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if ((all[i]->ns = array_zeroed(count, sizeof *all[i]->ns, why)) == NULL) {
            return false;
        }
    }
    return true;
}

static void samples_release(struct samples *samples)
{
    free(samples->ttft.ns);
    free(samples->tpot.ns);
    free(samples->queue.ns);
    free(samples->e2e.ns);
}

/* Time per output token behind the first. */
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
    uint64_t gpu, host, computed, output, preemptions, too_long, good;
};

static void read_served(const struct setup *setup, const struct requests *requests,
                        const struct served *all, struct samples *samples, struct tokens *tokens)
{
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        const struct served *served = &all[i];
        tokens->too_long += served->too_long;
        if (served->too_long) {
            continue;
        }
        sample_add(&samples->ttft, served->first_token_ns - served->arrived_ns);
        sample_add(&samples->queue, served->scheduled_ns - served->arrived_ns);
        sample_add(&samples->e2e, served->end_ns - served->arrived_ns);
        if (request->output > 1) {
            sample_add(&samples->tpot, tpot_ns(request, served));
        }
        tokens->gpu += served->match.gpu_tokens;
        tokens->host += served->match.host_tokens;
        tokens->computed += served->match.compute_tokens;
        tokens->output += request->output;
        tokens->preemptions += served->preemptions;
        tokens->good += meets(&setup->workload, request, served);
    }
}

/* Mean and quantiles of a time, of which there may be none. */
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
        double ns =
            gsl_stats_quantile_from_sorted_data(sample->ns, 1, sample->count, shares[i]);
        result_integer(result, columns[i], llround(ns));
    }
}

static void write_rates(const struct setup *setup, const struct tokens *tokens,
                        const struct serving_totals *totals, struct result *result)
{
    const struct workload *workload = &setup->workload;
    double seconds = (double)totals->end_ns / 1e9;
    double gpus = (double)(workload->replicas * setup->model.tensor_parallel);
    if (seconds <= 0) {
        return;
    }
    double rate = (double)tokens->output / seconds;
    result_real(result, COLUMN_DECODE_RATE, rate);
    result_real(result, COLUMN_GPU_RATE, rate / gpus);
    result_real(result, COLUMN_GPU_BUSY,
                (double)totals->busy_ns / ((double)totals->end_ns * (double)workload->replicas));
    if (workload->slo_ttft_ns > 0 || workload->slo_tpot_ns > 0) {
        result_real(result, COLUMN_GOODPUT, (double)tokens->good / seconds);
    }
}

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
            .prompt = requests->all[i].prompt,
            .output = requests->all[i].output,
            .preemptions = all[i].preemptions,
            .gpu_tokens = all[i].match.gpu_tokens,
            .host_tokens = all[i].match.host_tokens,
            .arrived_ns = all[i].arrived_ns,
            .scheduled_ns = all[i].scheduled_ns,
            .first_token_ns = all[i].first_token_ns,
            .end_ns = all[i].end_ns,
        };
    }
    return true;
}

bool serving_write_times(const struct setup *setup, const struct requests *requests,
                         const struct served *served, const struct serving_totals *totals,
                         struct result *result, struct error *why)
{
    struct samples samples = {.ttft = {.ns = NULL}};
    struct tokens tokens = {.gpu = 0};
    if (!samples_create(&samples, requests->count, why)) {
        samples_release(&samples);
        return false;
    }
    read_served(setup, requests, served, &samples, &tokens);
    write_sample(&samples.ttft, COLUMN_TTFT, COLUMN_TTFT_P50, COLUMN_TTFT_P90, COLUMN_TTFT_P99,
                 result);
    write_sample(&samples.queue, COLUMN_QUEUE, COLUMN_QUEUE_P50, COLUMN_QUEUE_P90, COLUMN_QUEUE_P99,
                 result);
    write_sample(&samples.e2e, COLUMN_E2E, COLUMN_E2E_P50, COLUMN_E2E_P90, COLUMN_E2E_P99, result);
    write_sample(&samples.tpot, COLUMN_TPOT, COLUMN_TPOT_P50, COLUMN_TPOT_P90, COLUMN_TPOT_P99,
                 result);
    samples_release(&samples);
    write_tokens(tokens.gpu, tokens.host, tokens.computed, result);
    write_rates(setup, &tokens, totals, result);
    result_integer(result, COLUMN_PREEMPTIONS, (int64_t)tokens.preemptions);
    result_integer(result, COLUMN_EXTRAPOLATED, totals->trust.extrapolated);
    note_too_long(tokens.too_long, result);
    return write_requests(requests, served, result, why) &&
           result_text(result, COLUMN_BASIS, basis_name(totals->trust.basis), why) &&
           result_text(result, COLUMN_STATUS, "ok", why);
}
