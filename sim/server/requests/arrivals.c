/* Gaps are drawn in order from one stream, so that another rate stretches the same arrivals. */
#include "server/requests/arrivals.h"

#include "core/array.h"
#include "core/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

const char *const arrivals_names[] = {
    [ARRIVALS_RANDOM] = "random",
    [ARRIVALS_CONSTANT] = "constant",
    [ARRIVALS_AT_ONCE] = "at-once",
    NULL,
};

void arrivals_at_once(struct requests *requests)
{
    for (size_t i = 0; i < requests->count; i++) {
        requests->all[i].arrival_ns = 0;
    }
}

/* Draw arrivals in units of the mean gap. */
static bool arrivals_draw_gaps(double *arrivals, size_t count, double shape, uint64_t seed,
                               struct error *why)
{
    gsl_rng *random = random_stream(seed, "serve.arrivals", 0, why);
    if (random == NULL) {
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        double gap = isinf(shape) ? 1 : gsl_ran_gamma(random, shape, 1 / shape);
        arrivals[i] = arrivals[i - 1] + gap;
    }
    gsl_rng_free(random);
    return true;
}

/* Later turns arrive by themselves. */
static size_t count_sessions(const struct requests *requests)
{
    size_t count = 0;
    for (size_t i = 0; i < requests->count; i++) {
        count += requests->all[i].turn == 0;
    }
    return count;
}

bool arrivals_draw(struct requests *requests, double rate, double shape, uint64_t seed,
                   struct error *why)
{
    size_t count = count_sessions(requests);
    double last_s = (double)(count - 1) / rate * ((double)requests->count / (double)count);
    if (last_s > REQUEST_MOST_ARRIVAL_S) {
        error_usage(why, NULL, 0, "the last request would arrive after %.3g s", last_s);
        return error_expect(why, "a 'rate' at which all arrive within %g s",
                            REQUEST_MOST_ARRIVAL_S);
    }
    double *arrivals = array_zeroed(count, sizeof *arrivals, why);
    bool ok = arrivals != NULL && arrivals_draw_gaps(arrivals, count, shape, seed, why);
    for (size_t i = 0, session = 0; ok && i < requests->count; i++) {
        session += i > 0 && requests->all[i].turn == 0;
        double share = arrivals[count - 1] > 0 ? arrivals[session] / arrivals[count - 1] : 0;
        requests->all[i].arrival_ns = llround(share * last_s * 1e9);
    }
    free(arrivals);
    return ok;
}
