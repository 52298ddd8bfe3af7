/* Which run is better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/plan/best.h"

#include <math.h>

static struct result run(double rate)
{
    struct result result;
    struct error why;
    result_init(&result);
    assert_true(result_text(&result, COLUMN_STATUS, "ok", &why));
    result_real(&result, COLUMN_DECODE_RATE, rate);
    result_integer(&result, COLUMN_TPOT, (int64_t)(1e9 / rate));
    return result;
}

static void more_of_a_rate_and_less_of_a_time_is_better(void **state)
{
    struct result fast = run(100), slow = run(50);
    (void)state;
    assert_true(best_merit(COLUMN_DECODE_RATE, &fast) > best_merit(COLUMN_DECODE_RATE, &slow));
    assert_true(best_merit(COLUMN_TPOT, &fast) > best_merit(COLUMN_TPOT, &slow));
    assert_true(isnan(best_merit(COLUMN_COST, &fast)));
    result_release(&fast);
    result_release(&slow);
}

static void keys_without_a_better_side_are_refused(void **state)
{
    enum column column;
    struct error why;
    (void)state;
    assert_true(best_read("cost_per_million_tokens", "--best", &column, &why));
    assert_int_equal(column, COLUMN_COST);
    assert_true(best_is_least(column));
    assert_false(best_read("layers", "--best", &column, &why));
    assert_false(best_read("decode_tokens_per_", "--best", &column, &why));
    assert_string_equal(why.nearest, "decode_tokens_per_s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_of_a_rate_and_less_of_a_time_is_better),
        cmocka_unit_test(keys_without_a_better_side_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
