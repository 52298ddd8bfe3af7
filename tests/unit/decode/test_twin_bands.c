/* Bands of twins, worked by hand: variances of texts, slopes and models, and quantiles of Student's
 * t from a table. All twins have a share of one half, so a recording's logit is its residual. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/replay/twin_bands.h"

#include <math.h>
#include <stdio.h>

enum { FIGURE = 7 };

/* Quantiles of t with 1, 2 and 3.12 degrees of freedom, for a chance of .8. */
#define T_1 3.07768
#define T_2 1.88562
#define T_3_12 1.62086

static void add(struct twin_rows *rows, const char *model, const char *text, uint32_t context,
                double logit)
{
    struct error why;
    struct twin_row row = {.context = context, .fitted = 1000};
    snprintf(row.model, sizeof row.model, "%s", model);
    snprintf(row.text, sizeof row.text, "%s", text);
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        row.was[f] = f == FIGURE ? 1 / (1 + exp(-logit)) : 0.3;
        row.is[f] = 0.5;
    }
    assert_true(twin_rows_add(rows, &row, &why));
}

/* Two models, two texts each, at 1000 and 2000 tokens. */
static struct twin_rows make_shipped(void)
{
    struct twin_rows rows = {.row = NULL};
    add(&rows, "a", "x", 1000, 0.1);
    add(&rows, "a", "y", 1000, -0.1);
    add(&rows, "b", "x", 1000, 0.2);
    add(&rows, "b", "y", 1000, -0.2);
    add(&rows, "a", "x", 2000, 0.1 + 0.1); /* slopes .1, .3: mean .2 */
    add(&rows, "a", "y", 2000, -0.1 + 0.3);
    add(&rows, "b", "x", 2000, 0.2 - 0.3); /* slopes -.3, -.1: mean -.2 */
    add(&rows, "b", "y", 2000, -0.2 - 0.1);
    return rows;
}

static struct twin_rows make_own(void)
{
    struct twin_rows rows = {.row = NULL};
    add(&rows, "own", "z", 1000, 0.3);
    return rows;
}

/* `half` is a quantile of t times a deviation, in logits. */
static void assert_band(const double band[2], double centre, double half)
{
    double low = 1 / (1 + exp(half - centre)), high = 1 / (1 + exp(-half - centre));
    if (!(fabs(band[0] - low) < 1e-4 && fabs(band[1] - high) < 1e-4)) {
        fail_msg("%.5f to %.5f, not %.5f to %.5f", band[0], band[1], low, high);
    }
}

/* Of texts: (.01 + .01 + .04 + .04) / 2 degrees of freedom, twice, because own recording and new one
 * both have a text: .1. */
static void another_text_lies_about_the_own_recording(void **state)
{
    (void)state;
    double band[2];
    struct twin_rows shipped = make_shipped(), own = make_own();
    struct twin_evidence evidence = {&shipped, &own};
    assert_true(twin_band_text(&evidence, FIGURE, 1000, 0.5, band));
    assert_band(band, 0.3, T_2 * sqrt(0.1));
    assert_true(twin_band_text(&evidence, FIGURE, 1000, 0.6, band)); /* another twin: it moves */
    assert_band(band, 0.3 + log(1.5), T_2 * sqrt(0.1));
    twin_rows_release(&shipped);
    twin_rows_release(&own);
}

/* Slopes: within models (4 * .01) / 2 = .02; mean square of their means 4 * .04 = .16, so between
 * models (.16 - .02) / 2 = .07, times 1 + 1/2; the common slope is 0. Degrees of freedom by
 * Satterthwaite: .225^2 / (.1^2 / 2 + .105^2 / 1 + .02^2 / 2) = 3.12. */
static void another_context_adds_slopes(void **state)
{
    (void)state;
    double band[2], half[2];
    struct twin_rows shipped = make_shipped(), own = make_own();
    struct twin_evidence evidence = {&shipped, &own};
    assert_true(twin_band_text(&evidence, FIGURE, 2000, 0.5, band));
    assert_band(band, 0.3, T_3_12 * sqrt(0.225));
    half[0] = log(band[1] / (1 - band[1])) - 0.3;

    assert_false(twin_band_text(&evidence, FIGURE, 2001, 0.5, band)); /* no row goes as far */
    assert_false(twin_band_text(&evidence, FIGURE, 999, 0.5, band));

    add(&own, "own", "z", 2000, 0.3 + 0.6); /* a slope of its own */
    assert_true(twin_band_text(&evidence, FIGURE, 2000, 0.5, band));
    double centre = 0.5 * (log(band[0] / (1 - band[0])) + log(band[1] / (1 - band[1])));
    half[1] = log(band[1] / (1 - band[1])) - centre;
    assert_true(centre > 0.3 + 0.5 && centre < 0.3 + 0.6);
    assert_true(half[1] < half[0]);
    twin_rows_release(&shipped);
    twin_rows_release(&own);
}

/* Means at 1000 tokens: 0, 0 and .3; their variance is .03, times 1 + 1/3: .04. */
static void another_model_lies_about_all(void **state)
{
    (void)state;
    double band[2];
    struct twin_rows shipped = make_shipped(), own = make_own();
    struct twin_evidence evidence = {&shipped, &own};
    assert_true(twin_band_model(&evidence, FIGURE, 1100, band));
    assert_band(band, 0.1, T_2 * 0.2);
    twin_rows_release(&own);
    own = (struct twin_rows){.row = NULL};
    add(&own, "b", "z", 1000, 0.3); /* replaces the shipped rows of b */
    assert_true(twin_band_model(&evidence, FIGURE, 1000, band));
    assert_band(band, 0.15, T_1 * sqrt(0.045 * 1.5));
    twin_rows_release(&shipped);
    twin_rows_release(&own);
}

static void without_texts_there_is_no_band(void **state)
{
    (void)state;
    double band[2];
    struct twin_rows shipped = {.row = NULL}, own = make_own();
    struct twin_evidence evidence = {&shipped, &own};
    assert_false(twin_band_text(&evidence, FIGURE, 1000, 0.5, band));
    assert_false(twin_band_model(&evidence, FIGURE, 1000, band));
    add(&own, "own", "y", 1000, 0.1); /* two texts of its own suffice: their variance is .02 */
    assert_true(twin_band_text(&evidence, FIGURE, 1000, 0.5, band));
    assert_band(band, 0.2, T_1 * sqrt(0.02 * 1.5));
    twin_rows_release(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_text_lies_about_the_own_recording),
        cmocka_unit_test(another_context_adds_slopes),
        cmocka_unit_test(another_model_lies_about_all),
        cmocka_unit_test(without_texts_there_is_no_band),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
