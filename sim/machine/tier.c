#include "machine/tier.h"

#include <math.h>
#include <string.h>

const struct tier_kind tier_kinds[TIER_COUNT] = {
    [TIER_GPU] = {"hbm", "HBM", NULL, SHARED_BY_NOBODY, CURVE_GPU_HBM_CAPACITY,
                  CURVE_GPU_HBM_BANDWIDTH, CURVE_COUNT},
    [TIER_HOST] = {"host", "host memory", "host_memory", SHARED_BY_GPUS, CURVE_HOST_DRAM_CAPACITY,
                   CURVE_HOST_DRAM_BANDWIDTH, CURVE_COUNT},
    [TIER_DISK] = {"disk", "disk", "disk_space", SHARED_BY_GPUS, CURVE_DISK_CAPACITY, CURVE_COUNT,
                   CURVE_DISK_READ_ONE},
    [TIER_POOL] = {"pool", "pool", "pool_space", SHARED_BY_SERVERS, CURVE_POOL_CAPACITY,
                   CURVE_POOL_TOTAL, CURVE_COUNT},
};

enum tier_id tier_of_room(const char *key)
{
    enum tier_id tier = 0;
    while (tier < TIER_COUNT &&
           (tier_kinds[tier].room == NULL || strcmp(tier_kinds[tier].room, key) != 0)) {
        tier++;
    }
    return tier;
}

#define NONE                                                                                       \
    {                                                                                              \
        CURVE_COUNT, CURVE_COUNT                                                                   \
    }
#define BY_ENGINE_ALONE(rate, start)                                                               \
    {                                                                                              \
        {rate, start}, NONE, NONE                                                                  \
    }

const struct way_kind way_kinds[WAY_COUNT] = {
    [WAY_IN] = {"link to GPU",
                TIER_HOST,
                TIER_GPU,
                {{CURVE_LINK_IN, CURVE_LINK_COPY_LATENCY},
                 {CURVE_LINK_ZERO_COPY, CURVE_LINK_ROUND_TRIP},
                 {CURVE_LINK_CPU_STORE, CURVE_GPU_FLAG}},
                WAY_OUT,
                CURVE_LINK_DUPLEX},
    [WAY_OUT] = {"link to host", TIER_GPU, TIER_HOST,
                 BY_ENGINE_ALONE(CURVE_LINK_OUT, CURVE_LINK_COPY_LATENCY), WAY_IN,
                 CURVE_LINK_DUPLEX},
    /* As exchange.h has it, a send takes as long as an all-reduce of its bytes between two. */
    [WAY_PEER] = {"fabric", TIER_GPU, TIER_GPU,
                  BY_ENGINE_ALONE(CURVE_FABRIC_COLLECTIVE_2, CURVE_COUNT), WAY_PEER, CURVE_COUNT},
    [WAY_DISK_IN] = {"disk to host", TIER_DISK, TIER_HOST,
                     BY_ENGINE_ALONE(CURVE_DISK_READ, CURVE_DISK_LATENCY), WAY_DISK_OUT,
                     CURVE_COUNT},
    [WAY_DISK_OUT] = {"host to disk", TIER_HOST, TIER_DISK,
                      BY_ENGINE_ALONE(CURVE_DISK_WRITE, CURVE_DISK_LATENCY), WAY_DISK_IN,
                      CURVE_COUNT},
    [WAY_POOL_IN] = {"pool to host", TIER_POOL, TIER_HOST,
                     BY_ENGINE_ALONE(CURVE_POOL_READ, CURVE_POOL_LATENCY), WAY_POOL_OUT,
                     CURVE_COUNT},
    [WAY_POOL_OUT] = {"host to pool", TIER_HOST, TIER_POOL,
                      BY_ENGINE_ALONE(CURVE_POOL_WRITE, CURVE_POOL_LATENCY), WAY_POOL_IN,
                      CURVE_COUNT},
    [WAY_NETWORK] = {"network", TIER_HOST, TIER_HOST,
                     BY_ENGINE_ALONE(CURVE_NETWORK_BANDWIDTH, CURVE_NETWORK_LATENCY), WAY_NETWORK,
                     CURVE_COUNT},
};

enum way_id way_between(enum tier_id from, enum tier_id to)
{
    enum way_id id = 0;
    while (id < WAY_COUNT && (way_kinds[id].from != from || way_kinds[id].to != to)) {
        id++;
    }
    return id;
}

bool way_stated(const struct profile *profile, enum way_id id)
{
    return profile_states(profile, way_kinds[id].by[BY_ENGINE].rate);
}

double way_rate(const struct profile *profile, enum way_id id, enum carrier by, double size,
                struct trust *trust)
{
    enum curve_id curve = way_kinds[id].by[by].rate;
    bool times = curve_kinds[curve].unit == UNIT_NS;
    if (!profile_states(profile, curve)) {
        return 0;
    }
    return times ? size * 1e9 / profile_time(profile, curve, size, trust)
                 : profile_value(profile, curve, size, trust);
}

double way_start_ns(const struct profile *profile, enum way_id id, enum carrier by,
                    struct trust *trust)
{
    enum curve_id curve = way_kinds[id].by[by].start;
    return curve == CURVE_COUNT ? 0 : profile_value(profile, curve, 0, trust);
}

double drive_read_rate(const struct profile *profile, enum tier_id tier, double bytes,
                       uint32_t depth, struct trust *trust)
{
    enum curve_id single = tier_kinds[tier].read_one;
    double many = way_rate(profile, way_between(tier, TIER_HOST), BY_ENGINE, bytes, trust);
    if (single == CURVE_COUNT || !profile_states(profile, single) || depth >= DRIVE_DEPTH) {
        return many;
    }
    double one = fmin(profile_value(profile, single, bytes, trust), many);
    double hidden = (1 / one - 1 / many) / (1 - 1.0 / DRIVE_DEPTH);
    return 1 / (hidden / depth + 1 / one - hidden);
}
