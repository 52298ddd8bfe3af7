/* Requests that warm the cache count in no figure. */
#include "predict/server/serving_times.h"

#include "core/array.h"
#include "model/parallel.h"
#include "predict/decode/outcome.h"
#include "predict/server/serving_detail.h"
#include "predict/server/serving_load.h"
#include "predict/server/serving_outcome.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

/* A time, for each request that has it. */
struct sample {
    double *ns;
    size_t count;
};

struct serving_samples {
    struct sample ttft, tpot, queue, e2e;
};

static void sample_add(struct sample *sample, int64_t ns)
{
    sample->ns[sample->count++] = (double)ns;
}

static bool samples_create(struct serving_samples *samples, size_t count, struct error *why)
{
    struct sample *all[] = {&samples->ttft, &samples->tpot, &samples->queue, &samples->e2e};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if ((all[i]->ns = array_zeroed(count, sizeof *all[i]->ns, why)) == NULL) {
            return false;
        }
    }
    return true;
}

static void samples_release(struct serving_samples *samples)
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

struct serving_tokens {
    uint64_t found[PREFIX_MOST_TIERS], computed, output, preemptions, too_long, good;
    uint64_t counted; /* requests: neither left out nor for warming */
    int64_t since_ns; /* arrival of the first of them */
};

static void read_served(const struct point *point, const struct requests *requests,
                        const struct served *all, struct serving_samples *samples,
                        struct serving_tokens *tokens)
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
static void write_sample(struct sample *sample, const struct column *mean, const struct column *p50,
                         const struct column *p90, const struct column *p99, struct result *result)
{
    const struct column *columns[] = {p50, p90, p99};
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

/* Drives wear by what is written to them. */
static void write_wear(const struct point *point, int64_t end_ns, struct result *result)
{
    const struct profile *profile = &point->setup.profile;
    const struct cell *written = result_cell(result, COLUMN(prefix_disk_written_bytes));
    struct trust unseen = {.basis = BASIS_MEASURED};
    if (!written->set || end_ns <= 0) {
        return;
    }
    double days = (double)end_ns / 86400e9;
    double day = (double)written->integer / (double)point->workload.replicas / days;
    result_integer(result, COLUMN(prefix_disk_day_bytes), llround(day));
    if (profile_states(profile, CURVE_DISK_CAPACITY)) {
        double capacity = profile_value(profile, CURVE_DISK_CAPACITY, 0, &unseen);
        result_real(result, COLUMN(prefix_disk_drive_writes), day / capacity);
    }
}

static void write_gaps(const struct gaps *gaps, struct result *result)
{
    if (gaps->count == 0) {
        return;
    }
    result_integer(result, COLUMN(itl_ms), llround(gaps->sum_ns / (double)gaps->count));
    result_integer(result, COLUMN(itl_p50_ms), llround(gaps_quantile_ns(gaps, 0.5)));
    result_integer(result, COLUMN(itl_p90_ms), llround(gaps_quantile_ns(gaps, 0.9)));
    result_integer(result, COLUMN(itl_p99_ms), llround(gaps_quantile_ns(gaps, 0.99)));
}

static void serving_times_write_rates(const struct point *point,
                                      const struct serving_tokens *tokens,
                                      const struct serving_totals *totals, struct result *result)
{
    const struct workload *workload = &point->workload;
    double seconds = (double)(totals->end_ns - tokens->since_ns) / 1e9;
    double gpus = (double)(workload->replicas * model_gpus(&point->setup.model));
    if (seconds <= 0) {
        return;
    }
    double rate = (double)tokens->output / seconds;
    result_real(result, COLUMN(decode_tokens_per_s), rate);
    result_real(result, COLUMN(tokens_per_s_per_gpu), rate / gpus);
    price_write(&point->setup.profile, result);
    result_real(result, COLUMN(gpu_busy_share),
                (double)totals->busy_ns / ((double)totals->end_ns * (double)point_servers(point)));
    if (workload->slo_ttft_ns > 0 || workload->slo_tpot_ns > 0) {
        result_real(result, COLUMN(goodput), (double)tokens->good / seconds);
    }
}

static bool write_arrivals(const struct point *point, const struct requests *requests,
                           const struct served *all, const struct serving_totals *totals,
                           const struct serving_tokens *tokens, struct result *result,
                           struct error *why)
{
    int64_t taken_ns = totals->end_ns - tokens->since_ns;
    if (point->setup.mechanisms.residency == RESIDENCY_PRESSURE) {
        result_real(result, COLUMN(resident_share), totals->resident_share);
    }
    if (taken_ns > 0) {
        result_real(result, COLUMN(requests_out_per_s),
                    (double)tokens->counted * 1e9 / (double)taken_ns);
    }
    return serving_write_load(point, requests, all, result, why);
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
    result_integer(result, COLUMN(extrapolated), trust.extrapolated);
    return result_text(result, COLUMN(basis), basis_name(trust.basis), why) &&
           (!traced ||
            (result_text(result, COLUMN(trace_basis), basis_name(totals->trace_basis), why) &&
             result_text(result, COLUMN(trace_source), totals->trace_source, why)));
}

bool serving_write_times(const struct point *point, const struct serving_memory *memory,
                         const struct requests *requests, const struct served *served,
                         const struct serving_totals *totals, struct result *result,
                         struct error *why)
{
    struct serving_samples samples = {.ttft = {.ns = NULL}};
    struct serving_tokens tokens = {.computed = 0};
    if (!samples_create(&samples, requests->count, why)) {
        samples_release(&samples);
        return false;
    }
    read_served(point, requests, served, &samples, &tokens);
    write_sample(&samples.ttft, COLUMN(ttft_ms), COLUMN(ttft_p50_ms), COLUMN(ttft_p90_ms),
                 COLUMN(ttft_p99_ms), result);
    write_sample(&samples.queue, COLUMN(queue_ms), COLUMN(queue_p50_ms), COLUMN(queue_p90_ms),
                 COLUMN(queue_p99_ms), result);
    write_sample(&samples.e2e, COLUMN(e2e_ms), COLUMN(e2e_p50_ms), COLUMN(e2e_p90_ms),
                 COLUMN(e2e_p99_ms), result);
    write_sample(&samples.tpot, COLUMN(tpot_ms), COLUMN(tpot_p50_ms), COLUMN(tpot_p90_ms),
                 COLUMN(tpot_p99_ms), result);
    samples_release(&samples);
    write_gaps(&totals->gaps, result);
    serving_write_prefixes(point, memory, tokens.found, tokens.computed, totals->moved, result);
    write_wear(point, totals->end_ns, result);
    serving_times_write_rates(point, &tokens, totals, result);
    result_integer(result, COLUMN(kv_blocks), (int64_t)totals->blocks);
    result_integer(result, COLUMN(preemptions), (int64_t)tokens.preemptions);
    serving_add_left_out(tokens.too_long, result);
    return write_arrivals(point, requests, served, totals, &tokens, result, why) &&
           serving_write_detail(point, requests, served, &totals->series, totals->end_ns, result,
                                why) &&
           write_trust(totals, result, why) && result_text(result, COLUMN(status), "ok", why);
}
