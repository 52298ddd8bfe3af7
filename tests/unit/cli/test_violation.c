/* Why a run is no answer, in words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/plan/violation.h"

#include <string.h>

static const struct {
    const char *name, *targets;
    enum column compared;
    const char *text;
} cases[] = {
    {"nothing is missed", NULL, COLUMN_COUNT, ""},
    {"the compared figure is there", NULL, COLUMN_HIT_RATIO, ""},
    {"the compared figure is missing", NULL, COLUMN_MASS_RECALL, "has no mass_recall"},
    {"a target is missed", "hit_ratio>=50%", COLUMN_COUNT,
     "misses hit_ratio>=50% by 50 % (25.0 %)"},
    {"no share of nothing", "hit_ratio<=0", COLUMN_COUNT, "misses hit_ratio<=0 (25.0 %)"},
    {"missed, and missing", "hit_ratio>=50%", COLUMN_MASS_RECALL,
     "misses hit_ratio>=50% by 50 % (25.0 %), has no mass_recall"},
    {"a target judges what is compared", "mass_recall>=50%", COLUMN_MASS_RECALL,
     "has no mass_recall"},
};

static void a_violation_is_always_told(void **state)
{
    (void)state;
    struct result result;
    struct error why = {0};
    result_init(&result);
    assert_true(result_text(&result, COLUMN_STATUS, "ok", &why));
    result_real(&result, COLUMN_HIT_RATIO, 0.25);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[VIOLATION_TEXT] = "what was here before";
        struct targets targets;
        print_message("# %s\n", cases[i].name);
        assert_true(targets_parse(cases[i].targets, &targets, &why));
        violation_describe(&targets, cases[i].compared, &result, text);
        assert_string_equal(text, cases[i].text);
    }
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_violation_is_always_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
