/* Why a run is no answer, in words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/plan/plan_report.h"

#include <string.h>

static const struct {
    const char *name, *targets;
    const char *compared; /* NULL: none */
    const char *text;
} cases[] = {
    {"nothing is missed", NULL, NULL, ""},
    {"the compared figure is there", NULL, "hit_ratio", ""},
    {"the compared figure is missing", NULL, "mass_recall", "has no mass_recall"},
    {"a target is missed", "hit_ratio>=50%", NULL, "misses hit_ratio>=50%: 25.0 % (by 50 %)"},
    {"a target is far away", "hit_ratio<=1%", NULL,
     "misses hit_ratio<=1%: 25.0 % (25 times as much)"},
    {"no share of nothing", "hit_ratio<=0", NULL, "misses hit_ratio<=0: 25.0 %"},
    {"missed, and missing", "hit_ratio>=50%", "mass_recall",
     "misses hit_ratio>=50%: 25.0 % (by 50 %), has no mass_recall"},
    {"a target judges what is compared", "mass_recall>=50%", "mass_recall", "has no mass_recall"},
};

static void a_violation_is_always_told(void **state)
{
    (void)state;
    struct result result;
    struct error why = {0};
    result_init(&result);
    assert_true(result_text(&result, COLUMN(status), "ok", &why));
    result_real(&result, COLUMN(hit_ratio), 0.25);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[VIOLATION_TEXT] = "what was here before";
        struct targets targets;
        print_message("# %s\n", cases[i].name);
        assert_true(targets_parse(cases[i].targets, &targets, &why));
        const char *compared = cases[i].compared;
        violation_describe(&targets, compared != NULL ? column_find(compared) : NULL, &result,
                           text);
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
