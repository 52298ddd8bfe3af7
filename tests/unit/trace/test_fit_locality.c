/* Locality: counted by hand, drawn as a profile says, kept when it is carried, and found again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/fit/fit_locality.h"
#include "unit/fixture/make_profile.h"

#include <math.h>

static struct fit_locality measure(const struct trace *trace, uint32_t steps)
{
    static const struct trace_selection selection = {0.1, 4, 64};
    struct fit_locality out;
    struct error why;
    make_check(fit_locality_measure(trace, &selection, steps, 1, &out, &why), &why);
    return out;
}

static struct fit_locality measure_profile(const struct trace_profile *profile, uint32_t layers,
                                           uint32_t kv_heads, uint32_t context, uint32_t steps)
{
    struct trace_geometry geometry = make_geometry(layers, kv_heads, context, steps);
    struct trace *trace = make_generated(profile, &geometry);
    struct fit_locality out = measure(trace, steps);
    trace_close(trace);
    return out;
}

static void expect_near(const char *claim, double found, double expected, double tolerance)
{
    if (fabs(found - expected) > tolerance) {
        fail_msg("%s: %.3f, not %.3f", claim, found, expected);
    }
}

/* Demands of 10 % (103 of 1024 units). With levels alone, all heads want the nearest 103 units
 * outside the window, 857 to 959. By hand: of 16 neighbourhoods of 64 units, those from 832 on have
 * 39 of 64 and those from 896 on 64 of 64 units wanted: (39 * 38 / 63 + 64) / 103 = .850. Of 64
 * neighbourhoods of 16, the one from 848 on has 7 of 16: (7 * 6 / 15 + 96) / 103 = .959. Of 256 of
 * 4, the one from 856 on has 3: (3 * 2 / 3 + 100) / 103 = .990. Of 1024, none has a neighbour. */
static void wanted_neighbours_are_counted_as_by_hand(void **state)
{
    (void)state;
    struct trace_profile_head head = make_plain_head();
    head.knots = 5;
    for (uint32_t o = 0; o < head.knots; o++) {
        head.level[o] = -8.0 * o;
        head.spread[o] = 0;
    }
    struct trace_profile_head heads[2] = {head, head};
    struct trace_profile profile = make_profile(heads, 1, 2);
    struct trace_geometry geometry = make_geometry(1, 2, 1024, 1);
    geometry.keep = 103.0 / 1024;
    const struct trace_selection selection = {geometry.keep, 4, 64};
    struct trace *trace = make_generated(&profile, &geometry);
    struct fit_locality found;
    struct error why;
    make_check(fit_locality_measure(trace, &selection, 1, 1, &found, &why), &why);
    expect_near("1024 blocks", found.near[0], 0, 1e-9);
    expect_near("256 blocks", found.near[1], (2 + 100) / 103., 1e-9);
    expect_near("64 blocks", found.near[2], (7 * 6 / 15. + 96) / 103, 1e-9);
    expect_near("16 blocks", found.near[3], (39 * 38 / 63. + 64) / 103, 1e-9);
    expect_near("heads", found.alike, 1, 1e-9);
    trace_close(trace);
}

/* Units of one level, so that all else is chance: the wanted share is 10.35 %. */
static void without_locality_all_is_chance(void **state)
{
    (void)state;
    struct trace_profile_head heads[2] = {make_plain_head(), make_plain_head()};
    struct trace_profile profile = make_profile(heads, 1, 2);
    struct fit_locality found = measure_profile(&profile, 2, 2, 4096, 8);
    for (int width = 0; width < PROFILE_WIDTHS; width++) {
        expect_near("near", found.near[width], 0.1035, 0.02);
    }
    expect_near("alike", found.alike, 0.1035, 0.02);
}

/* A unit and another one of its 1024th of the context both take after it with probability .8 * .8:
 * then they are wanted together, otherwise by chance. A wider neighbourhood has the step from the
 * 1024th to the 256th, too: .64 * .25. Two heads take the same static properties with .9 * .9. */
static void what_a_profile_says_is_drawn(void **state)
{
    (void)state;
    struct trace_profile_head heads[2] = {make_plain_head(), make_plain_head()};
    struct trace_profile profile = make_profile(heads, 1, 2);
    heads[0].score[0] = heads[1].score[0] = 0;
    heads[0].score[PROFILE_PARTS - 1] = heads[1].score[PROFILE_PARTS - 1] = 1;
    profile.locality = (struct profile_locality){{0.8, 0.5, 0, 0}, 0.9};
    struct fit_locality found = measure_profile(&profile, 12, 2, 4096, 1);
    expect_near("1024ths", found.near[0], 0.64 + 0.36 * 0.1035, 0.04);
    /* of 15 others, 3 are in the same 1024th */
    expect_near("256ths", found.near[1], 0.1035 + 0.8965 * (3 * 0.64 + 12 * 0.16) / 15, 0.04);
    expect_near("64ths", found.near[2], 0.1035 + 0.8965 * (3 * 0.64 + 12 * 0.16) / 63, 0.03);
    expect_near("alike", found.alike, 0.81 + 0.19 * 0.1035, 0.04);
}

/* To 32 times the context and four times the heads. */
static void carrying_keeps_locality(void **state)
{
    (void)state;
    struct trace_profile_head heads[2] = {make_plain_head(), make_plain_head()};
    struct trace_profile profile = make_profile(heads, 1, 2);
    heads[0].score[0] = heads[1].score[0] = 0.5;
    heads[0].score[PROFILE_PARTS - 1] = heads[1].score[PROFILE_PARTS - 1] = 0.5;
    profile.locality = (struct profile_locality){{0.6, 0.85, 0.85, 0.85}, 0.85};
    struct fit_locality home = measure_profile(&profile, 64, 2, 4096, 1);
    struct fit_locality away = measure_profile(&profile, 8, 8, 131072, 1);
    for (int width = 0; width < PROFILE_WIDTHS; width++) {
        expect_near("near", away.near[width], home.near[width], 0.05);
    }
    expect_near("alike", away.alike, home.alike, 0.05);
    assert_true(home.near[0] > 0.2 && home.alike > 0.3);
}

static void what_was_drawn_is_found_again(void **state)
{
    (void)state;
    struct trace_profile_head heads[3] = {make_plain_head(), make_plain_head(), make_plain_head()};
    struct trace_profile profile = make_profile(heads, 1, 3);
    profile.locality = (struct profile_locality){{0.55, 0.85, 0.85, 0.8}, 0.8};
    struct trace_geometry geometry = make_geometry(8, 3, 4096, 32);
    struct trace *recording = make_generated(&profile, &geometry);
    struct fit_locality shown = measure(recording, 32);
    struct error why;
    profile.locality = (struct profile_locality){{0}, 0};
    make_check(fit_locality_solve(recording, 0.1, 1, &profile, &why), &why);
    geometry.seed = 7;
    struct trace *twin = make_generated(&profile, &geometry);
    struct fit_locality found = measure(twin, 32);
    for (int width = 0; width < PROFILE_WIDTHS; width++) {
        expect_near("near", found.near[width], shown.near[width], 0.03);
    }
    expect_near("alike", found.alike, shown.alike, 0.04);
    trace_close(twin);
    trace_close(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wanted_neighbours_are_counted_as_by_hand),
        cmocka_unit_test(without_locality_all_is_chance),
        cmocka_unit_test(what_a_profile_says_is_drawn),
        cmocka_unit_test(carrying_keeps_locality),
        cmocka_unit_test(what_was_drawn_is_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
