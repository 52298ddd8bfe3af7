#include "place/way.h"

#define NONE                                                                                       \
    {                                                                                              \
        CURVE_COUNT, CURVE_COUNT                                                                   \
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
    [WAY_OUT] = {"link to host",
                 TIER_GPU,
                 TIER_HOST,
                 {{CURVE_LINK_OUT, CURVE_LINK_COPY_LATENCY}, NONE, NONE},
                 WAY_IN,
                 CURVE_LINK_DUPLEX},
    [WAY_PEER] = {"fabric",
                  TIER_GPU,
                  TIER_GPU,
                  {{CURVE_FABRIC_COLLECTIVE_2, CURVE_COUNT}, NONE, NONE},
                  WAY_PEER,
                  CURVE_COUNT},
};

bool way_stated(const struct profile *profile, enum way_id id)
{
    return profile_states(profile, way_kinds[id].by[BY_ENGINE].rate);
}

double way_rate(const struct profile *profile, enum way_id id, enum carrier by, double size,
                struct trust *trust)
{
    enum curve_id curve = way_kinds[id].by[by].rate;
    bool times = curve_kinds[curve].unit == UNIT_NS;
    return times ? size * 1e9 / profile_time(profile, curve, size, trust)
                 : profile_value(profile, curve, size, trust);
}

double way_start_ns(const struct profile *profile, enum way_id id, enum carrier by,
                    struct trust *trust)
{
    enum curve_id curve = way_kinds[id].by[by].start;
    return curve == CURVE_COUNT ? 0 : profile_value(profile, curve, 0, trust);
}
