#include "predict/server/serving_replay.h"

#include "core/array.h"
#include "predict/server/serving_memory.h"
#include "predict/server/step_cost.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

/* A curve takes some 40 bytes for each block of all requests. What only it knows is then unknown. */
enum { MOST_BLOCKS = 1 << 24 };

/* The inputs for making a curve. */
struct serving_making {
    const struct prefix_options *prefix;
    const struct requests *requests;
    struct router *router;
};

static void *make_curve(void *context, struct error *why)
{
    struct serving_making *making = context;
    struct prefix_curve *curve = prefix_curve_create(making->prefix, making->requests, why);
    bool ok = curve != NULL;
    for (uint32_t server = 0; ok && server < making->router->servers; server++) {
        uint32_t count = router_select(making->router, server);
        ok = prefix_curve_add(curve, making->router->indices, count, why);
    }
    if (!ok) {
        prefix_curve_destroy(curve);
        return NULL;
    }
    return curve;
}

static void destroy_curve(void *curve)
{
    prefix_curve_destroy(curve);
}

static const struct shared_kind curve_kind = {make_curve, destroy_curve};

/* The key of a curve. It does not include the times of requests or the sizes of the lower tiers. */
static uint64_t curve_key(const struct point *point, const struct prefix_options *prefix,
                          const struct requests *requests)
{
    uint64_t blocks = requests_longest(requests) / prefix->block_tokens + 1;
    const struct workload *workload = &point->workload;
    const uint64_t numbers[] = {
        workload->content,
        workload->limit,
        workload->hash_tokens,
        point_servers(point),
        workload->request_tokens,
        prefix->compute_ns == NULL ? 0 : XXH64(prefix->compute_ns, blocks * sizeof(double), 0),
        (uint64_t)workload->routing,
        prefix->block_tokens,
        prefix->gpu_keeps,
        prefix->gpu_blocks,
        prefix->unit_blocks,
        prefix->lower[0].write,
        0x70726566697863ull /* kind of value */};
    return XXH64(numbers, sizeof numbers, 0);
}

static bool replay_each(const struct prefix_options *prefix, const struct requests *requests,
                        struct router *router, struct prefix_totals *totals, struct error *why)
{
    *totals = (struct prefix_totals){.requests = 0};
    for (uint32_t server = 0; server < router->servers; server++) {
        uint32_t count = router_select(router, server);
        if (!prefix_replay(prefix, requests, router->indices, count, totals, why)) {
            return false;
        }
    }
    return true;
}

static bool replay_sizes(const struct point *point, const struct prefix_options *prefix,
                         const struct requests *requests, struct router *router,
                         struct shared *shared, struct prefix_totals *totals, struct error *why)
{
    if (serving_tiers_shared(point)) {
        *totals = (struct prefix_totals){.requests = 0};
        return prefix_replay_shared(prefix, requests, router->server_of, router->servers, totals,
                                    why);
    }
    uint64_t tokens = 0;
    for (size_t i = 0; i < requests->count; i++) {
        tokens += request_tokens(&requests->all[i]);
    }
    if (!prefix_curve_applies(prefix) || tokens / prefix->block_tokens > MOST_BLOCKS) {
        return replay_each(prefix, requests, router, totals, why);
    }
    struct serving_making making = {prefix, requests, router};
    struct shared_entry *entry;
    const struct prefix_curve *curve =
        shared_get(shared, &curve_kind, curve_key(point, prefix, requests), &making, &entry, why);
    bool ok = curve != NULL, known = ok;
    uint64_t most = 0;
    for (uint32_t k = 0; k < prefix->lower_count; k++) {
        known = known && prefix->lower[k].blocks >= prefix_curve_least(curve);
        most = prefix->lower[k].blocks > most ? prefix->lower[k].blocks : most;
    }
    if (known) {
        *totals = prefix_curve_read(curve, prefix);
        totals->best_known = ok = prefix_curve_best(curve, most, &totals->best_tokens, why);
    }
    shared_release(shared, entry);
    return ok && (known || replay_each(prefix, requests, router, totals, why));
}

bool serving_replay(const struct point *point, const struct prefix_options *prefix,
                    const struct requests *requests, struct router *router,
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
    bool ok = replay_sizes(point, &with, requests, router, context->shared, totals, why);
    free(compute_ns);
    return ok;
}

/* The time in which a GPU loads a block of each tier: its share of a unit's time, and its
 * bytes. A prompt lies with one rank: ranks that share experts do not share its KV. A load's first
 * latency is left out: one load brings many blocks. */
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
    const struct mechanisms *m = &point->setup.mechanisms;
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
