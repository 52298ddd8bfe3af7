/* What --require-basis takes and what it refuses, on results made by hand. */
#include "study/sweep/required_basis.h"

#include "unit/fixture/make_setup.h"

static const struct {
    const char *text;
    enum basis least;
    double share;
    const char *found; /* NULL: good */
} texts[] = {
    {"measured", BASIS_MEASURED, 1, NULL},
    {"published:90%", BASIS_PUBLISHED, .9, NULL},
    {"datasheet:0.5", BASIS_DATASHEET, .5, NULL},
    {"assumed:100%", BASIS_ASSUMED, 1, NULL},
    {"sure", 0, 0, "unknown basis 'sure'"},
    {"", 0, 0, "unknown basis ''"},
    {":50%", 0, 0, "unknown basis ''"},
    {"published:", 0, 0, "which is not a number"},
    {"published:90", 0, 0, "which is more than 100 %"},
    {"published:0%", 0, 0, "'0%'"},
    {"published:101%", 0, 0, "'101%'"},
    {"published:90%:", 0, 0, "which has an unknown unit"},
};

static void a_level_may_have_a_share(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct required_basis required;
        struct error why;
        bool good = required_basis_parse(texts[i].text, &required, &why);
        assert_int_equal(good, texts[i].found == NULL);
        if (good) {
            assert_true(required.asked);
            assert_int_equal(required.least, texts[i].least);
            assert_true(required.share == texts[i].share);
        } else if (strstr(why.found, texts[i].found) == NULL) {
            fail_msg("'%s': %s", texts[i].text, why.found);
        }
    }
}

/* A run that rests on 25 % published, 65 % datasheet and 10 % assumed figures, and on a published
 * trace. */
static const struct {
    const char *required;
    const char *found, *expected; /* NULL: it passes */
} checks[] = {
    {"assumed", NULL, NULL},
    {"datasheet:90%", NULL, NULL},
    {"datasheet:91%", "'clo' on 'a40': 90 %", "at least 91 %"},
    {"published:25%", NULL, NULL},
    {"published:26%", "'clo' on 'a40': 25 %", "at least 26 %"},
    {"measured:1%", "'llama-3-8b-like'", "measured"},
    {"datasheet", "' of hardware 'a40' is assumed", "datasheet or better"},
    {"measured", "'llama-3-8b-like'", "measured"},
};

static void time_and_trace_must_rest_on_what_is_required(void **state)
{
    (void)state;
    struct point point = POINT("system=clo", "trace=llama-3-8b-like");
    struct result result;
    struct error why;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(basis), "assumed", &why));
    assert_true(result_text(&result, COLUMN(trace_basis), "published", &why));
    result.basis[0] = (struct result_item){.name = "published", .share = .25};
    result.basis[1] = (struct result_item){.name = "datasheet", .share = .65};
    result.basis[2] = (struct result_item){.name = "assumed", .share = .1};
    result.basis_count = 3;
    for (size_t i = 0; i < COUNT(checks); i++) {
        struct required_basis required;
        assert_true(required_basis_parse(checks[i].required, &required, &why));
        bool good = required_basis_check(&required, &point, &result, &why);
        assert_int_equal(good, checks[i].found == NULL);
        if (!good) {
            assert_non_null(strstr(why.found, checks[i].found));
            assert_string_equal(why.expected, checks[i].expected);
        }
    }
    result_release(&result);
    point_release(&point);
}

/* What did not fit rests on nothing, and nothing is asked where nothing was required. */
static void a_run_without_a_time_passes(void **state)
{
    (void)state;
    struct point point = POINT("system=clo");
    struct required_basis required = {.asked = true, .least = BASIS_MEASURED, .share = 1};
    struct required_basis none = {.asked = false};
    struct result result;
    struct error why;
    result_init(&result);
    assert_true(required_basis_check(&required, &point, &result, &why));
    assert_true(result_text(&result, COLUMN(basis), "assumed", &why));
    assert_true(required_basis_check(&none, &point, &result, &why));
    result_release(&result);
    point_release(&point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_may_have_a_share),
        cmocka_unit_test(time_and_trace_must_rest_on_what_is_required),
        cmocka_unit_test(a_run_without_a_time_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
