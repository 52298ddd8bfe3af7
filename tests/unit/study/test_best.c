/* Which run is better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/plan/target.h"

#include <math.h>

static struct result run(double rate)
{
    struct result result;
    struct error why;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(status), "ok", &why));
    result_real(&result, COLUMN(decode_tokens_per_s), rate);
    result_integer(&result, COLUMN(tpot_ms), (int64_t)(1e9 / rate));
    return result;
}

static void more_of_a_rate_and_less_of_a_time_is_better(void **state)
{
    struct result fast = run(100), slow = run(50);
    (void)state;
    assert_true(best_merit(COLUMN(decode_tokens_per_s), &fast) >
                best_merit(COLUMN(decode_tokens_per_s), &slow));
    assert_true(best_merit(COLUMN(tpot_ms), &fast) > best_merit(COLUMN(tpot_ms), &slow));
    assert_true(isnan(best_merit(COLUMN(cost_per_million_tokens), &fast)));
    result_release(&fast);
    result_release(&slow);
}

static void keys_without_a_better_side_are_refused(void **state)
{
    struct error why;
    (void)state;
    assert_ptr_equal(best_read("cost_per_million_tokens", "--best", &why),
                     COLUMN(cost_per_million_tokens));
    assert_null(best_read("layers", "--best", &why));
    assert_null(best_read("decode_tokens_per_", "--best", &why));
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
