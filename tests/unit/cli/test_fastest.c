/* Which run is the fastest, which tie with it, and with which recordings. Results are made by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/runs/fastest.h"

#include <math.h>
#include <stdlib.h>

struct run {
    const char *name;
    size_t group;
    double rate, families[3]; /* tokens a second; all 0: it needs no trace; NaN: it does not fit */
    double band;              /* the rate lies as far below and above, as a share; 0: unknown */
};

static char *print(const struct run *runs, uint32_t count)
{
    static const char *const names[] = {"x", "y", "z"};
    struct error why;
    char *text = NULL;
    size_t size = 0;
    struct fastest *fastest = fastest_create(&why);
    assert_non_null(fastest);
    for (uint32_t i = 0; i < count; i++) {
        struct result result;
        result_init(&result);
        if (runs[i].rate > 0) {
            result_real(&result, COLUMN_DECODE_RATE, runs[i].rate);
        }
        result.cells[COLUMN_ERROR_BAND].set = runs[i].band > 0;
        result.band[0][0] = -runs[i].band;
        result.band[0][1] = runs[i].band;
        for (uint32_t f = 0; f < 3 && runs[i].families[1] != 0; f++) {
            snprintf(result.families[f].name, RESULT_NAME, "%s", names[f]);
            result.families[f].values[RANGE_DECODE_RATE] = runs[i].families[f];
            result.family_count = f + 1;
        }
        assert_true(fastest_add(fastest, runs[i].group, runs[i].group > 0 ? "batch 4" : "",
                                runs[i].name, &result, &why));
        result_release(&result);
    }
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fastest_print(fastest, out);
    fclose(out);
    fastest_destroy(fastest);
    return text;
}

#define ASSERT_PRINTS(expected, ...)                                                               \
    do {                                                                                           \
        const struct run runs[] = {__VA_ARGS__};                                                   \
        char *text = print(runs, sizeof runs / sizeof runs[0]);                                    \
        assert_string_equal(text, expected);                                                       \
        free(text);                                                                                \
    } while (0)

static void who_is_fastest_with_all(void **state)
{
    (void)state;
    ASSERT_PRINTS("b is fastest for 3 of 3 families\n", {"a", 0, 20, {19, 20, 21}, 0},
                  {"b", 0, 30, {29, 30, 31}, 0});
}

static void a_flip_is_named_with_its_family(void **state)
{
    (void)state;
    ASSERT_PRINTS("tied for fastest: b, a (ahead for 1 of 3 families: z)\n",
                  {"a", 0, 20, {19, 20, 33}, 0}, {"b", 0, 30, {29, 30, 31}, 0});
    ASSERT_PRINTS("b is fastest for 3 of 3 families; the order of a and c flips for 1 of 3 (x)\n",
                  {"a", 0, 20, {10, 20, 21}, 0}, {"b", 0, 30, {29, 30, 31}, 0},
                  {"c", 0, 15, {14, 15, 16}, 0});
}

static void a_run_without_a_trace_has_one_rate(void **state)
{
    (void)state;
    ASSERT_PRINTS("tied for fastest: full, a (ahead for 2 of 3 families: y, z)\n",
                  {"full", 0, 31, {0, 0, 0}, 0}, {"a", 0, 30, {29, 32, 33}, 0});
}

static void what_does_not_fit_loses(void **state)
{
    (void)state;
    ASSERT_PRINTS("tied for fastest: a, b (ahead for 1 of 3 families: x)\n",
                  {"a", 0, 20, {(double)NAN, 20, 21}, 0}, {"b", 0, 10, {10, 10, 10}, 0});
}

static void runs_that_are_near_tie(void **state)
{
    (void)state;
    ASSERT_PRINTS("tied for fastest: b, a (at most 2 % apart)\n", {"a", 0, 29.9, {0, 0, 0}, 0},
                  {"b", 0, 30, {0, 0, 0}, 0}, {"c", 0, 20, {0, 0, 0}, 0});
}

static void a_tie_by_one_band_says_whose(void **state)
{
    (void)state;
    ASSERT_PRINTS("tied for fastest: b, a (b lies in a's error band)\n",
                  {"a", 0, 27, {0, 0, 0}, 0.2}, {"b", 0, 30, {0, 0, 0}, 0});
    ASSERT_PRINTS("tied for fastest: b, a (a lies in b's error band)\n", {"a", 0, 27, {0, 0, 0}, 0},
                  {"b", 0, 30, {0, 0, 0}, 0.2});
    ASSERT_PRINTS("tied for fastest: b, a (their error bands overlap)\n",
                  {"a", 0, 27, {0, 0, 0}, 0.2}, {"b", 0, 30, {0, 0, 0}, 0.2});
}

static void groups_are_apart(void **state)
{
    (void)state;
    ASSERT_PRINTS("b is fastest for 3 of 3 families\nbatch 4: a is fastest for 3 of 3 families\n",
                  {"a", 0, 20, {19, 20, 21}, 0}, {"b", 0, 30, {29, 30, 31}, 0},
                  {"a", 1, 90, {89, 90, 91}, 0}, {"b", 1, 30, {29, 30, 31}, 0});
}

static void nothing_is_said_without_families_ties_or_rivals(void **state)
{
    (void)state;
    ASSERT_PRINTS("", {"a", 0, 20, {0, 0, 0}, 0}, {"b", 0, 30, {0, 0, 0}, 0});
    ASSERT_PRINTS("", {"a", 0, 20, {19, 20, 21}, 0}, {"b", 0, 0, {0, 0, 0}, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_fastest_with_all),
        cmocka_unit_test(a_flip_is_named_with_its_family),
        cmocka_unit_test(a_run_without_a_trace_has_one_rate),
        cmocka_unit_test(what_does_not_fit_loses),
        cmocka_unit_test(runs_that_are_near_tie),
        cmocka_unit_test(a_tie_by_one_band_says_whose),
        cmocka_unit_test(groups_are_apart),
        cmocka_unit_test(nothing_is_said_without_families_ties_or_rivals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
