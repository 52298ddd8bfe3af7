#include "predict/server/serving_tiers.h"

#include "model/parallel.h"
#include "machine/places.h"
#include "predict/server/serving_memory.h"

#include <math.h>

struct serving_tiers serving_tiers(const struct mechanisms *m)
{
    struct serving_tiers tiers = {1, {TIER_GPU, TIER_HOST}};
    if (m->prefix == PREFIX_TWO_TIER) {
        tiers.count++;
    }
    for (enum tier_id tier = TIER_HOST + 1; tier < TIER_COUNT; tier++) {
        if (m->prefix_below[tier] != PREFIX_BELOW_NONE) {
            tiers.of[tiers.count++] = tier;
        }
    }
    return tiers;
}

/* ---- room -------------------------------------------------------------------------------- */

/* Ranks that share nothing divide what a machine has for itself. */
uint64_t serving_tiers_room(const struct point *point, enum tier_id tier)
{
    const struct setup *setup = &point->setup;
    const struct tier_kind *kind = &tier_kinds[tier];
    struct trust unseen = {.basis = BASIS_MEASURED};
    uint64_t said = setup->room[tier];
    uint64_t ranks = point_servers(point) / point->workload.replicas;
    uint64_t all =
        said > 0 ? said : (uint64_t)profile_value(&setup->profile, kind->capacity, 0, &unseen);
    return kind->shared == SHARED_BY_SERVERS ? all : all / ranks;
}

bool serving_tiers_shared(const struct point *point)
{
    const struct serving_tiers tiers = serving_tiers(&point->setup.mechanisms);
    enum tier_id last = tiers.of[tiers.count - 1];
    return tier_kinds[last].shared == SHARED_BY_SERVERS && point_servers(point) > 1;
}

/* ---- ways -------------------------------------------------------------------------------- */

/* Bytes of a file or object, which each GPU has for itself: a prompt lies with one rank. */
static double unit_bytes(const struct point *point)
{
    const struct mechanisms *m = &point->setup.mechanisms;
    const struct model *model = &point->setup.model;
    uint64_t tokens = m->prefix_unit > 0 ? m->prefix_unit : m->prefix_block;
    uint32_t gpus = model->tensor_parallel * model->parallel.pipeline;
    return (double)(tokens * serving_token_bytes(&point->setup)) / gpus;
}

/* The way between host memory and a tier below it, as one GPU of several has it. Servers use what
 * they share all at the same time. */
static struct place_link lower_link(const struct point *point, enum tier_id tier,
                                    struct trust *trust)
{
    const struct profile *profile = &point->setup.profile;
    const struct tier_kind *kind = &tier_kinds[tier];
    double bytes = unit_bytes(point), gpus = model_gpus(&point->setup.model);
    struct place_link link =
        place_link_of(profile, way_between(tier, TIER_HOST), bytes, gpus, trust);
    uint32_t reads = (uint32_t)fmin(1e9, (double)point->setup.mechanisms.prefix_reads);
    link.there = drive_read_rate(profile, tier, bytes, reads, trust) / gpus;
    if (kind->bandwidth != CURVE_COUNT && profile_states(profile, kind->bandwidth)) {
        double all = profile_value(profile, kind->bandwidth, bytes, trust);
        uint64_t servers = kind->shared == SHARED_BY_SERVERS ? point->workload.replicas : 1;
        link.both = all / (double)servers / gpus;
    }
    return link;
}

bool serving_ways_init(struct serving_ways *ways, const struct point *point, double sharers,
                       struct trust *trust, struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct profile *profile = &setup->profile;
    const struct serving_tiers tiers = serving_tiers(&setup->mechanisms);
    const struct place_servers server = {profile, .count = 1, .gpus = 1, .sharers = sharers};
    int gpu = places_gpu(&server, 0, 0), host = places_host(&server, 0), above = host;
    struct places places = {.count = 0};
    struct engine_route routes[SERVER_FLOWS] = {{.count = 0}};
    places_add_servers(&places, &server, trust);
    bool linked = way_stated(profile, WAY_IN);
    double link_ns = linked ? way_start_ns(profile, WAY_IN, BY_ENGINE, trust) : 0;
    *ways = (struct serving_ways){.start_ns = {0}};
    routes[FLOW_FETCHED] = places_route(&places, host, gpu, false);
    for (uint32_t k = 1; k < tiers.count || k == 1; k++) {
        enum tier_id tier = tiers.of[k];
        int at = host;
        bool evicted = setup->mechanisms.prefix_below[tier] == PREFIX_BELOW_EVICT;
        if (tier == TIER_HOST) {
            ways->start_ns[k] = link_ns;
        } else {
            const struct place_link link = lower_link(point, tier, trust);
            at = places_add(&places, tier, 0);
            places_join(&places, at, host, &link);
            ways->first_ns[k] =
                link_ns + way_start_ns(profile, way_between(tier, TIER_HOST), BY_ENGINE, trust);
        }
        routes[flow_loaded(k)] = places_route(&places, at, gpu, false);
        routes[flow_saved(k)] = places_route(&places,
                                             k == 1    ? gpu
                                             : evicted ? above
                                                       : host,
                                             at, false);
        above = at;
    }
    return way_shares_init(&ways->shares, &places, routes, SERVER_FLOWS, why);
}

void serving_ways_release(struct serving_ways *ways)
{
    way_shares_release(&ways->shares);
}
