/* Which results tie, worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/node.h"
#include "decode/error_band.h"
#include "predict/result/tie.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A run: its tokens a second, its band and what three families of recordings gave. */
struct run {
    char *system, *hardware;
    double rate;        /* 0: none */
    double low, high;   /* band, as shares; both 0: none stands */
    double families[3]; /* all 0: hits need no trace */
};

static struct cell text_cell(char *text)
{
    return (struct cell){.set = true, .text = text};
}

static void make(const struct run *run, struct result *out)
{
    result_init(out);
    out->cells[COLUMN(system)->index] = text_cell(run->system);
    out->cells[COLUMN(model)->index] = text_cell("llama-3-8b");
    out->cells[COLUMN(hardware)->index] = text_cell(run->hardware);
    if (run->rate > 0) {
        result_real(out, COLUMN(decode_tokens_per_s), run->rate);
    }
    out->cells[COLUMN(error_band)->index].set = run->low < 0;
    out->band[0][0] = run->low;
    out->band[0][1] = run->high;
    out->family_count = run->families[0] > 0 ? 3 : 0;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < out->family_count; i++) {
        snprintf(out->families[i].name, RESULT_NAME, "family %u", i);
        out->families[i].values[COLUMN(decode_tokens_per_s)->range - 1] = run->families[i];
        low = fmin(low, run->families[i]);
        high = fmax(high, run->families[i]);
    }
    result_real(out, COLUMN(decode_tokens_per_s_low), low); /* without families infinite, so null */
    result_real(out, COLUMN(decode_tokens_per_s_high), high);
}

static const struct {
    const char *what;
    struct run a, b;
    enum tie tie;
} cases[] = {
    {"2 % apart", {"vllm", "a40", 102, 0, 0, {0}}, {"clo", "a40", 100, 0, 0, {0}}, TIE_NEAR},
    {"3 % apart", {"vllm", "a40", 103, 0, 0, {0}}, {"clo", "a40", 100, 0, 0, {0}}, TIE_NONE},
    {"100 to 125 and 120 to 150",
     {"vllm", "a40", 125, -0.2, 0, {0}},
     {"clo", "a40", 150, -0.2, 0, {0}},
     TIE_BANDS},
    {"80 to 125 and 112 to 175: independent errors seldom reach so far apart",
     {"vllm", "a40", 100, -0.2, 0, {0}},
     {"clo", "a40", 140, -0.2, 0, {0}},
     TIE_NONE},
    {"80 to 100 and 120 to 150",
     {"vllm", "a40", 100, -0.2, 0, {0}},
     {"clo", "a40", 150, -0.2, 0, {0}},
     TIE_NONE},
    {"a band holds a figure without one",
     {"vllm", "a40", 125, -0.2, 0, {0}},
     {"clo", "a40", 110, 0, 0, {0}},
     TIE_BAND},
    {"a band, and a range over families beyond it",
     {"vllm", "a40", 125, -0.2, 0, {0}},
     {"clo", "a40", 90, 0, 0, {80, 90, 99}},
     TIE_NONE},
    {"a band, and a range over families that touches it",
     {"vllm", "a40", 125, -0.2, 0, {0}},
     {"clo", "a40", 90, 0, 0, {80, 90, 101}},
     TIE_BAND},
    {"one system on one machine shares its errors",
     {"clo", "a40", 125, -0.2, 0, {0}},
     {"clo", "a40", 110, -0.2, 0, {0}},
     TIE_NONE},
    {"one system on two machines does not",
     {"clo", "a40", 125, -0.2, 0, {0}},
     {"clo", "l40s", 110, -0.2, 0, {0}},
     TIE_BANDS},
    {"ranges overlap, and the order stays",
     {"clo", "a40", 20, 0, 0, {18, 20, 25}},
     {"h2o", "a40", 19, 0, 0, {17, 19, 24}},
     TIE_NONE},
    {"the order changes with one of three",
     {"clo", "a40", 20, 0, 0, {18, 20, 25}},
     {"h2o", "a40", 19, 0, 0, {17, 19, 26}},
     TIE_FAMILIES},
    {"a family that does not fit has no order",
     {"clo", "a40", 20, 0, 0, {18, 20, 25}},
     {"h2o", "a40", 19, 0, 0, {17, 19, (double)NAN}},
     TIE_FAMILIES},
    {"a figure without families within the range of another",
     {"clo", "a40", 20, 0, 0, {18, 20, 25}},
     {"vllm", "a40", 19, 0, 0, {0}},
     TIE_FAMILIES},
    {"a figure without families below the range of another",
     {"clo", "a40", 20, 0, 0, {18, 20, 25}},
     {"vllm", "a40", 17, 0, 0, {0}},
     TIE_NONE},
    {"neither has a figure", {"clo", "a40", 0, 0, 0, {0}}, {"h2o", "a40", 0, 0, 0, {0}}, TIE_NEAR},
    {"one has a figure", {"clo", "a40", 5, 0, 0, {0}}, {"h2o", "a40", 0, 0, 0, {0}}, TIE_NONE},
};

static void results_tie_within_what_is_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct result a, b;
        make(&cases[i].a, &a);
        make(&cases[i].b, &b);
        enum tie tie = result_tie(&a, &b, COLUMN(decode_tokens_per_s));
        if (tie != cases[i].tie || result_tie(&b, &a, COLUMN(decode_tokens_per_s)) != tie) {
            fail_msg("%s: %d, or %d the other way round, and it should be %d", cases[i].what, tie,
                     result_tie(&b, &a, COLUMN(decode_tokens_per_s)), cases[i].tie);
        }
    }
}

static void bytes_and_shares_tie_if_they_are_equal(void **state)
{
    (void)state;
    struct result a, b;
    const struct run run = {"clo", "a40", 1, 0, 0, {0}};
    make(&run, &a);
    make(&run, &b);
    result_integer(&a, COLUMN(hbm_bytes), 1000);
    result_integer(&b, COLUMN(hbm_bytes), 1001);
    assert_int_equal(result_tie(&a, &b, COLUMN(hbm_bytes)), TIE_NONE);
    assert_int_equal(result_tie(&a, &a, COLUMN(hbm_bytes)), TIE_NEAR);
    assert_string_equal(tie_reason(TIE_NEAR), "at most 2 % apart");
    assert_string_equal(tie_reason(TIE_BAND), "the error band of one reaches the other");
}

/* Whatever was predicted and whatever a run of one's own measured. */
static void a_figure_lies_between_its_ends(void **state)
{
    (void)state;
    for (double least = 0.05; least < 3; least *= 1.3) {
        for (double width = 1.01; width < 8; width *= 1.4) {
            for (double measured = 0.1; measured < 10; measured *= 1.2) {
                struct error_band band = {
                    .figures = 1, .sources = 1, .least = least, .most = least * width};
                struct node *file;
                struct error why;
                file = node_parse("alike: 77%", 10, "bands", &why);
                assert_non_null(file);
                assert_true(error_band_know(file, measured, &band, &why));
                node_destroy(file);
                double middle = band_middle(100, 100 * band.least, 100 * band.most);
                assert_true(100 * band.least <= middle && middle <= 100 * band.most);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_tie_within_what_is_unknown),
        cmocka_unit_test(a_figure_lies_between_its_ends),
        cmocka_unit_test(bytes_and_shares_tie_if_they_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
