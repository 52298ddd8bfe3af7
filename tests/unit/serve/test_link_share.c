/* Shares of a link against max-min fairness itself, and copies and layers against small clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "serve/copies.h"
#include "serve/layered.h"
#include "serve/link_share.h"

#include <math.h>

static void check_rates(const struct link *link, const double most[LINK_FLOWS],
                        const double expected[LINK_FLOWS])
{
    double rate[LINK_FLOWS];
    link_share(link, most, rate);
    for (int i = 0; i < LINK_FLOWS; i++) {
        if (fabs(rate[i] - expected[i]) > 1e-6 * link->both) {
            fail_msg("flow %d has %g, not %g", i, rate[i], expected[i]);
        }
    }
}

/* 26 GB/s each way, 36 both: of who loads, fetches and saves. */
static void flows_share_as_worked_by_hand(void **state)
{
    (void)state;
    const struct link link = {26, 26, 36};
    check_rates(&link, (double[]){INFINITY, 0, 0}, (double[]){26, 0, 0});
    check_rates(&link, (double[]){INFINITY, INFINITY, 0}, (double[]){13, 13, 0});
    check_rates(&link, (double[]){INFINITY, 4, 0}, (double[]){22, 4, 0});
    check_rates(&link, (double[]){INFINITY, 0, INFINITY}, (double[]){18, 0, 18});
    check_rates(&link, (double[]){INFINITY, INFINITY, INFINITY}, (double[]){12, 12, 12});
    check_rates(&link, (double[]){INFINITY, 2, INFINITY}, (double[]){17, 2, 17});
    check_rates(&link, (double[]){0, 0, 0}, (double[]){0, 0, 0});
}

/* Max-min: no way carries more than it can, and a flow that has less than it can use crosses a full
 * way on which no other flow has more. */
static void shares_are_max_min_fair(void **state)
{
    (void)state;
    struct error why;
    gsl_rng *random = random_stream(8, "test.link-share", 0, &why);
    for (int i = 0; i < 20000; i++) {
        const struct link link = {1 + gsl_rng_uniform(random) * 50,
                                  1 + gsl_rng_uniform(random) * 50,
                                  1 + gsl_rng_uniform(random) * 100};
        double most[LINK_FLOWS], rate[LINK_FLOWS];
        for (int f = 0; f < LINK_FLOWS; f++) {
            unsigned long kind = gsl_rng_uniform_int(random, 3);
            most[f] = kind == 0 ? 0 : kind == 1 ? INFINITY : gsl_rng_uniform(random) * 60;
        }
        link_share(&link, most, rate);
        double in = rate[LINK_LOADED] + rate[LINK_FETCHED], both = in + rate[LINK_SAVED];
        double slack = 1e-6 * link.both;
        assert_true(in <= link.in + slack && rate[LINK_SAVED] <= link.out + slack &&
                    both <= link.both + slack);
        double most_in = fmax(rate[LINK_LOADED], rate[LINK_FETCHED]);
        double most_of_all = fmax(most_in, rate[LINK_SAVED]);
        for (int f = 0; f < LINK_FLOWS; f++) {
            bool satisfied = rate[f] >= most[f] - slack;
            bool own = f == LINK_SAVED ? rate[f] >= link.out - slack
                                       : in >= link.in - slack && rate[f] >= most_in - slack;
            bool shared = both >= link.both - slack && rate[f] >= most_of_all - slack;
            assert_true(rate[f] <= most[f] + slack && (satisfied || own || shared));
        }
    }
    gsl_rng_free(random);
}

/* ---- copies ----------------------------------------------------------------------------- */

static uint64_t ended[8];
static uint32_t ended_count;

static void note_end(struct copy_blocks blocks, void *context)
{
    (void)context;
    ended[ended_count++] = blocks.moved;
}

/* At a byte a ns: 10 ns before 100 bytes, then 5 before 20. */
static void copies_are_made_one_after_the_other(void **state)
{
    (void)state;
    struct error why;
    struct copies copies = {.items = NULL};
    ended_count = 0;
    assert_int_equal(copies_add(&copies, 10, 100, (struct copy_blocks){7, 1}, &why), 1);
    assert_int_equal(copies_add(&copies, 5, 20, (struct copy_blocks){9, 2}, &why), 2);
    assert_true(copies_time(&copies, 1, 1e9) == 110 && copies_time(&copies, 2, 1e9) == 135);
    assert_true(copies_pass(&copies, 60, 1e9, note_end, NULL) == 50);
    assert_int_equal(ended_count, 0);
    assert_true(copies_pass(&copies, 60, 2e9, note_end, NULL) == 70); /* 25 ns, 5, and all 10 left */
    assert_int_equal(copies.done, 2);
    assert_true(ended_count == 2 && ended[0] == 7 && ended[1] == 9);
    assert_true(copies.ended.moved == 16 && copies.ended.freed == 3);
    assert_int_equal(copies_last(&copies), 2);
    assert_true(copies_time(&copies, 2, 1e9) == 0);
    copies_release(&copies);
}

/* However time is cut, and for more copies than there is room for at first. */
static void bytes_of_copies_are_conserved(void **state)
{
    (void)state;
    struct error why;
    gsl_rng *random = random_stream(9, "test.copies", 0, &why);
    struct copies copies = {.items = NULL};
    double added = 0, crossed = 0;
    for (int i = 0; i < 5000; i++) {
        double bytes = floor(gsl_rng_uniform(random) * 1000);
        if (gsl_rng_uniform_int(random, 2) > 0) {
            added += bytes;
            assert_true(copies_add(&copies, 3, bytes, (struct copy_blocks){0}, &why) > 0);
        }
        crossed += copies_pass(&copies, gsl_rng_uniform(random) * 700, 1e9, NULL, NULL);
        assert_true(crossed <= added + 1e-6);
    }
    crossed += copies_pass(&copies, INFINITY, 1e9, NULL, NULL);
    assert_true(fabs(crossed - added) < 1e-6 * added);
    assert_int_equal(copies.done, copies_last(&copies));
    copies_release(&copies);
    gsl_rng_free(random);
}

/* ---- layers ------------------------------------------------------------------------------ */

/* Layer after layer, each when it has arrived and the one before is computed. */
static double play_layers(double compute_ns, double load_ns, uint32_t layers)
{
    double arrived = 0, computed = 0;
    for (uint32_t layer = 0; layer < layers; layer++) {
        arrived += load_ns / layers;
        computed = fmax(computed, arrived) + compute_ns / layers;
    }
    return computed;
}

static void layers_end_as_they_do_when_played(void **state)
{
    (void)state;
    struct error why;
    gsl_rng *random = random_stream(10, "test.layered", 0, &why);
    for (int i = 0; i < 2000; i++) {
        uint32_t layers = 1 + (uint32_t)gsl_rng_uniform_int(random, 100);
        double compute = gsl_rng_uniform(random) * 1e8, load = gsl_rng_uniform(random) * 1e8;
        double played = play_layers(compute, load, layers);
        assert_true(fabs(layered_ns(compute, load, layers) - played) < 1e-9 * played);
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_share_as_worked_by_hand),
        cmocka_unit_test(shares_are_max_min_fair),
        cmocka_unit_test(copies_are_made_one_after_the_other),
        cmocka_unit_test(bytes_of_copies_are_conserved),
        cmocka_unit_test(layers_end_as_they_do_when_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
