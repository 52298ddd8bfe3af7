/* Fits: formulas turned round exactly, and a recording of a known profile whose twin must show the
 * same figures. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/fit/fit.h"
#include "trace/fit/fit_solve.h"
#include "trace/stats.h"
#include "unit/fixture/make_profile.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/trace_files.h"

#include <math.h>

enum { LAYERS = 8 }; /* slow parts are drawn once or twice in 256 steps: means over heads tell */

/* Correlations after 1, 2, 4 ... 128 steps, by hand from 1 - lag / lasts. */
static void shares_are_found_from_their_correlations(void **state)
{
    (void)state;
    static const struct {
        double shares[PROFILE_PARTS], correlation[FIT_LAGS];
    } cases[] = {
        {{1, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}},
        {{0, 0, 0, 0, 0, 0, 1}, {1, 1, 1, 1, 1, 1, 1, 1}},
        {{.5, 0, 0, 0, 0, 0, .5}, {.5, .5, .5, .5, .5, .5, .5, .5}},
        {{.2, .4, 0, 0, 0, 0, .4}, {.6, .4, .4, .4, .4, .4, .4, .4}},
        {{0, 0, .4, .4, 0, 0, .2}, {.9375, .875, .75, .5, .4, .2, .2, .2}},
        {{0, 0, 0, 0, 1, 0, 0}, {.9921875, .984375, .96875, .9375, .875, .75, .5, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double shares[PROFILE_PARTS];
        fit_solve_shares(cases[i].correlation, FIT_LAGS, shares);
        for (int k = 0; k < PROFILE_PARTS; k++) {
            if (fabs(shares[k] - cases[i].shares[k]) > 0.01) {
                fail_msg("case %zu, part %d: %.3f, not %.3f", i, k, shares[k], cases[i].shares[k]);
            }
        }
    }
}

/* Of 1000 units in an octave of level -3 and spread 2, normal tables give the share above a mass of
 * -1 (1 deviation up: .158655), -3 (.5) and -7 (2 down: .977250). */
static void levels_are_found_from_what_is_chosen(void **state)
{
    (void)state;
    struct fit_levels levels = {
        .first_octave = 6,
        .units = {1000, 10, 1000},
        .chosen = {{158.655, 0, 22.750}, {500, 5, 158.655}, {977.250, 9, 841.345}},
        .threshold = {-1, -3, -7},
        .anchors = 20,
        .anchor_level = 2,
    };
    struct trace_profile_head head = {0};
    fit_solve_levels(&levels, 3, &head);
    assert_int_equal(head.knots, 3);
    assert_true(fabs(head.level[0] + 3) < 0.01 && fabs(head.spread[0] - 2) < 0.01);
    assert_true(head.level[1] == head.level[0]); /* too few units: as the octave before */
    assert_true(fabs(head.level[2] + 5) < 0.01 && fabs(head.spread[2] - 2) < 0.01);
    assert_true(fabs(head.slope + 1) < 0.01);
    assert_true(fabs(head.anchor_share - 20.0 / 2030) < 1e-6 && head.anchor_level == 2);
}

/* A local head and a far one with anchors. */
static struct trace *make_known(uint32_t layers, struct trace_profile_head heads[2])
{
    static const double fast[PROFILE_PARTS] = {.3, .2, .1, .1, 0, 0, .3};
    static const double slow[PROFILE_PARTS] = {.1, 0, .1, .2, .2, .1, .3};
    for (int i = 0; i < 2; i++) {
        heads[i] = make_plain_head();
        heads[i].knots = 6;
        for (uint32_t o = 0; o < 6; o++) {
            heads[i].level[o] = i == 0 ? -1.5 * o : -0.3 * o;
            heads[i].spread[o] = i == 0 ? 2 : 3;
        }
        memcpy(heads[i].score, i == 0 ? fast : slow, sizeof fast);
        memcpy(heads[i].query, i == 0 ? fast : slow, sizeof fast);
        heads[i].decay = i == 0 ? 0.9 : 0.97;
        heads[i].own = heads[i].novelty = 0.3;
        heads[i].anchor_share = i == 0 ? 0 : 0.006;
        heads[i].anchor_level = 9;
        heads[i].anchor_spread = heads[i].anchor_drift = 0.5;
        heads[i].sinks = heads[i].born = 0.2;
        heads[i].recent = 0.1;
    }
    struct trace_profile profile = make_profile(heads, 1, 2);
    struct trace_geometry geometry = make_geometry(layers, 2, 2048, 256);
    geometry.keep = 0.2;
    return make_generated(&profile, &geometry);
}

static void measure(const struct trace *trace, struct trace_stats *stats)
{
    struct trace_selection selection = {0.1, 4, 64};
    struct error why;
    make_check(trace_stats_measure(trace, &selection, 2, stats, &why), &why);
}

static void a_twin_shows_what_its_recording_shows(void **state)
{
    (void)state;
    static const enum trace_figure figures[] = {
        TRACE_OVERLAP_1, TRACE_OVERLAP_4, TRACE_OVERLAP_16, TRACE_COSINE_1,
        TRACE_COSINE_4,  TRACE_COSINE_16, TRACE_FRESH_MASS,
    };
    struct trace_profile_head heads[2];
    struct trace_profile fitted;
    struct trace_stats shown, again;
    struct error why;
    struct trace *recording = make_known(LAYERS, heads);
    make_check(trace_fit(recording, 0.1, 2, &fitted, &why), &why);
    struct trace_geometry geometry = make_geometry(LAYERS, 2, 2048, 256);
    geometry.seed = 99;
    struct trace *twin = make_generated(&fitted, &geometry);
    measure(recording, &shown);
    measure(twin, &again);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        double is = again.overall[figures[i]], was = shown.overall[figures[i]];
        if (fabs(is - was) > 0.03) {
            fail_msg("%s: %.3f, not %.3f", trace_figures[figures[i]].name, is, was);
        }
    }
    trace_stats_release(&shown);
    trace_stats_release(&again);
    trace_profile_release(&fitted);
    trace_close(twin);
    trace_close(recording);
}

static void a_fit_is_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    struct trace_profile_head heads[2];
    struct trace *recording = make_known(ROUNDS(LAYERS, 2), heads);
    char *text[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_profile fitted;
        struct error why;
        size_t size;
        make_check(trace_fit(recording, 0.1, 1 + 2 * i, &fitted, &why), &why);
        FILE *memory = open_memstream(&text[i], &size);
        trace_profile_write(&fitted, false, memory);
        fclose(memory);
        trace_profile_release(&fitted);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
    trace_close(recording);
}

static void what_cannot_be_fitted_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t steps;
        bool has_queries;
        enum trace_unit_kind kind;
        double share;
        const char *found, *expected;
    } cases[] = {
        {63, true, TRACE_POSITIONS, 0.1, "63 steps are too few", "at least 64"},
        {64, false, TRACE_POSITIONS, 0.1, "without queries", ""},
        {64, true, TRACE_CLUSTERS, 0.1, "single tokens", ""},
        {64, true, TRACE_POSITIONS, 0.5, "but rows keep 30 %", "a share"},
        {64, true, TRACE_POSITIONS, 0, "demands want 0 %", "a share"},
    };
    char path[64];
    snprintf(path, sizeof path, "%s/r.swt", folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_header header = make_header();
        struct error why = {.found = "nothing"};
        struct trace_profile fitted;
        header.steps = cases[i].steps;
        header.sequences = 1;
        header.has_queries = cases[i].has_queries;
        header.unit_kind = cases[i].kind;
        make_trace(&header, path, 1);
        struct trace *recording = trace_open(path, &why);
        make_check(recording != NULL, &why);
        assert_false(trace_fit(recording, cases[i].share, 1, &fitted, &why));
        if (strstr(why.found, cases[i].found) == NULL ||
            strstr(why.expected, cases[i].expected) == NULL) {
            fail_msg("'%s', '%s'", why.found, why.expected);
        }
        trace_close(recording);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_found_from_their_correlations),
        cmocka_unit_test(levels_are_found_from_what_is_chosen),
        cmocka_unit_test(a_twin_shows_what_its_recording_shows),
        cmocka_unit_test(a_fit_is_the_same_on_any_number_of_threads),
        cmocka_unit_test_setup_teardown(what_cannot_be_fitted_is_refused, make_test_folder,
                                        remove_test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
