/* Figures drawn from their ranges, against quantiles worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "machine/profile.h"

#include <math.h>

static void figures_are_drawn_from_their_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        enum curve_id id;
        enum basis basis;
        double value, least, most, quantile, share;
    } cases[] = {
        {"the median is the figure", CURVE_LINK_IN, BASIS_ASSUMED, 5e10, 0.5, 2, 0.5, 1},
        {"the range ends at the ends", CURVE_LINK_IN, BASIS_ASSUMED, 5e10, 0.5, 2, 0, 0.5},
        {"both of them", CURVE_LINK_IN, BASIS_PUBLISHED, 5e10, 0.5, 2, 1, 2},
        {"half way in the logarithm", CURVE_LINK_IN, BASIS_ASSUMED, 5e10, 0.5, 2, 0.75, 1.41421356},
        {"sides of their own", CURVE_LINK_IN, BASIS_DATASHEET, 5e10, 0.25, 1, 0.25, 0.5},
        {"and one that is sure", CURVE_LINK_IN, BASIS_DATASHEET, 5e10, 0.25, 1, 0.75, 1},
        {"measured: a tenth is below", CURVE_HOST_LOOKUP, BASIS_MEASURED, 24, 0.81, 1.21, 0.1,
         0.81},
        {"measured: a tenth is above", CURVE_HOST_LOOKUP, BASIS_MEASURED, 24, 0.81, 1.21, 0.9,
         1.21},
        {"measured: half way", CURVE_HOST_LOOKUP, BASIS_MEASURED, 24, 0.81, 1.21, 0.3, 0.9},
        {"measured: on past it", CURVE_HOST_LOOKUP, BASIS_MEASURED, 24, 0.0016, 1, 0, 0.00032},
        {"a count is whole", CURVE_HOST_NODE_THREADS, BASIS_ASSUMED, 8, 0.25, 1, 0.25, 0.5},
        {"to the nearest", CURVE_HOST_NODE_THREADS, BASIS_ASSUMED, 8, 0.25, 1, 0.02, 0.25},
        {"or one more", CURVE_LINK_GPUS_PER_UPLINK, BASIS_ASSUMED, 1, 1, 2, 0.9, 2},
        {"never none", CURVE_HOST_CORES, BASIS_ASSUMED, 2, 0.1, 1, 0, 0.5},
        {"sure without a range", CURVE_LINK_OUT, BASIS_ASSUMED, 5e10, 1, 1, 0.01, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = cases[i].value;
        const struct curve curve = {.count = 1,
                                    .value = &value,
                                    .basis = cases[i].basis,
                                    .least = cases[i].least,
                                    .most = cases[i].most};
        double got = spread_share(&curve, cases[i].id, cases[i].quantile);
        if (fabs(got - cases[i].share) > 1e-8) {
            fail_msg("%s: %.9g, not %.9g", cases[i].what, got, cases[i].share);
        }
    }
}

static void what_is_not_stated_has_no_spread(void **state)
{
    (void)state;
    const struct curve curve = {.count = 0};
    assert_true(spread_share(&curve, CURVE_HOST_CORES, 0.9) == 1);
}

/* A machine at shares of another: all points, shares up to the whole, and the other untouched. */
static void a_machine_is_scaled_figure_by_figure(void **state)
{
    (void)state;
    struct setup setup = SETUP("steps=1");
    const struct profile *profile = &setup.profile;
    struct scaled_profile scaled;
    struct error why;
    double shares[CURVE_COUNT];
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        shares[i] = 1;
    }
    shares[CURVE_GPU_TOPK] = 2;
    shares[CURVE_GPU_HBM_SHARE] = 4;
    double before = profile->curves[CURVE_GPU_TOPK].value[0];
    assert_true(scaled_profile_init(profile, shares, &scaled, &why));
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct curve *own = &scaled.profile.curves[id], *other = &profile->curves[id];
        assert_int_equal(own->count, other->count);
        for (uint32_t i = 0; i < own->count; i++) {
            double expected = id == CURVE_GPU_HBM_SHARE ? 1 : shares[id] * other->value[i];
            assert_near(own->value[i], expected, 0);
        }
    }
    assert_true(profile->curves[CURVE_GPU_TOPK].value[0] == before);
    scaled_profile_release(&scaled);
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_drawn_from_their_ranges),
        cmocka_unit_test(what_is_not_stated_has_no_spread),
        cmocka_unit_test(a_machine_is_scaled_figure_by_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
