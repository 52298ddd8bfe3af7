/* The band of hits by the size of a model, beside the table that traces/sizes.py prints. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "predict/answer.h"

#include <math.h>

static const struct {
    double billions, least, most; /* in % */
} rows[] = {{.5, 80, 95}, {1, 81, 96},  {3, 83, 96},  {8, 84, 97},
            {32, 84, 98}, {70, 84, 98}, {405, 84, 99}};

static void the_band_is_that_of_the_page(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double least, most;
        model_size_hits(rows[i].billions * 1e9, &least, &most);
        if (lround(100 * least) != (long)rows[i].least ||
            lround(100 * most) != (long)rows[i].most) {
            fail_msg("%g: %.1f to %.1f %%", rows[i].billions, 100 * least, 100 * most);
        }
    }
}

/* In logits, the band is narrowest at the mean size of the models. */
static void the_band_widens_with_the_distance(void **state)
{
    (void)state;
    double before = 0;
    for (double billions = 2; billions < 1000; billions *= 2) {
        double least, most;
        model_size_hits(billions * 1e9, &least, &most);
        double width = log(most / (1 - most)) - log(least / (1 - least));
        assert_true(width > before);
        before = width;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_band_is_that_of_the_page),
        cmocka_unit_test(the_band_widens_with_the_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
