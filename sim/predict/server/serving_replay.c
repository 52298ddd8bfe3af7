#include "predict/server/serving_replay.h"

#include "predict/server/serving_memory.h"
#include "predict/server/step_cost.h"

#include <math.h>
#include <stdlib.h>

bool serving_replay(const struct point *point, const struct prefix_options *prefix,
                    const struct requests *requests, const struct router *router,
                    const struct run_context *context, struct prefix_totals *totals,
                    struct error *why)
{
    struct prefix_options with = *prefix;
    double *compute_ns = NULL;
    with.stop = context->stop;
    if (host_worth_known(point) &&
        (compute_ns = host_worth_find(point, &with, requests, context, why)) == NULL) {
        return false;
    }
    *totals = (struct prefix_totals){.requests = 0};
    bool shared = serving_tiers_shared(point), ok = true;
    uint32_t at_once = shared ? router->servers : 1; /* a cache is large */
    for (uint32_t first = 0; ok && first < router->servers; first += at_once) {
        ok = prefix_replay(&with, requests, router->server_of, first, at_once, shared, totals, why);
    }
    free(compute_ns);
    return ok;
}

/* The time in which a GPU loads a block of each tier: its share of a unit's time, and its bytes, without the
 * first latency. Ranks that share experts do not share a prompt's KV. */
static void find_load_ns(const struct point *point, const struct step_clock *clock,
                         struct prefix_options *prefix)
{
    const struct setup *setup = &point->setup;
    const struct model *model = &setup->model;
    uint32_t unit = prefix->unit_blocks > 0 ? prefix->unit_blocks : 1;
    uint32_t gpus = model->tensor_parallel * model->parallel.pipeline;
    double bytes = (double)serving_token_bytes(setup) / gpus * prefix->block_tokens;
    for (uint32_t k = 1; k <= prefix->lower_count; k++) {
        double most[SERVER_FLOWS] = {0}, rate[SERVER_FLOWS];
        most[flow_loaded(k)] = INFINITY;
        way_shares_find(clock->shares, most, rate);
        prefix->load_ns[k] = clock->load[k].unit / unit + bytes * 1e9 / rate[flow_loaded(k)];
        prefix->first_ns[k] = clock->load[k].copy;
    }
}

/* Fill compute[0 ... blocks]. */
static bool fill_compute_ns(const struct point *point, const struct prefix_options *prefix,
                            const struct step_clock *clock, uint64_t blocks, double *compute,
                            struct error *why)
{
    uint64_t chunk = point->workload.batched_tokens / prefix->block_tokens;
    chunk = chunk > 0 ? chunk : 1;
    compute[0] = 0;
    for (uint64_t first = 0; first < blocks; first += chunk) {
        /* The chunk is computed in a step of its own. */
        const struct step_chunk tokens = {first * prefix->block_tokens,
                                          (uint32_t)(chunk * prefix->block_tokens)};
        const struct step_load load = {.chunks = &tokens, .chunk_count = 1};
        struct step_time time;
        if (!clock->step(clock->context, &load, &time, why)) {
            return false;
        }
        double ns = (double)time.ns;
        for (uint64_t i = 1; i <= chunk && first + i <= blocks; i++) {
            compute[first + i] = compute[first] + (double)i * (ns / (double)chunk);
        }
    }
    return true;
}

bool host_worth_known(const struct point *point)
{
    const struct mechanisms *m = point->setup.mechanisms;
    return serving_tiers(m).count > 1 && !mechanisms_offload(m);
}

double *host_worth_find(const struct point *point, struct prefix_options *prefix,
                        const struct requests *requests, const struct run_context *context,
                        struct error *why)
{
    uint64_t longest = requests_longest(requests), blocks = longest / prefix->block_tokens;
    struct decode_range range = {1, longest, longest};
    double *compute = array_zeroed(blocks + 1, sizeof *compute, why);
    struct step_cost *cost = compute != NULL ? step_cost_create(point, &range, context, why) : NULL;
    bool ok = cost != NULL;
    if (ok) {
        struct step_clock clock = step_cost_clock(cost);
        find_load_ns(point, &clock, prefix);
        ok = fill_compute_ns(point, prefix, &clock, blocks, compute, why);
    }
    step_cost_destroy(cost);
    if (!ok) {
        free(compute);
        compute = NULL;
    }
    prefix->compute_ns = compute;
    return compute;
}
