/* The resources, which tasks queue for, and the channels, which flows share. */
#include "decode/time/machine.h"

#include "decode/time/fetch.h"
#include "decode/time/work.h"

#include <math.h>

static const char *const resource_names[PIPE_RESOURCE_COUNT] = {
    [PIPE_LAUNCH] = "launch thread", [PIPE_MAIN] = "main stream", [PIPE_SIDE] = "side stream",
    [PIPE_H2D] = "copy to GPU",      [PIPE_D2H] = "copy to host", [PIPE_POOL] = "CPU pool",
    [PIPE_STORES] = "CPU stores",
};

/* Add a channel. Only those that the setup uses are added: the curves of others may be unknown. */
static bool add_channel(struct pipe *pipe, const char *name, enum curve_id curve, double share,
                        uint32_t *channel, struct error *why)
{
    double rate = pipe_figure(pipe, curve, 0, &pipe->channel_trust);
    *channel = engine_channel_add(pipe->engine, name, rate / share / 1e9, why);
    return *channel != ENGINE_NONE;
}

/* A bound of the model, not a figure of a machine: beside a zero-copy kernel of any size, other
 * kernels get a tenth of the SMs, and so end. */
#define MOST_WITHHELD 0.9

/* The share of the SMs that the loads of a zero-copy kernel occupy. If the kernel also copies hits,
 * those of its CTAs that fit at once are loads in the same proportion as all of them. */
static double zero_copy_share(const struct pipe *pipe)
{
    const struct setup *setup = pipe->setup;
    const struct mechanisms *m = &setup->mechanisms;
    struct trust trust = work_trust;
    double ctas = fetch_mean_missed_ctas(pipe);
    double threads =
        ctas * pipe->plan->kv_heads * pipe->plan->batch * (double)m->transfer_cta_threads;
    double most = fmin(MOST_WITHHELD, ctas / (double)m->transfer_ctas);
    double sms = profile_value(&setup->profile, CURVE_GPU_SMS, 0, &trust);
    double sm_threads = profile_value(&setup->profile, CURVE_GPU_SM_THREADS, 0, &trust);
    return fmin(most, threads / (sms * sm_threads));
}

/* The channels and routes of the link and of DRAM. GPUs below one uplink share both, and all do the
 * same at the same time. */
static bool add_link(struct pipe *pipe, struct engine_use hbm, struct engine_use *some_sm,
                     struct engine_route *routes, struct error *why)
{
    double share = cost_uplink_sharers(pipe->setup, &pipe->channel_trust);
    uint32_t dram, in, out, both;
    if (!add_channel(pipe, "DRAM", CURVE_HOST_DRAM_BANDWIDTH, share, &dram, why) ||
        !add_channel(pipe, "link to GPU", CURVE_LINK_H2D, share, &in, why) ||
        !add_channel(pipe, "link to host", CURVE_LINK_D2H, share, &out, why) ||
        !add_channel(pipe, "link", CURVE_LINK_DUPLEX, share, &both, why)) {
        return false;
    }
    const struct engine_use memory = {dram, 1, ENGINE_PER_UNIT};
    const struct engine_use twice = {dram, 2, ENGINE_PER_UNIT};
    const struct engine_use way_in = {in, 1, ENGINE_PER_UNIT};
    const struct engine_use way_out = {out, 1, ENGINE_PER_UNIT};
    const struct engine_use either = {both, 1, ENGINE_PER_UNIT};
    some_sm->weight = zero_copy_share(pipe);
    some_sm->kind = ENGINE_WITHHELD;
    routes[ROUTE_ZERO_COPY] = (struct engine_route){{way_in, either, memory, hbm, *some_sm}, 5};
    routes[ROUTE_COPY_IN] = (struct engine_route){{way_in, either, memory, hbm}, 4};
    routes[ROUTE_COPY_OUT] = (struct engine_route){{way_out, either, memory, hbm}, 4};
    routes[ROUTE_GATHER] = (struct engine_route){{twice}, 1};
    routes[ROUTE_CPU_READ] = (struct engine_route){{memory}, 1};
    return true;
}

static bool add_routes(struct pipe *pipe, struct error *why)
{
    struct engine_route routes[ROUTE_COUNT] = {0};
    struct engine_use hbm = {0, 1, ENGINE_PER_UNIT}, sm = {0, 1, ENGINE_AT_CAP};
    if (!add_channel(pipe, "HBM", CURVE_GPU_HBM_BANDWIDTH, 1, &hbm.channel, why)) {
        return false;
    }
    sm.channel = engine_channel_add(pipe->engine, "SM", 1, why);
    if (sm.channel == ENGINE_NONE) {
        return false;
    }
    routes[ROUTE_KERNEL] = (struct engine_route){{hbm, sm}, 2};
    if ((pipe->ledger != NULL || pipe->mechanisms->weights < 1) &&
        !add_link(pipe, hbm, &sm, routes, why)) {
        return false;
    }
    for (int i = 0; i < ROUTE_COUNT; i++) {
        pipe->route[i] = engine_route_add(pipe->engine, &routes[i], why);
        if (pipe->route[i] == ENGINE_NONE) {
            return false;
        }
    }
    return true;
}

bool machine_add(struct pipe *pipe, struct error *why)
{
    pipe->engine = engine_create(why);
    if (pipe->engine == NULL || !add_routes(pipe, why)) {
        return false;
    }
    pipe->resource[PIPE_NO_QUEUE] = ENGINE_NONE;
    for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
        pipe->resource[i] = engine_resource_add(pipe->engine, resource_names[i], 1, why);
        if (pipe->resource[i] == ENGINE_NONE) {
            return false;
        }
    }
    return true;
}
