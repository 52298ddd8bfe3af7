/* Requests are routed first, then each server runs alone: a router that looks at beginnings knows
 * what it has sent where, not what a server still holds. */
#include "study/serving.h"

#include "base/array.h"
#include "serve/arrivals.h"
#include "serve/prefix_replay.h"
#include "study/serving_outcome.h"
#include "study/step_cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct serving {
    const struct setup *setup;
    struct requests requests;
    struct prefix_options prefix;
    uint64_t pool_tokens;
    uint32_t sequences; /* of a step at most */
    uint32_t *server_of; /* by request */
    uint32_t *indices;   /* of one server's requests */
    struct served *served;
};

/* ---- memory ---------------------------------------------------------------------------- */

/* Tokens that sequences can hold together. Where all KV stays in HBM it is what other uses leave
 * there; else it is as many sequences of the mean length as fit. */
static uint64_t pool_tokens(const struct setup *setup, const struct plan *plan)
{
    if (mechanisms_offload(&setup->mechanisms)) {
        return (uint64_t)plan->max_batch * setup->context;
    }
    uint64_t others = plan->memory.hbm - plan->memory.resident;
    double token = (double)plan->memory.resident / ((double)plan->batch * (double)setup->context);
    return plan->hbm_limit > others ? (uint64_t)((double)(plan->hbm_limit - others) / token) : 0;
}

/* Bytes of a token's KV, on all GPUs. */
static uint64_t token_bytes(const struct setup *setup)
{
    uint64_t bytes = 0;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        bytes += model_kv_token_bytes(&setup->model, layer);
    }
    return bytes * setup->model.tensor_parallel;
}

static bool read_memory(struct serving *serving, uint32_t threads, struct shared *shared,
                        struct error *why)
{
    const struct mechanisms *m = &serving->setup->mechanisms;
    struct setup setup = *serving->setup;
    struct plan plan;
    if (m->budget.rest) {
        error_usage(why, NULL, 0, "a server's sequences take the rest of HBM: no cache can");
        return error_expect(why, "mechanisms.budget as a size, a share or tokens");
    }
    setup.batch = (uint32_t)setup.workload.sequences;
    if (!run_plan(&setup, threads, shared, &plan, why)) {
        return false;
    }
    serving->pool_tokens = pool_tokens(&setup, &plan);
    bool fewer = mechanisms_offload(m) && plan.max_batch < setup.batch;
    serving->sequences = fewer ? plan.max_batch : setup.batch;
    uint64_t host = plan.dram_limit > plan.memory.dram && !mechanisms_offload(m)
                        ? plan.dram_limit - plan.memory.dram
                        : 0;
    serving->prefix = (struct prefix_options){
        .block_tokens = (uint32_t)m->prefix_block,
        .gpu_keeps = m->prefix != PREFIX_NONE,
        .has_host = m->prefix == PREFIX_TWO_TIER,
        .gpu_blocks = serving->pool_tokens / m->prefix_block,
        .host_blocks = host / (token_bytes(&setup) * m->prefix_block),
        .write = (enum prefix_write)m->prefix_write,
        .seed = setup.seed,
    };
    plan_release(&plan);
    if (serving->prefix.gpu_blocks == 0) {
        return error_set(why, NULL, 0, "no HBM is left for KV beside the weights");
    }
    if (serving->prefix.has_host && serving->prefix.host_blocks == 0) {
        return error_set(why, NULL, 0, "host memory is smaller than a block of the prefix cache");
    }
    const char *policy = prefix_evictions[m->prefix_eviction];
    bool evicts = m->prefix_eviction > 0;
    serving->prefix.host_policy = evicts ? policy_find(policy, NULL, 0, why) : NULL;
    return !evicts || serving->prefix.host_policy != NULL;
}

/* ---- requests -------------------------------------------------------------------------- */

static bool read_requests(struct serving *serving, struct error *why)
{
    const struct workload *workload = &serving->setup->workload;
    struct complaints complaints = {.count = 0};
    uint64_t content;
    if (!requests_read(workload->path, workload->limit, &serving->requests, &complaints, why) ||
        !requests_hash(workload->path, &content, why)) {
        return false;
    }
    if (content != workload->content) { /* what runs is stored under that hash */
        return error_set(why, workload->path, 0, "has changed since the scenario was read");
    }
    if (workload->rate > 0 && !arrivals_draw(&serving->requests, workload->rate,
                                             workload->burstiness, serving->setup->seed, why)) {
        return false;
    }
    return requests_stretch(&serving->requests, workload->time_scale, why);
}

/* To the server that was sent the longest beginning of the prompt; of several, and where nobody
 * was, to the one with fewest requests. */
static bool route_by_prefix(struct serving *serving, struct error *why)
{
    const struct requests *requests = &serving->requests;
    uint32_t servers = (uint32_t)serving->setup->workload.replicas;
    uint32_t *last = array_zeroed(requests->ids.count, sizeof *last, why); /* server + 1 */
    uint32_t *sent = array_zeroed(servers, sizeof *sent, why);
    for (size_t i = 0; last != NULL && sent != NULL && i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        const uint32_t *chunks = &requests->chunks[request->first_chunk];
        uint32_t server = 0;
        for (uint32_t s = 1; s < servers; s++) {
            server = sent[s] < sent[server] ? s : server;
        }
        for (uint32_t c = 0; c < request->chunks && last[chunks[c]] > 0; c++) {
            server = last[chunks[c]] - 1;
        }
        for (uint32_t c = 0; c < request->chunks; c++) {
            last[chunks[c]] = server + 1;
        }
        sent[server]++;
        serving->server_of[i] = server;
    }
    bool ok = last != NULL && sent != NULL;
    free(last);
    free(sent);
    return ok;
}

