/* Surfaces against the functions they stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "server/surface.h"

#include <math.h>

/* Linear along x and y, as a decode step with all KV in HBM is. */
static bool compute_plane(void *context, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                          struct error *why)
{
    (void)context;
    (void)why;
    values[0] = 5 + 2 * (double)x + 0.001 * (double)y;
    values[1] = (double)x * (double)y;
    return true;
}

/* Two bounds that meet in a knee. */
static bool compute_roof(void *context, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                         struct error *why)
{
    uint32_t *calls = context;
    (void)why;
    ++*calls;
    values[0] = fmax(1000 + (double)y / 50, 30 * (double)x + (double)y / 20);
    values[1] = 0;
    return true;
}

static bool compute_nothing(void *context, uint64_t x, uint64_t y, double values[SURFACE_VALUES],
                            struct error *why)
{
    (void)context, (void)x, (void)y, (void)values;
    return error_set(why, NULL, 0, "nothing to compute");
}

static void what_is_linear_is_exact(void **state)
{
    (void)state;
    struct error why;
    const struct surface_domain domain = {1, 256, 1, 100000};
    struct surface *surface = surface_create(&domain, 0.0001, compute_plane, NULL, &why);
    assert_non_null(surface);
    for (uint64_t x = 1; x <= 256; x += 5) {
        for (uint64_t y = 1; y <= 100000; y += 3333) {
            double values[SURFACE_VALUES], exact[SURFACE_VALUES];
            assert_true(surface_read(surface, x, y, values, &why));
            compute_plane(NULL, x, y, exact, &why);
            assert_true(fabs(values[0] - exact[0]) < 1e-9 * exact[0]);
            assert_true(fabs(values[1] - exact[1]) < 1e-9 * exact[1]);
        }
    }
    surface_destroy(surface);
}

static void knees_are_found_with_few_points(void **state)
{
    (void)state;
    struct error why;
    uint32_t calls = 0, unused = 0;
    const struct surface_domain domain = {1, 256, 1, 1 << 20};
    struct surface *surface = surface_create(&domain, 0.0025, compute_roof, &calls, &why);
    gsl_rng *random = random_stream(5, "test.surface", 0, &why);
    assert_true(surface != NULL && random != NULL);
    for (int i = 0; i < 20000; i++) {
        double values[SURFACE_VALUES], exact[SURFACE_VALUES];
        uint64_t x = 1 + gsl_rng_uniform_int(random, 256),
                 y = 1 + gsl_rng_uniform_int(random, 1 << 20);
        assert_true(surface_read(surface, x, y, values, &why));
        compute_roof(&unused, x, y, exact, &why);
        assert_true(fabs(values[0] - exact[0]) < 0.01 * exact[0]);
    }
    print_message("%u points\n", calls);
    assert_true(calls < 700);
    gsl_rng_free(random);
    surface_destroy(surface);
}

static void what_lies_outside_reads_the_edge(void **state)
{
    (void)state;
    struct error why;
    double inside[SURFACE_VALUES], outside[SURFACE_VALUES];
    const struct surface_domain domain = {2, 2, 10, 20};
    struct surface *surface = surface_create(&domain, 0.01, compute_plane, NULL, &why);
    assert_non_null(surface);
    assert_true(surface_read(surface, 2, 20, inside, &why));
    assert_true(surface_read(surface, 9, 99, outside, &why));
    assert_memory_equal(inside, outside, sizeof inside);
    surface_destroy(surface);
}

static void a_failure_is_handed_on(void **state)
{
    (void)state;
    struct error why;
    double values[SURFACE_VALUES];
    const struct surface_domain domain = {1, 4, 1, 4};
    struct surface *surface = surface_create(&domain, 0.01, compute_nothing, NULL, &why);
    assert_non_null(surface);
    assert_false(surface_read(surface, 1, 1, values, &why));
    assert_string_equal(why.found, "nothing to compute");
    surface_destroy(surface);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_linear_is_exact),
        cmocka_unit_test(knees_are_found_with_few_points),
        cmocka_unit_test(what_lies_outside_reads_the_edge),
        cmocka_unit_test(a_failure_is_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
