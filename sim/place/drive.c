#include "place/drive.h"

#include <math.h>

double drive_read_rate(const struct profile *profile, double bytes, uint32_t depth,
                       struct trust *trust)
{
    double many = profile_value(profile, CURVE_DISK_READ, bytes, trust);
    if (!profile_states(profile, CURVE_DISK_READ_ONE) || depth >= DRIVE_DEPTH) {
        return many;
    }
    double one = fmin(profile_value(profile, CURVE_DISK_READ_ONE, bytes, trust), many);
    double hidden = (1 / one - 1 / many) / (1 - 1.0 / DRIVE_DEPTH);
    return 1 / (hidden / depth + 1 / one - hidden);
}
