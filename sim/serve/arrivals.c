/* Gaps are drawn in order from one stream, so that another rate stretches the same arrivals. */
#include "serve/arrivals.h"

#include "base/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>

bool arrivals_draw(struct requests *requests, double rate, double shape, uint64_t seed,
                   struct error *why)
{
    gsl_rng *random = random_stream(seed, "serve.arrivals", 0, why);
    if (random == NULL) {
        return false;
    }
    double now_s = 0;
    size_t drawn = 0;
    for (; drawn < requests->count && now_s <= REQUEST_MOST_ARRIVAL_S; drawn++) {
        requests->all[drawn].arrival_ns = llround(now_s * 1e9);
        now_s += gsl_ran_gamma(random, shape, 1 / shape) / rate;
    }
    gsl_rng_free(random);
    if (drawn < requests->count) {
        error_usage(why, NULL, 0, "request %zu would arrive after %.3g s", drawn + 1, now_s);
        return error_expect(why, "a 'rate' at which all arrive within %g s",
                            REQUEST_MOST_ARRIVAL_S);
    }
    return true;
}