static bool route(struct serving *serving, struct error *why)
{
    const struct workload *workload = &serving->setup->workload;
    size_t count = serving->requests.count;
    serving->server_of = array_zeroed(count, sizeof *serving->server_of, why);
    serving->indices = array_zeroed(count, sizeof *serving->indices, why);
    serving->served = array_zeroed(count, sizeof *serving->served, why);
    if (serving->server_of == NULL || serving->indices == NULL || serving->served == NULL) {
        return false;
    }
    if (workload->routing == ROUTE_PREFIX) {
        return route_by_prefix(serving, why);
    }
    for (size_t i = 0; i < count; i++) {
        serving->server_of[i] = (uint32_t)(i % workload->replicas);
    }
    return true;
}

/* The requests of a server, in order of arrival. */
static uint32_t select_requests(struct serving *serving, uint32_t server)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        if (serving->server_of[i] == server) {
            serving->indices[count++] = i;
        }
    }
    return count;
}

/* ---- runs ------------------------------------------------------------------------------ */

static bool replay_all(struct serving *serving, struct prefix_totals *totals, struct error *why)
{
    *totals = (struct prefix_totals){.requests = 0};
    for (uint32_t server = 0; server < serving->setup->workload.replicas; server++) {
        uint32_t count = select_requests(serving, server);
        if (!prefix_replay(&serving->prefix, &serving->requests, serving->indices, count, totals,
                           why)) {
            return false;
        }
    }
    return true;
}

static bool serve_one(struct serving *serving, uint32_t server, const struct step_clock *clock,
                      struct serving_totals *all, struct error *why)
{
    const struct setup *setup = serving->setup;
    const struct server_options options = {
        .sequences = serving->sequences,
        .batched_tokens = (uint32_t)setup->workload.batched_tokens,
        .clients = (uint32_t)((setup->workload.clients + setup->workload.replicas - 1 - server) /
                              setup->workload.replicas),
        .load_token_bytes = token_bytes(setup) / setup->model.tensor_parallel,
        .series = &all->series,
    };
    struct server_totals totals;
    uint32_t count = select_requests(serving, server);
    struct prefix_cache *cache = prefix_cache_create(&serving->prefix, &serving->requests, why);
    if (cache == NULL) {
        return false;
    }
    bool ok = server_run(&options, clock, &serving->requests, serving->indices, count, cache,
                         serving->served, &totals, why);
    all->blocks += serving->prefix.gpu_blocks;
    all->loaded_blocks += prefix_counts(cache).loaded;
    all->busy_ns += totals.busy_ns;
    all->end_ns = totals.end_ns > all->end_ns ? totals.end_ns : all->end_ns;
    prefix_cache_destroy(cache);
    return ok;
}

static bool serve_all(struct serving *serving, uint32_t threads, struct shared *shared,
                      struct serving_totals *totals, struct error *why)
{
    struct step_cost *cost =
        step_cost_create(serving->setup, serving->sequences, serving->pool_tokens, threads, shared,
                         why);
    if (cost == NULL) {
        return false;
    }
    struct step_clock clock = step_cost_clock(cost);
    bool ok = true;
    for (uint32_t server = 0; ok && server < serving->setup->workload.replicas; server++) {
        ok = serve_one(serving, server, &clock, totals, why);
    }
    totals->trust = step_cost_trust(cost, totals->loaded_blocks > 0);
    step_cost_basis(cost, totals->basis);
    snprintf(totals->trace_source, sizeof totals->trace_source, "%s",
             step_cost_trace(cost, &totals->trace_basis));
    step_cost_destroy(cost);
    return ok;
}

static bool run(struct serving *serving, uint32_t threads, struct shared *shared,
                struct result *result, struct error *why)
{
    struct prefix_bound bound;
    struct prefix_totals found;
    struct serving_totals totals;
    if (!read_requests(serving, why) || !read_memory(serving, threads, shared, why) ||
        !route(serving, why) || !prefix_bound(&serving->requests, &bound, why)) {
        return false;
    }
    serving_write_requests(serving->setup, &serving->requests, &bound, result);
    if (!serving->setup->workload.timed) {
        if (!replay_all(serving, &found, why)) {
            return false;
        }
        serving_write_found(&found, result);
        return result_text(result, COLUMN_STATUS, "ok", why);
    }
    totals = (struct serving_totals){.loaded_blocks = 0};
    bool ok = series_init(&totals.series, why) &&
              serve_all(serving, threads, shared, &totals, why) &&
              serving_write_times(serving->setup, &serving->requests, serving->served, &totals,
                                  result, why);
    series_release(&totals.series);
    return ok;
}

bool serving_run(const struct setup *setup, uint32_t threads, struct shared *shared,
                 struct result *result, struct error *why)
{
    struct serving serving = {.setup = setup};
    bool ok = run(&serving, threads, shared, result, why);
    requests_release(&serving.requests);
    free(serving.server_of);
    free(serving.indices);
    free(serving.served);
    return ok;
}
