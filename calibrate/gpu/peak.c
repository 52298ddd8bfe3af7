#include "calibrate/gpu/peak.h"

#include "core/units.h"

#include <math.h>

#define LEAST_NS 200e6
#define MOST_NS 2e9
#define RISE 1.01
#define ROUNDING 1.005

bool peak_warm_up(struct peak_warm_up *warm, double ns, double rate)
{
    warm->spent_ns += ns;
    warm->steady = warm->spent_ns >= LEAST_NS && rate <= warm->rate * RISE;
    warm->rate = rate;
    return !warm->steady && warm->spent_ns < MOST_NS;
}

/* The clock of now is one reading of a clock that moves; it counts only if the rate is well above
 * what the lower power allows, and no further than one power. */
#define WELL_ABOVE 1.1

double peak_flops_a_clock(double rate, double most_hz, double now_hz)
{
    double each = exp2(ceil(log2(rate / most_hz)));
    double excess = now_hz > 0 ? rate / (now_hz * each) : 0;
    return excess > WELL_ABOVE && excess <= 2 ? 2 * each : each;
}

bool peak_share(double rate, double peak, double *share, struct error *why)
{
    char found[32], most[32];
    *share = fmin(rate / peak, 1);
    return rate <= peak * ROUNDING ||
           error_set(why, NULL, 0, "a matrix product runs at %s, above the peak of %s",
                     units_format(rate, UNIT_FLOP_PER_S, found, sizeof found),
                     units_format(peak, UNIT_FLOP_PER_S, most, sizeof most));
}
