/* Series against sums of everything that was said, made at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "server/record.h"

#include <math.h>

enum { MS = 1000000, SAID = 400 };

/* A level of 2 from 0.5 to 2.5 ms is 1, 2 and 1 (ms) of three bins; 6 bytes from 1 to 4 ms are two
 * a bin; a token at 3 ms is of the fourth. */
static void a_bin_has_what_happens_in_it(void **state)
{
    (void)state;
    struct error why;
    struct series series;
    assert_true(series_init(&series, &why));
    series_hold(&series, SERIES_WAITING, MS / 2, 5 * MS / 2, 2);
    series_spread(&series, SERIES_LOADED, MS, 4 * MS, 6);
    series_add(&series, SERIES_OUTPUT, 3 * MS, 1);
    const double waiting[] = {MS, 2 * MS, MS, 0}, loaded[] = {0, 2, 2, 2}, output[] = {0, 0, 0, 1};
    assert_int_equal(series.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(series.bins[i][SERIES_WAITING] - waiting[i]) < 1e-6);
        assert_true(fabs(series.bins[i][SERIES_LOADED] - loaded[i]) < 1e-9);
        assert_true(series.bins[i][SERIES_OUTPUT] == output[i]);
    }
    series_release(&series);
}

/* At 512 ms there is no 513th bin: bins of 2 ms. */
static void long_runs_have_longer_bins(void **state)
{
    (void)state;
    struct error why;
    struct series series;
    assert_true(series_init(&series, &why));
    series_add(&series, SERIES_OUTPUT, 0, 1);
    series_add(&series, SERIES_OUTPUT, 511 * (int64_t)MS, 2);
    assert_int_equal(series.bin_ns, MS);
    series_add(&series, SERIES_OUTPUT, 512 * (int64_t)MS, 4);
    assert_int_equal(series.bin_ns, 2 * MS);
    assert_int_equal(series.count, 257);
    assert_true(series.bins[0][SERIES_OUTPUT] == 1 && series.bins[255][SERIES_OUTPUT] == 2 &&
                series.bins[256][SERIES_OUTPUT] == 4);
    series_release(&series);
}

static void nobody_is_told(void **state)
{
    (void)state;
    series_add(NULL, SERIES_OUTPUT, 5, 1);
    series_hold(NULL, SERIES_WAITING, 0, 5, 1);
    series_spread(NULL, SERIES_LOADED, 0, 5, 1);
}

/* What is said of [start, end), in any order. */
struct said {
    int64_t start, end;
    double level;
};

static double overlap(const struct said *said, int64_t from, int64_t to)
{
    int64_t start = said->start > from ? said->start : from;
    int64_t end = said->end < to ? said->end : to;
    return end > start ? said->level * (double)(end - start) : 0;
}

static void folded_bins_are_those_of_the_end(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct error why;
        struct series series;
        struct said said[SAID];
        int64_t last = 0, longest = (int64_t)1 << (20 + seed);
        gsl_rng *random = random_stream(seed, "test.series", 0, &why);
        print_message("seed %u\n", (unsigned)seed);
        assert_true(random != NULL && series_init(&series, &why));
        for (int i = 0; i < SAID; i++) {
            int64_t start = (int64_t)(gsl_rng_uniform(random) * (double)longest);
            int64_t end = start + 1 + (int64_t)(gsl_rng_uniform(random) * (double)longest / 50);
            said[i] = (struct said){start, end, 1 + gsl_rng_uniform(random)};
            last = end > last ? end : last;
            series_hold(&series, SERIES_WAITING, start, end, said[i].level);
        }
        assert_int_equal(series.count, (last - 1) / series.bin_ns + 1);
        assert_true(series.count <= SERIES_BINS);
        assert_true(series.bin_ns == MS || series.count > SERIES_BINS / 2);
        for (uint32_t bin = 0; bin < series.count; bin++) {
            double sum = 0;
            for (int i = 0; i < SAID; i++) {
                sum += overlap(&said[i], bin * series.bin_ns, (bin + 1) * series.bin_ns);
            }
            assert_true(fabs(series.bins[bin][SERIES_WAITING] - sum) <= 1e-9 * sum);
        }
        gsl_rng_free(random);
        series_release(&series);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bin_has_what_happens_in_it),
        cmocka_unit_test(long_runs_have_longer_bins),
        cmocka_unit_test(nobody_is_told),
        cmocka_unit_test(folded_bins_are_those_of_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
