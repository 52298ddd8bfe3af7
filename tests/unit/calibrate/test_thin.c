/* Thinning beside cases worked by hand, and beside all choices of points of small curves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "calibrate/harness/thin.h"

#include <math.h>

enum { MOST = 10 };

static void fill(struct found_point *points, const double (*values)[2], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (struct found_point){.size = values[i][0], .median = values[i][1]};
    }
}

static double line_through(const struct found_point *points, uint32_t from, uint32_t to,
                           double size)
{
    double slope =
        (points[to].median - points[from].median) / (points[to].size - points[from].size);
    return points[from].median + slope * (size - points[from].size);
}

/* The furthest that lines between the chosen points lie from a point. */
static double worst_of(const struct found_point *points, const uint32_t *kept, uint32_t count)
{
    double worst = 0;
    for (uint32_t k = 0; k + 1 < count; k++) {
        for (uint32_t i = kept[k]; i <= kept[k + 1]; i++) {
            double line = line_through(points, kept[k], kept[k + 1], points[i].size);
            worst = fmax(worst, fabs(line - points[i].median) / points[i].median);
        }
    }
    return worst;
}

static void points_on_a_line_leave_its_ends(void **state)
{
    (void)state;
    static const double values[][2] = {{1, 10}, {2, 20}, {3, 30}, {10, 100}};
    struct found_point points[4];
    struct thinned thinned;
    struct error why;
    fill(points, values, 4);
    assert_true(points_thin(points, 4, THIN_SHARE, &thinned, &why));
    assert_int_equal(thinned.count, 2);
    assert_int_equal(thinned.kept[0], 0);
    assert_int_equal(thinned.kept[1], 3);
    assert_true(thinned.worst < 1e-12);
    thinned_release(&thinned);
}

static void point_further_off_than_the_share_is_kept(void **state)
{
    (void)state;
    /* Halfway from 100 to 200 is 150: 151 is 0.66 % off it, 152 is 1.3 %. */
    static const double near[][2] = {{1, 100}, {2, 151}, {3, 200}};
    static const double far[][2] = {{1, 100}, {2, 152}, {3, 200}};
    struct found_point points[3];
    struct thinned thinned;
    struct error why;
    fill(points, near, 3);
    assert_true(points_thin(points, 3, 0.01, &thinned, &why));
    assert_int_equal(thinned.count, 2);
    assert_true(fabs(thinned.worst - 1.0 / 151) < 1e-12);
    thinned_release(&thinned);
    fill(points, far, 3);
    assert_true(points_thin(points, 3, 0.01, &thinned, &why));
    assert_int_equal(thinned.count, 3);
    assert_true(thinned.worst == 0);
    thinned_release(&thinned);
}

static void one_point_or_none_stays(void **state)
{
    (void)state;
    static const double values[][2] = {{1, 100}};
    struct found_point points[1];
    struct thinned thinned;
    struct error why;
    fill(points, values, 1);
    for (uint32_t count = 0; count <= 1; count++) {
        assert_true(points_thin(points, count, 0.01, &thinned, &why));
        assert_int_equal(thinned.count, count);
        thinned_release(&thinned);
    }
}

/* Of all subsets with both ends that are near enough, the size of the smallest. */
static uint32_t fewest(const struct found_point *points, uint32_t count, double share)
{
    uint32_t best = count;
    for (uint32_t inner = 0; inner < 1u << (count - 2); inner++) {
        uint32_t kept[MOST] = {0}, used = 1;
        for (uint32_t i = 1; i + 1 < count; i++) {
            if (inner >> (i - 1) & 1) {
                kept[used++] = i;
            }
        }
        kept[used++] = count - 1;
        best = used < best && worst_of(points, kept, used) <= share ? used : best;
    }
    return best;
}

static void fewest_points_that_stay_near_everywhere(void **state)
{
    (void)state;
    const uint64_t seed = 11;
    struct error why;
    gsl_rng *random = random_stream(seed, "test", 0, &why);
    assert_non_null(random);
    for (int trial = 0; trial < 400; trial++) {
        struct found_point points[MOST];
        uint32_t count = 2 + (uint32_t)gsl_rng_uniform_int(random, MOST - 1);
        double size = 1;
        for (uint32_t i = 0; i < count; i++) {
            size *= 1.2 + gsl_rng_uniform(random);
            double noise = 1 + 0.02 * (gsl_rng_uniform(random) - 0.5);
            points[i] = (struct found_point){.size = size, .median = (50 + 3 * size) * noise};
        }
        struct thinned thinned;
        assert_true(points_thin(points, count, THIN_SHARE, &thinned, &why));
        double worst = worst_of(points, thinned.kept, thinned.count);
        if (thinned.kept[0] != 0 || thinned.kept[thinned.count - 1] != count - 1 ||
            worst > THIN_SHARE || fabs(worst - thinned.worst) > 1e-12 ||
            thinned.count != fewest(points, count, THIN_SHARE)) {
            fail_msg("seed %llu, trial %d: %u of %u kept, %g off, said %g",
                     (unsigned long long)seed, trial, thinned.count, count, worst, thinned.worst);
        }
        thinned_release(&thinned);
    }
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_on_a_line_leave_its_ends),
        cmocka_unit_test(point_further_off_than_the_share_is_kept),
        cmocka_unit_test(one_point_or_none_stays),
        cmocka_unit_test(fewest_points_that_stay_near_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
