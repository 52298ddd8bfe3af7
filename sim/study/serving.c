/* Requests are routed first, then each server runs alone. */
#include "study/serving.h"

#include "base/array.h"
#include "serve/arrivals.h"
#include "serve/router.h"
#include "study/serving_outcome.h"
#include "study/serving_replay.h"
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
    struct router router;
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

static bool route(struct serving *serving, struct error *why)
{
    const struct workload *workload = &serving->setup->workload;
    size_t count = serving->requests.count;
    serving->served = array_zeroed(count, sizeof *serving->served, why);
    return serving->served != NULL &&
           router_init(&serving->router, &serving->requests, (uint32_t)workload->replicas,
                       workload->routing == ROUTE_PREFIX, why);
}

/* ---- runs ------------------------------------------------------------------------------ */

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
    uint32_t count = router_select(&serving->router, server);
    struct prefix_cache *cache = prefix_cache_create(&serving->prefix, &serving->requests, why);
    if (cache == NULL) {
        return false;
    }
    bool ok = server_run(&options, clock, &serving->requests, serving->router.indices, count, cache,
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
        if (!serving_replay(serving->setup, &serving->prefix, &serving->requests, &serving->router,
                            shared, &found, why)) {
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
    router_release(&serving.router);
    free(serving.served);
    return ok;
}
