#include "machine/spread.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>

/* The distance, in quantiles, of the ends of a range from the median. */
static double spread_reach(enum basis basis)
{
    return basis == BASIS_MEASURED ? 0.4 : 0.5;
}

/* The share nearest to `share` that gives a whole count. */
static double spread_whole_share(const struct curve *curve, double share)
{
    double count = curve->value[0];
    return count > 0 ? fmax(1, round(count * share)) / count : 1;
}

double spread_share(const struct curve *curve, enum curve_id id, double quantile)
{
    if (curve->count == 0 || (curve->least == 1 && curve->most == 1)) {
        return 1;
    }
    double way = (quantile - 0.5) / spread_reach(curve->basis);
    double share = pow(way < 0 ? curve->least : curve->most, fabs(way));
    return curve_kinds[id].unit == UNIT_COUNT ? spread_whole_share(curve, share) : share;
}

bool scaled_profile_init(const struct profile *of, const double shares[CURVE_COUNT],
                         struct scaled_profile *out, struct error *why)
{
    size_t count = 0;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        count += of->curves[id].count;
    }
    *out = (struct scaled_profile){.profile = *of};
    out->values = array_zeroed(count, sizeof *out->values, why);
    double *values = out->values;
    for (enum curve_id id = 0; values != NULL && id < CURVE_COUNT; id++) {
        struct curve *curve = &out->profile.curves[id];
        double most = curve_kinds[id].unit == UNIT_SHARE ? 1 : INFINITY;
        for (uint32_t i = 0; i < curve->count; i++) {
            values[i] = fmin(shares[id] * curve->value[i], most);
        }
        curve->value = values;
        values += curve->count;
    }
    return out->values != NULL;
}

bool scaled_profile_init_one(const struct profile *of, enum curve_id id, double share,
                             struct scaled_profile *out, struct error *why)
{
    double shares[CURVE_COUNT];
    for (enum curve_id i = 0; i < CURVE_COUNT; i++) {
        shares[i] = i == id ? share : 1;
    }
    return scaled_profile_init(of, shares, out, why);
}

void scaled_profile_release(struct scaled_profile *scaled)
{
    free(scaled->values);
    *scaled = (struct scaled_profile){.values = NULL};
}
