/* Copies and layers against small clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "server/server_state.h"

#include <math.h>

/* ---- copies ----------------------------------------------------------------------------- */

/* At a byte a ns: 10 ns before 100 bytes, then 5 before 20. */
static void copies_are_made_one_after_the_other(void **state)
{
    (void)state;
    struct error why;
    struct copies copies = {.items = NULL};
    assert_int_equal(copies_add(&copies, 10, 100, 7, &why), 1);
    assert_int_equal(copies_add(&copies, 5, 20, 9, &why), 2);
    assert_true(copies_time(&copies, 1, 1e9) == 110 && copies_time(&copies, 2, 1e9) == 135);
    assert_true(copies_pass(&copies, 60, 1e9) == 50);
    assert_true(copies.done == 0 && copies.ended == 0);
    assert_true(copies_pass(&copies, 60, 2e9) == 70); /* 25 ns, 5, and all 10 left */
    assert_int_equal(copies.done, 2);
    assert_true(copies.ended == 16);
    assert_true(copies.done_ns == 60 + 25 + 5 + 10);
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
            assert_true(copies_add(&copies, 3, bytes, 0, &why) > 0);
        }
        crossed += copies_pass(&copies, gsl_rng_uniform(random) * 700, 1e9);
        assert_true(crossed <= added + 1e-6);
    }
    crossed += copies_pass(&copies, INFINITY, 1e9);
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
        cmocka_unit_test(copies_are_made_one_after_the_other),
        cmocka_unit_test(bytes_of_copies_are_conserved),
        cmocka_unit_test(layers_end_as_they_do_when_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
