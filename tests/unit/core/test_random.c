/* Random streams: the same everywhere, and independent of each other. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"

#include <math.h>
#include <stdlib.h>

static gsl_rng *stream_of(uint64_t seed, const char *purpose, uint64_t index)
{
    struct error why;
    gsl_rng *stream = random_stream(seed, purpose, index, &why);
    assert_non_null(stream);
    return stream;
}

/* Worked out apart from this program, from the definitions of XXH64 and taus2. */
static void first_draws_are_the_same_on_any_machine(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        const char *purpose;
        uint64_t index;
        unsigned long draws[4];
    } cases[] = {
        {7, "trace.order", 0, {1712084299, 3655846634, 4271698803, 1530004873}},
        {0, "x", UINT64_MAX, {3046400006, 4063318114, 1752102681, 212178161}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gsl_rng *stream = stream_of(cases[i].seed, cases[i].purpose, cases[i].index);
        for (size_t d = 0; d < 4; d++) {
            assert_int_equal(gsl_rng_get(stream), cases[i].draws[d]);
        }
        gsl_rng_free(stream);
    }
}

static int compare_draws(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* GSL's own seeding, of 32 bits, would give some 1200 equal pairs here. */
static void a_hundred_thousand_streams_all_differ(void **state)
{
    (void)state;
    enum { STREAMS = 100000 };
    uint64_t *draws = malloc(STREAMS * sizeof *draws);
    assert_non_null(draws);
    for (uint64_t i = 0; i < STREAMS; i++) {
        gsl_rng *stream = stream_of(i % 10, i % 20 < 10 ? "a" : "b", i / 20);
        uint64_t high = gsl_rng_get(stream);
        draws[i] = high << 32 | gsl_rng_get(stream);
        gsl_rng_free(stream);
    }
    qsort(draws, STREAMS, sizeof *draws, compare_draws);
    for (size_t i = 1; i < STREAMS; i++) {
        assert_true(draws[i] != draws[i - 1]);
    }
    free(draws);
}

/* The correlation of n independent pairs has a standard deviation of 1/sqrt(n). */
static void neighbouring_streams_are_uncorrelated(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    for (uint64_t index = 0; index < 20; index++) {
        gsl_rng *one = stream_of(3, "test", index);
        gsl_rng *other = stream_of(3, "test", index + 1);
        double sum = 0, mean = 0;
        for (int i = 0; i < DRAWS; i++) {
            double x = gsl_rng_uniform(one) - 0.5;
            sum += x * (gsl_rng_uniform(other) - 0.5);
            mean += x;
        }
        double correlation = 12 * sum / DRAWS;
        if (fabs(correlation) > 4 / sqrt(DRAWS) || fabs(mean / DRAWS) > 4 / sqrt(12.0 * DRAWS)) {
            fail_msg("seed 3, index %d: correlation %g, mean %g", (int)index, correlation,
                     mean / DRAWS);
        }
        gsl_rng_free(one);
        gsl_rng_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_draws_are_the_same_on_any_machine),
        cmocka_unit_test(a_hundred_thousand_streams_all_differ),
        cmocka_unit_test(neighbouring_streams_are_uncorrelated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
