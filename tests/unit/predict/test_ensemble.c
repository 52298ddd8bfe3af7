/* trace: ensemble: its recordings ship, a point holds all of them, and each of its views has one. */
#include "unit/fixture/tiny.h"

#include "core/named.h"
#include "predict/result/result.h"
#include "predict/scenario/resolve.h"
#include "predict/scenario/point.h"

static void every_recording_ships(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENSEMBLE_FAMILIES; i++) {
        char path[4096];
        struct error why;
        assert_true(strlen(ensemble_families[i].recording) < RESULT_NAME);
        assert_true(
            find_path("traces", ensemble_families[i].recording, "swt", path, sizeof path, &why));
        if (access(path, R_OK) != 0) {
            fail_msg("%s is absent", path);
        }
    }
}

static const char *const usual[] = {"model=llama-3-8b", "hardware=a40", "system=retroinfer-10pct",
                                    "context=131072"};

static struct point point_with(const char *trace)
{
    struct point point = make_point(OVERRIDES(usual[0], usual[1], usual[2], usual[3], trace));
    return point;
}

static void a_view_has_the_recording_of_its_family(void **state)
{
    (void)state;
    struct point point = point_with("trace=ensemble");
    struct error why;
    assert_int_equal(point.family_count, ENSEMBLE_FAMILIES);
    assert_int_equal(point_views(&point), ENSEMBLE_FAMILIES);
    assert_string_equal(point.setup.trace_name, "ensemble");
    for (uint32_t i = 0; i < point.family_count; i++) {
        struct point view;
        assert_true(point_view(&point, i, &view, &why));
        assert_string_equal(view.setup.trace_name, ensemble_families[i].recording);
        assert_ptr_equal(view.setup.trace, point.families[i].trace);
        assert_non_null(strstr(trace_path(view.setup.trace), ensemble_families[i].recording));
        assert_int_equal(point_views(&view), 1);
        point_view_release(&view);
    }
    point_release(&point);
}

static void a_view_of_mixed_contexts_has_its_own_cohorts(void **state)
{
    (void)state;
    struct point point = make_point(OVERRIDES(usual[0], usual[1], usual[2], "trace=ensemble",
                                              "context=", "contexts={4K: 1, 128K: 1}", "batch=2"));
    struct point view;
    struct error why;
    assert_true(point_view(&point, 1, &view, &why));
    assert_int_equal(view.setup.cohort_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(view.setup.cohorts[i].trace, point.families[1].trace);
        assert_ptr_equal(point.setup.cohorts[i].trace, point.families[0].trace);
        assert_int_equal(view.setup.cohorts[i].context, point.setup.cohorts[i].context);
    }
    point_view_release(&view);
    point_release(&point);
}

/* The ensemble is another run than each of its families, and has the hashes of all. */
static void the_identity_covers_all_recordings(void **state)
{
    (void)state;
    struct point all = point_with("trace=ensemble"), one = point_with("trace=smollm2-135m");
    struct run_hashes of_all, of_one, of_less;
    struct error why;
    assert_true(run_hashes(&all, &of_all, &why));
    assert_true(run_hashes(&one, &of_one, &why));
    assert_string_not_equal(of_all.run, of_one.run);
    assert_string_not_equal(of_all.trace, of_one.trace);
    trace_close(all.families[--all.family_count].trace);
    assert_true(run_hashes(&all, &of_less, &why));
    assert_string_not_equal(of_all.trace, of_less.trace);
    point_release(&all);
    point_release(&one);
}

static void recordings_suffice_for_what_they_keep(void **state)
{
    (void)state;
    static const struct {
        const char *override;
        bool suffice;
    } cases[] = {
        {"steps=32", true},
        {"steps=2000", false},
        {"warmup=2000", false},
        {"mechanisms.selection=10%", true},
        {"mechanisms.selection=90%", false},
        {"system=quest", true},
        {"system=fullattn", true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct point point = make_point(OVERRIDES(usual[0], usual[1], "system=clo", usual[3],
                                                  "trace=ensemble", cases[i].override));
        struct error why;
        if (ensemble_suffices(&point, &why) != cases[i].suffice) {
            fail_msg("%s", cases[i].override);
        }
        point_release(&point);
    }
}

static void it_is_described_with_the_context_that_it_is_carried_to(void **state)
{
    (void)state;
    char text[256];
    struct point point = point_with("trace=ensemble");
    ensemble_describe(&point, text, sizeof text);
    assert_string_equal(text, "recordings of three small models (SmolLM2-135M, Qwen2.5-Coder-0.5B, "
                              "Gemma-3-270M) carried to 131072 tokens");
    point_release(&point);
    point = make_point(OVERRIDES(usual[0], usual[1], usual[2], "context=3840", "trace=ensemble"));
    ensemble_describe(&point, text, sizeof text);
    assert_null(strstr(text, "carried"));
    point_release(&point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recording_ships),
        cmocka_unit_test(a_view_has_the_recording_of_its_family),
        cmocka_unit_test(a_view_of_mixed_contexts_has_its_own_cohorts),
        cmocka_unit_test(the_identity_covers_all_recordings),
        cmocka_unit_test(recordings_suffice_for_what_they_keep),
        cmocka_unit_test(it_is_described_with_the_context_that_it_is_carried_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
