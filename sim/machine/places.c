#include "machine/places.h"

#include <assert.h>
#include <math.h>
#include <string.h>

uint32_t places_add_channel(struct places *places, double rate)
{
    assert(places->channel_count < ENGINE_MOST_CHANNELS);
    places->rate[places->channel_count] = rate;
    return (uint32_t)places->channel_count++;
}

int places_add(struct places *places, enum tier_id tier, double bandwidth)
{
    assert(places->count < PLACES_MOST);
    int channel = bandwidth > 0 ? (int)places_add_channel(places, bandwidth) : PLACES_NONE;
    places->all[places->count] = (struct place){tier, channel};
    return places->count++;
}

void places_join(struct places *places, int from, int to, const struct place_link *link)
{
    if (link->there > 0) {
        places->way[from][to] = (int)places_add_channel(places, link->there) + 1;
    }
    if (link->back > 0) {
        places->way[to][from] = (int)places_add_channel(places, link->back) + 1;
    }
    if (link->both > 0 && isfinite(link->both)) {
        int both = (int)places_add_channel(places, link->both) + 1;
        places->both[from][to] = places->both[to][from] = both;
    }
}

struct place_link place_link_of(const struct profile *profile, enum way_id there, double bytes,
                                double sharers, struct trust *trust)
{
    enum way_id back = way_kinds[there].back;
    enum curve_id both = way_kinds[there].both;
    bool limited = both != CURVE_COUNT && profile_states(profile, both);
    return (struct place_link){
        .there = way_rate(profile, there, BY_ENGINE, bytes, trust) / sharers,
        .back = way_rate(profile, back, BY_ENGINE, bytes, trust) / sharers,
        .both = limited ? profile_value(profile, both, 0, trust) / sharers : 0,
    };
}

void places_add_server(struct places *places, const struct profile *profile, double sharers,
                       bool bandwidths, struct trust *trust)
{
    for (enum tier_id tier = TIER_GPU; tier <= TIER_HOST; tier++) {
        double all = bandwidths ? profile_value(profile, tier_kinds[tier].bandwidth, 0, trust) : 0;
        places_add(places, tier, tier == TIER_HOST ? all / sharers : all);
    }
    const struct place_link link = place_link_of(profile, WAY_IN, 0, sharers, trust);
    places_join(places, TIER_HOST, TIER_GPU, &link);
}

/* Find the place after each place on a shortest path to `to`; PLACES_NONE: there is none. */
static void find_next(const struct places *places, int to, int next[PLACES_MOST])
{
    int reached[PLACES_MOST] = {to}, count = 1;
    for (int at = 0; at < places->count; at++) {
        next[at] = PLACES_NONE;
    }
    for (int i = 0; i < count; i++) {
        for (int at = 0; at < places->count; at++) {
            if (at != to && next[at] == PLACES_NONE && places->way[at][reached[i]] > 0) {
                next[at] = reached[i];
                reached[count++] = at;
            }
        }
    }
}

static void cross(struct engine_route *route, int channel)
{
    if (channel >= 0) {
        assert(route->count < ENGINE_MOST_USES);
        route->uses[route->count++] = (struct engine_use){(uint32_t)channel, 1, ENGINE_PER_UNIT};
    }
}

struct engine_route places_route(const struct places *places, int from, int to, bool tiers)
{
    struct engine_route route = {.count = 0};
    int next[PLACES_MOST];
    find_next(places, to, next);
    if (from == to || next[from] == PLACES_NONE) {
        return route;
    }
    for (int at = from; at != to; at = next[at]) {
        cross(&route, places->way[at][next[at]] - 1);
        cross(&route, places->both[at][next[at]] - 1);
    }
    if (tiers) {
        cross(&route, places->all[from].channel);
        cross(&route, places->all[to].channel);
    }
    return route;
}

bool way_shares_init(struct way_shares *shares, const struct places *places,
                     const struct engine_route *routes, uint32_t count, struct error *why)
{
    flow_init(&shares->set);
    shares->count = count;
    bool ok = flow_reserve(&shares->set, count, why);
    for (int i = 0; i < places->channel_count; i++) {
        flow_channel_add(&shares->set, places->rate[i]);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = flow_route_add(&shares->set, &routes[i], why) != ENGINE_NONE;
    }
    if (!ok) {
        way_shares_release(shares);
    }
    return ok;
}

void way_shares_release(struct way_shares *shares)
{
    flow_release(&shares->set);
    shares->count = 0;
}

void way_shares_find(struct way_shares *shares, const double *most, double *rate)
{
    struct flow_set *set = &shares->set;
    set->count = 0;
    for (uint32_t i = 0; i < shares->count; i++) {
        rate[i] = 0;
        if (most[i] > 0 && set->routes[i].crossing_count > 0) {
            flow_begin(set, i, i, 1, most[i], 0);
        }
    }
    if (set->count > 0) {
        flow_refresh(set, 0);
    }
    for (size_t i = 0; i < set->count; i++) {
        rate[set->flows[i].task] = set->flows[i].rate;
    }
}

const struct tier_kind tier_kinds[TIER_COUNT] = {
    [TIER_GPU] = {"hbm", "HBM", NULL, SHARED_BY_NOBODY, CURVE_GPU_HBM_CAPACITY,
                  CURVE_GPU_HBM_BANDWIDTH, CURVE_COUNT},
    [TIER_HOST] = {"host", "host memory", "host_memory", SHARED_BY_GPUS, CURVE_HOST_DRAM_CAPACITY,
                   CURVE_HOST_DRAM_BANDWIDTH, CURVE_COUNT},
#define TIER(ID, name, where, sharers, total, one, ...)                                            \
    [TIER_##ID] = {#name, #name, #name "_space", sharers, CURVE_##ID##_CAPACITY, total, one},
#include "core/tiers.def"
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
    [WAY_IN] = {TIER_HOST,
                TIER_GPU,
                {{CURVE_LINK_IN, CURVE_LINK_COPY_LATENCY},
                 {CURVE_LINK_ZERO_COPY, CURVE_LINK_ROUND_TRIP},
                 {CURVE_LINK_CPU_STORE, CURVE_GPU_FLAG}},
                WAY_OUT,
                CURVE_LINK_DUPLEX},
    [WAY_OUT] = {TIER_GPU, TIER_HOST, BY_ENGINE_ALONE(CURVE_LINK_OUT, CURVE_LINK_COPY_LATENCY),
                 WAY_IN, CURVE_LINK_DUPLEX},
#define BELOW(there, back, from, to, rate, start)                                                  \
    [there] = {from, to, BY_ENGINE_ALONE(rate, start), back, CURVE_COUNT},
#define TIER(ID, ...)                                                                              \
    BELOW(WAY_##ID##_IN, WAY_##ID##_OUT, TIER_##ID, TIER_HOST, CURVE_##ID##_READ,                  \
          CURVE_##ID##_LATENCY)                                                                    \
    BELOW(WAY_##ID##_OUT, WAY_##ID##_IN, TIER_HOST, TIER_##ID, CURVE_##ID##_WRITE,                 \
          CURVE_##ID##_LATENCY)
#include "core/tiers.def"
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
    return profile_states(profile, curve) ? profile_value(profile, curve, size, trust) : 0;
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
