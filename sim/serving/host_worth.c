#include "serving/host_worth.h"

#include "base/array.h"
#include "serving/serving_memory.h"
#include "serving/step_cost.h"

#include <math.h>
#include <stdlib.h>

/* The time of computing a prompt's tokens from `start` on, in a step of their own. */
static bool chunk_ns(const struct step_clock *clock, uint64_t start, uint64_t tokens, double *out,
                     struct error *why)
{
    const struct step_chunk chunk = {start, (uint32_t)tokens};
    const struct step_load load = {.chunks = &chunk, .chunk_count = 1};
    struct step_time time;
    bool ok = clock->step(clock->context, &load, &time, why);
    *out = ok ? (double)time.ns : 0;
    return ok;
}

/* The time in which a GPU loads a block: its share of a unit's transfers, and its bytes. */
static double block_load_ns(const struct point *point, const struct prefix_options *prefix,
                            const struct step_clock *clock)
{
    const struct setup *setup = &point->setup;
    uint32_t transfers = setup->mechanisms.prefix_contiguous ? 1 : setup->model.layer_count;
    uint32_t unit = prefix->unit_blocks > 0 ? prefix->unit_blocks : 1;
    uint64_t gpus = setup->model.tensor_parallel * (uint64_t)point_passes(point);
    double bytes = (double)serving_token_bytes(setup) / (double)gpus * prefix->block_tokens;
    double most[SERVER_FLOWS] = {[1] = 0}, rate[SERVER_FLOWS];
    most[flow_loaded(1)] = INFINITY;
    way_shares_find(clock->shares, most, rate);
    return clock->start_ns[1] * transfers / unit + bytes * 1e9 / rate[flow_loaded(1)];
}

/* Fill worth[0 ... blocks]. */
static bool worth_fill(const struct point *point, const struct prefix_options *prefix,
                       const struct step_clock *clock, uint64_t blocks, double *worth,
                       struct error *why)
{
    double load_ns = block_load_ns(point, prefix, clock);
    uint64_t chunk = point->workload.batched_tokens / prefix->block_tokens;
    chunk = chunk > 0 ? chunk : 1;
    worth[0] = 0;
    for (uint64_t first = 0; first < blocks; first += chunk) {
        double ns;
        if (!chunk_ns(clock, first * prefix->block_tokens, chunk * prefix->block_tokens, &ns,
                      why)) {
            return false;
        }
        for (uint64_t i = 1; i <= chunk && first + i <= blocks; i++) {
            worth[first + i] = worth[first] + (double)i * (ns / (double)chunk - load_ns);
        }
    }
    return true;
}

bool host_worth_known(const struct point *point)
{
    const struct mechanisms *m = &point->setup.mechanisms;
    return m->prefix == PREFIX_TWO_TIER && !mechanisms_offload(m);
}

double *host_worth_create(const struct point *point, const struct prefix_options *prefix,
                          const struct requests *requests, const struct run_context *context,
                          struct error *why)
{
    uint64_t longest = requests_longest(requests), blocks = longest / prefix->block_tokens;
    struct decode_range range = {1, longest, longest};
    double *worth = array_zeroed(blocks + 1, sizeof *worth, why);
    struct step_cost *cost = worth != NULL ? step_cost_create(point, &range, context, why) : NULL;
    bool ok = cost != NULL;
    if (ok) {
        struct step_clock clock = step_cost_clock(cost);
        ok = worth_fill(point, prefix, &clock, blocks, worth, why);
    }
    step_cost_destroy(cost);
    if (!ok) {
        free(worth);
        return NULL;
    }
    return worth;
}
