/* The resources, which tasks queue for, and the channels, which flows share. */
#include "decode/time/machine.h"

#include "decode/cost/cost.h"
#include "decode/time/fetch.h"
#include "decode/time/work.h"
#include "model/parallel.h"
#include "machine/places.h"

#include <math.h>

static const char *const resource_names[PIPE_RESOURCE_COUNT] = {
    [PIPE_LAUNCH] = "launch thread", [PIPE_MAIN] = "main stream", [PIPE_SIDE] = "side stream",
    [PIPE_IN] = "copy to GPU",       [PIPE_OUT] = "copy to host", [PIPE_POOL] = "CPU pool",
    [PIPE_STORES] = "CPU stores",    [PIPE_READ] = "disk reads",  [PIPE_WRITE] = "disk writes",
};

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

enum { GPU, HOST, DISK }; /* the places of a server */

/* The GPU's place, and the host's if something crosses: the curves of its link may be unknown. GPUs
 * below one uplink share that and DRAM, and all do the same at the same time; all GPUs of the server
 * share its drives. */
static struct places find_places(struct pipe *pipe, bool crosses)
{
    struct trust *trust = &pipe->channel_trust;
    struct places places = {.count = 0};
    if (crosses) {
        struct place_servers server = {.profile = &pipe->setup->profile, .bandwidths = true};
        server.count = server.gpus = 1;
        server.sharers = cost_uplink_sharers(pipe->setup, trust);
        places_add_servers(&places, &server, trust);
        if (mechanisms_use_disk(pipe->mechanisms)) {
            const struct place_link link =
                place_link_of(&pipe->setup->profile, WAY_DISK_IN, DISK_PIECE,
                              model_gpus(&pipe->setup->model), trust);
            places_join(&places, places_add(&places, TIER_DISK, 0), HOST, &link);
        }
    } else {
        places_add(&places, TIER_GPU, pipe_figure(pipe, CURVE_GPU_HBM_BANDWIDTH, 0, trust));
    }
    return places;
}

/* What moves between the GPU and its host, the places of a server. `sm` is what kernels use. */
static void route_copies(const struct pipe *pipe, const struct places *places, struct engine_use sm,
                         struct engine_route *routes)
{
    uint32_t dram = (uint32_t)places->all[HOST].channel;
    routes[ROUTE_COPY_IN] = routes[ROUTE_ZERO_COPY] = places_route(places, HOST, GPU, true);
    routes[ROUTE_ZERO_COPY].uses[routes[ROUTE_ZERO_COPY].count++] =
        (struct engine_use){sm.channel, zero_copy_share(pipe), ENGINE_WITHHELD};
    routes[ROUTE_IN_PLACE] = places_route(places, HOST, GPU, false);
    routes[ROUTE_IN_PLACE].uses[routes[ROUTE_IN_PLACE].count++] =
        (struct engine_use){dram, 1, ENGINE_PER_UNIT};
    routes[ROUTE_COPY_OUT] = places_route(places, GPU, HOST, true);
    routes[ROUTE_GATHER] = (struct engine_route){{{dram, 2, ENGINE_PER_UNIT}}, 1};
    if (mechanisms_use_disk(pipe->mechanisms)) {
        routes[ROUTE_DISK_READ] = places_route(places, DISK, HOST, true);
        routes[ROUTE_DISK_WRITE] = places_route(places, HOST, DISK, true);
    }
    routes[ROUTE_CPU_READ] = (struct engine_route){{{dram, 1, ENGINE_PER_UNIT}}, 1};
}

static bool add_routes(struct pipe *pipe, struct error *why)
{
    bool crosses = pipe->ledger != NULL || pipe->mechanisms->weights < 1;
    struct places places = find_places(pipe, crosses);
    struct engine_route routes[ROUTE_COUNT] = {0};
    const struct engine_use hbm = {(uint32_t)places.all[0].channel, 1, ENGINE_PER_UNIT};
    const struct engine_use sm = {places_add_channel(&places, "SM", 1e9), 1, ENGINE_AT_CAP};
    routes[ROUTE_KERNEL] = (struct engine_route){{hbm, sm}, 2};
    if (crosses) {
        route_copies(pipe, &places, sm, routes);
    }
    bool ok = true;
    for (int i = 0; ok && i < places.channel_count; i++) {
        ok = engine_channel_add(pipe->engine, places.channels[i].name,
                                places.channels[i].rate / 1e9, why) != ENGINE_NONE;
    }
    for (int i = 0; ok && i < ROUTE_COUNT; i++) {
        pipe->route[i] = engine_route_add(pipe->engine, &routes[i], why);
        ok = pipe->route[i] != ENGINE_NONE;
    }
    return ok;
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
