#include "place/drive.h"

#include "place/way.h"

#include <math.h>

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
