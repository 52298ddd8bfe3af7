/* Requests are routed first, then each server runs alone. */
#include "study/serving.h"

#include "base/array.h"
#include "serve/arrivals.h"
#include "serve/router.h"
#include "study/serving_memory.h"
#include "study/serving_outcome.h"
#include "study/serving_replay.h"
#include "study/step_cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct serving {
    const struct setup *setup;
    struct requests requests;
    struct serving_memory memory;
    struct router router;
    struct served *served;
};

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

static struct server_options server_options(const struct serving *serving, uint32_t server,
                                            struct serving_totals *all)
{
    const struct setup *setup = serving->setup;
    const struct workload *workload = &setup->workload;
    const struct mechanisms *m = &setup->mechanisms;
    const struct prefix_options *prefix = &serving->memory.prefix;
    uint32_t layers = setup->model.layer_count;
    return (struct server_options){
        .sequences = serving->memory.sequences,
        .batched_tokens = (uint32_t)workload->batched_tokens,
        .clients =
            (uint32_t)((workload->clients + workload->replicas - 1 - server) / workload->replicas),
        .token_bytes = serving_token_bytes(setup) / setup->model.tensor_parallel,
        .unit_tokens = prefix->unit_blocks * prefix->block_tokens,
        .unit_transfers = m->prefix_contiguous ? 1 : layers,
        .saves_cross = prefix->saves_wait,
        .written_bytes = serving->memory.written_bytes,
        .written_layers = layers,
        .layers = m->prefix_load == PREFIX_LOAD_LAYERS ? layers : 0,
        .swap_blocks = serving->memory.swap_blocks,
        .series = &all->series,
    };
}

static bool serve_one(struct serving *serving, uint32_t server, const struct step_clock *clock,
                      struct serving_totals *all, struct error *why)
{
    const struct server_options options = server_options(serving, server, all);
    struct server_totals totals;
    uint32_t count = router_select(&serving->router, server);
    struct prefix_cache *cache =
        prefix_cache_create(&serving->memory.prefix, &serving->requests, why);
    if (cache == NULL) {
        return false;
    }
    bool ok = server_run(&options, clock, &serving->requests, serving->router.indices, count, cache,
                         serving->served, &totals, why);
    all->blocks += serving->memory.prefix.gpu_blocks;
    struct prefix_counts blocks = prefix_counts(cache);
    all->crossed_blocks += blocks.loaded + totals.swapped_blocks +
                           (options.saves_cross ? blocks.saved : 0);
    all->busy_ns += totals.busy_ns;
    all->end_ns = totals.end_ns > all->end_ns ? totals.end_ns : all->end_ns;
    prefix_cache_destroy(cache);
    return ok;
}

/* Contexts of sequences that decode: from the first token that a prompt gives to the last one. */
static struct decode_range step_range(const struct serving *serving)
{
    struct decode_range range = {serving->memory.sequences, UINT64_MAX, 1};
    for (size_t i = 0; i < serving->requests.count; i++) {
        const struct request *request = &serving->requests.all[i];
        uint64_t first = (uint64_t)request->prompt + 1;
        uint64_t last = (uint64_t)request->prompt + request->output;
        range.least_context = first < range.least_context ? first : range.least_context;
        range.most_context = last > range.most_context ? last : range.most_context;
    }
    return range;
}

static bool serve_all(struct serving *serving, uint32_t threads, struct shared *shared,
                      struct serving_totals *totals, struct error *why)
{
    struct decode_range range = step_range(serving);
    struct step_cost *cost = step_cost_create(serving->setup, &range, threads, shared, why);
    if (cost == NULL) {
        return false;
    }
    struct step_clock clock = step_cost_clock(cost);
    bool ok = true;
    for (uint32_t server = 0; ok && server < serving->setup->workload.replicas; server++) {
        ok = serve_one(serving, server, &clock, totals, why);
    }
    totals->trust = step_cost_trust(cost, totals->crossed_blocks > 0 ||
                                                     serving->memory.written_bytes > 0);
    step_cost_basis(cost, totals->basis);
    snprintf(totals->trace_source, sizeof totals->trace_source, "%s",
             step_cost_trace(cost, &totals->trace_basis));
    step_cost_destroy(cost);
    return ok;
}

/* A server that is too small for every request has no answer. */
static bool check_fit(const struct serving *serving, struct error *why)
{
    const struct prefix_options *prefix = &serving->memory.prefix;
    uint64_t room = prefix->gpu_blocks * prefix->block_tokens, least = UINT64_MAX;
    for (size_t i = 0; i < serving->requests.count; i++) {
        uint64_t tokens = request_kept_tokens(&serving->requests.all[i]);
        least = tokens < least ? tokens : least;
    }
    if (least <= room) {
        return true;
    }
    error_set(why, NULL, 0, "no request fits the server's KV memory of %llu tokens",
              (unsigned long long)room);
    return error_expect(why, "room for %llu, which the shortest takes", (unsigned long long)least);
}

static bool run(struct serving *serving, uint32_t threads, struct shared *shared,
                struct result *result, struct error *why)
{
    struct prefix_bound bound;
    struct prefix_totals found;
    struct serving_totals totals;
    if (!read_requests(serving, why) ||
        !serving_memory_plan(serving->setup, threads, shared, &serving->memory, why) ||
        !check_fit(serving, why) ||
        !route(serving, why) || !prefix_bound(&serving->requests, &bound, why)) {
        return false;
    }
    serving_write_requests(serving->setup, &serving->requests, &bound, result);
    serving_note_pool(serving->setup, &serving->memory.prefix, result);
    if (!serving->setup->workload.timed) {
        if (!serving_replay(serving->setup, &serving->memory.prefix, &serving->requests,
                            &serving->router, shared, &found, why)) {
            return false;
        }
        serving_write_found(&found, result);
        return result_text(result, COLUMN_STATUS, "ok", why);
    }
    totals = (struct serving_totals){.crossed_blocks = 0};
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
