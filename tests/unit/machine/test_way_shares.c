/* Shares of a link's flows, against numbers worked by hand and against max-min fairness itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "machine/places.h"

#include <math.h>

enum { FLOW_LOADED, FLOW_FETCHED, FLOW_SAVED, FLOWS };

static struct way_shares make_shares(double in, double out, double both)
{
    struct error why;
    struct way_shares shares;
    struct places places = {.count = 0};
    int host = places_add(&places, TIER_HOST, 0), gpu = places_add(&places, TIER_GPU, 0);
    places_join(&places, host, gpu, &(struct place_link){in, out, both});
    struct engine_route routes[FLOWS] = {
        [FLOW_LOADED] = places_route(&places, host, gpu, false),
        [FLOW_FETCHED] = places_route(&places, host, gpu, false),
        [FLOW_SAVED] = places_route(&places, gpu, host, false),
    };
    assert_true(way_shares_init(&shares, &places, routes, FLOWS, &why));
    return shares;
}

/* Of who loads, fetches and saves. */
static void check_rates(struct way_shares *shares, const double most[FLOWS],
                        const double expected[FLOWS])
{
    double rate[FLOWS];
    way_shares_find(shares, most, rate);
    for (int i = 0; i < FLOWS; i++) {
        if (fabs(rate[i] - expected[i]) > 1e-9) {
            fail_msg("flow %d has %g, not %g", i, rate[i], expected[i]);
        }
    }
}

/* 26 GB/s each way, 36 both. */
static void flows_share_as_worked_by_hand(void **state)
{
    (void)state;
    struct way_shares shares = make_shares(26, 26, 36);
    check_rates(&shares, (double[]){INFINITY, 0, 0}, (double[]){26, 0, 0});
    check_rates(&shares, (double[]){INFINITY, INFINITY, 0}, (double[]){13, 13, 0});
    check_rates(&shares, (double[]){INFINITY, 4, 0}, (double[]){22, 4, 0});
    check_rates(&shares, (double[]){INFINITY, 0, INFINITY}, (double[]){18, 0, 18});
    check_rates(&shares, (double[]){INFINITY, INFINITY, INFINITY}, (double[]){12, 12, 12});
    check_rates(&shares, (double[]){INFINITY, 2, INFINITY}, (double[]){17, 2, 17});
    check_rates(&shares, (double[]){0, 0, 0}, (double[]){0, 0, 0});
    way_shares_release(&shares);
    struct way_shares none = make_shares(0, 0, 0); /* a machine that states no link */
    check_rates(&none, (double[]){INFINITY, 1, INFINITY}, (double[]){0, 0, 0});
    way_shares_release(&none);
}

/* Max-min: no way carries more than it can, and a flow that has less than it can use crosses a full
 * way on which no other flow has more. */
static void shares_are_max_min_fair(void **state)
{
    (void)state;
    struct error why;
    gsl_rng *random = random_stream(8, "test.link-share", 0, &why);
    for (int i = 0; i < 20000; i++) {
        double in = 1 + gsl_rng_uniform(random) * 50, out = 1 + gsl_rng_uniform(random) * 50;
        double both = 1 + gsl_rng_uniform(random) * 100, slack = 1e-6 * both;
        struct way_shares shares = make_shares(in, out, both);
        double most[FLOWS], rate[FLOWS];
        for (int f = 0; f < FLOWS; f++) {
            unsigned long kind = gsl_rng_uniform_int(random, 3);
            most[f] = kind == 0 ? 0 : kind == 1 ? INFINITY : gsl_rng_uniform(random) * 60;
        }
        way_shares_find(&shares, most, rate);
        double inward = rate[FLOW_LOADED] + rate[FLOW_FETCHED], all = inward + rate[FLOW_SAVED];
        assert_true(inward <= in + slack && rate[FLOW_SAVED] <= out + slack && all <= both + slack);
        double most_in = fmax(rate[FLOW_LOADED], rate[FLOW_FETCHED]);
        double most_of_all = fmax(most_in, rate[FLOW_SAVED]);
        for (int f = 0; f < FLOWS; f++) {
            bool satisfied = rate[f] >= most[f] - slack;
            bool own = f == FLOW_SAVED ? rate[f] >= out - slack
                                       : inward >= in - slack && rate[f] >= most_in - slack;
            bool shared = all >= both - slack && rate[f] >= most_of_all - slack;
            assert_true(rate[f] <= most[f] + slack && (satisfied || own || shared));
        }
        way_shares_release(&shares);
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_share_as_worked_by_hand),
        cmocka_unit_test(shares_are_max_min_fair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
