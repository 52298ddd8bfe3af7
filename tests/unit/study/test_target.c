/* Targets: what a text asks for, what cannot be asked, and by how much a run falls short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/server/serving_load.h"
#include "study/plan/target.h"
#include "unit/fixture/fault.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *text;
    const char *column;
    bool at_most;
    double bound;
} bounds[] = {
    {"tpot_ms<=40", "tpot_ms", true, 40},
    {"tpot_ms<=40ms", "tpot_ms", true, 40},
    {"tpot_ms <= 0.04 s", "tpot_ms", true, 40},
    {"step_us>=1.5", "step_us", false, 1.5},
    {"step_us>=1.5ms", "step_us", false, 1500},
    {"decode_tokens_per_s>=2e2", "decode_tokens_per_s", false, 200},
    {"hbm_bytes<=40GiB", "hbm_bytes", true, 42949672960},
    {"hbm_bytes<=1000", "hbm_bytes", true, 1000},
    {"h2d_bytes_per_step<=1MB", "h2d_bytes_per_step", true, 1e6},
    {"mass_recall>=90%", "mass_recall", false, 0.9},
    {"hit_ratio>=0.9", "hit_ratio", false, 0.9},
    {"hit_ratio_low>=85%", "hit_ratio_low", false, 0.85},
    {"step_us_high<=2ms", "step_us_high", true, 2000},
    {"context>=128K", "context", false, 131072},
    {"cost_per_million_tokens<=1.5", "cost_per_million_tokens", true, 1.5}, /* dollars, no tokens */
    {"preemptions<=0", "preemptions", true, 0},
};

static void a_bound_is_in_the_keys_unit_or_in_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        struct targets targets;
        struct error why = {.found = ""};
        if (!targets_parse(bounds[i].text, &targets, &why)) {
            fail_msg("%s: %s", bounds[i].text, why.found);
        }
        assert_int_equal(targets.count, 1);
        assert_string_equal(targets.all[0].column->name, bounds[i].column);
        assert_int_equal(targets.all[0].at_most, bounds[i].at_most);
        const char *typed = strchr(bounds[i].text, '=') + 1;
        assert_string_equal(targets.all[0].typed, typed + strspn(typed, " "));
        if (fabs(targets.all[0].bound - bounds[i].bound) > 1e-9 * bounds[i].bound) {
            fail_msg("%s: %g, not %g", bounds[i].text, targets.all[0].bound, bounds[i].bound);
        }
    }
}

static void figures_of_requests_are_told_from_those_of_steps(void **state)
{
    const struct {
        const struct column *column;
        bool serves;
    } figures[] = {{COLUMN(tpot_ms), false},          {COLUMN(decode_tokens_per_s), false},
                   {COLUMN(mass_recall), false},      {COLUMN(basis), false},
                   {COLUMN(requests), true},          {COLUMN(ttft_p99_ms), true},
                   {COLUMN(e2e_tokens_per_s), false}, {COLUMN(tpot_p90_ms), true},
                   {COLUMN(goodput), true},           {COLUMN(preemptions), true}};
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const struct target target = {.column = figures[i].column};
        if (target_serves(&target) != figures[i].serves) {
            fail_msg("%s", figures[i].column->name);
        }
    }
}

/* A value can be held to exactly. */
static void two_bounds_may_meet(void **state)
{
    struct targets targets;
    struct error why;
    (void)state;
    assert_true(targets_parse("batch>=4,batch<=4", &targets, &why));
    assert_int_equal(targets.count, 2);
}

static const struct {
    const char *text, *fault; /* as fault_of() has it */
} refused[] = {
    {"", "--target ''"},
    {"tpot_ms", "--target 'tpot_ms'"},
    {"tpot_ms<40", "--target 'tpot_ms<40'"},
    {"tpot_ms==40", "--target 'tpot_ms==40'"},
    {"<=40", "--target '<=40'"},
    {"tpot_ms<=40,", "--target ''"},
    {"tpot_ms<=", "--target '' 'tpot_ms'"},
    {"tpot_ms<=-4", "--target '-4' 'tpot_ms'"},
    {"tpot_ms<=nan", "--target 'nan' 'tpot_ms'"},
    {"tpot_ms<=4GiB", "--target '4GiB' 'tpot_ms'"},
    {"hbm_bytes<=4ms", "--target '4ms' 'hbm_bytes'"},
    {"hit_ratio>=90", "--target 'hit_ratio' '90'"},
    {"tpto_ms<=40", "--target 'tpto_ms' nearest 'tpot_ms'"},
    {"system<=40", "--target 'system'"},
    {"parts_us<=40", "--target 'parts_us'"},
    {"tpot_ms<=10,tpot_ms>=20", "--target 'tpot_ms>=20' 'tpot_ms<=10'"},
    {"tpot_ms>=20ms,mass_recall>=1,tpot_ms<=10", "--target 'tpot_ms>=20ms' 'tpot_ms<=10'"},
};

static void what_cannot_be_meant_is_a_usage_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct targets targets;
        struct error why = {.found = ""};
        char fault[FAULT_SIZE];
        assert_false(targets_parse(refused[i].text, &targets, &why));
        assert_int_equal(why.kind, ERROR_USAGE);
        assert_string_equal(fault_of(&why, fault), refused[i].fault);
    }
}

static void more_targets_than_there_is_room_for_are_refused(void **state)
{
    char text[512] = "batch>=1";
    struct targets targets;
    struct error why;
    (void)state;
    for (int i = 1; i < TARGETS_MOST; i++) {
        strcat(text, ",batch>=1");
    }
    assert_true(targets_parse(text, &targets, &why));
    assert_int_equal(targets.count, TARGETS_MOST);
    strcat(text, ",batch>=1");
    assert_false(targets_parse(text, &targets, &why));
    char longer[128];
    snprintf(longer, sizeof longer, "tpot_ms<=%0*d", TARGET_TEXT, 4);
    assert_false(targets_parse(longer, &targets, &why));
}

/* 50 ms, 20 tokens a second, all KV in HBM. */
static void make_run(struct result *result, const char *status)
{
    struct error why;
    result_init(result);
    result_integer(result, COLUMN(tpot_ms), 50000000);
    result_real(result, COLUMN(decode_tokens_per_s), 20);
    result_integer(result, COLUMN(preemptions), 3);
    assert_true(result_text(result, COLUMN(status), status, &why));
}

static const struct {
    const char *text;
    double violation;
} violations[] = {
    {"tpot_ms<=50", 0},
    {"tpot_ms<=51", 0},
    {"tpot_ms<=40", 0.25}, /* 10 of 40 */
    {"tpot_ms>=50", 0},
    {"tpot_ms>=100", 0.5},                         /* 50 of 100 */
    {"decode_tokens_per_s>=25", 0.2},              /* 5 of 25 */
    {"tpot_ms<=40,decode_tokens_per_s>=25", 0.25}, /* the larger of both */
    {"decode_tokens_per_s>=25,tpot_ms<=49.9", 0.2},
    {"preemptions<=0", 3},        /* of a bound that is nothing, in its unit */
    {"hit_ratio>=10%", INFINITY}, /* it has none */
    {"tpot_ms<=51,hit_ratio<=10%", INFINITY},
};

static void a_miss_is_a_share_of_the_bound_and_the_largest_counts(void **state)
{
    struct result result;
    (void)state;
    make_run(&result, "ok");
    for (size_t i = 0; i < sizeof violations / sizeof violations[0]; i++) {
        struct targets targets;
        struct error why;
        assert_true(targets_parse(violations[i].text, &targets, &why));
        double violation = targets_violation(&targets, &result);
        if (!(violation == violations[i].violation ||
              fabs(violation - violations[i].violation) < 1e-12)) {
            fail_msg("%s is missed by %g, not %g", violations[i].text, violation,
                     violations[i].violation);
        }
    }
    result_release(&result);
}

/* 81 requests that were asked for at 25 a second came at 0.5 a second. */
static void sessions_too_few_for_a_rate_do_not_meet_it(void **state)
{
    struct result result;
    struct targets targets;
    struct error why;
    (void)state;
    make_run(&result, "ok");
    assert_true(targets_parse("queue_grows<=0", &targets, &why));
    assert_true(isinf(targets_violation(&targets, &result))); /* no server */
    result_integer(&result, COLUMN(requests), 81);
    result_real(&result, COLUMN(requests_in_per_s), 0.5);
    assert_true(targets_violation(&targets, &result) == 1);
    result_integer(&result, COLUMN(queue_grows), 0);
    assert_true(targets_violation(&targets, &result) == 0);
    result_release(&result);
}

static void a_run_that_does_not_fit_meets_nothing(void **state)
{
    struct result result;
    struct targets targets;
    struct error why;
    char text[TARGET_TEXT];
    (void)state;
    make_run(&result, "out-of-memory");
    assert_true(targets_parse("tpot_ms<=51", &targets, &why));
    assert_true(isinf(targets_violation(&targets, &result)));
    assert_string_equal(target_format(&targets.all[0], &result, text), "-");
    result_release(&result);
    make_run(&result, "ok");
    assert_string_equal(target_format(&targets.all[0], &result, text), "50");
    result_release(&result);
}

/* What a server has to meet is added unless the user judged it. */
static void a_target_is_added_where_nothing_judges_its_column(void **state)
{
    struct targets targets;
    struct error why;
    (void)state;
    assert_true(targets_parse("requests_left_out<=3", &targets, &why));
    assert_true(targets_add_service(true, &targets, &why));
    assert_int_equal(targets.count, 2);
    assert_true(targets.all[0].bound == 3);
    assert_int_equal(targets.all[1].column, COLUMN(queue_grows));
    targets.count = TARGETS_MOST;
    assert_true(targets_add_service(true, &targets, &why));
    targets.all[1].column = COLUMN(tpot_ms);
    assert_false(targets_add_service(true, &targets, &why));
}

/* 45 ms of 50 is a tenth; lower bounds and other figures have no margin. */
static void a_margin_is_a_share_of_the_bound_of_a_time(void **state)
{
    struct targets targets;
    struct result result;
    struct error why;
    (void)state;
    result_init(&result);
    assert_true(result_text(&result, COLUMN(status), "ok", &why));
    result_integer(&result, COLUMN(tpot_p99_ms), 45000000);
    result_integer(&result, COLUMN(queue_grows), 0);
    assert_true(targets_parse("tpot_p99_ms<=50,queue_grows<=0,tpot_p99_ms>=44", &targets, &why));
    assert_float_equal(target_margin(&targets.all[0], &result), 0.1, 1e-12);
    assert_true(isnan(target_margin(&targets.all[1], &result)));
    assert_true(isnan(target_margin(&targets.all[2], &result)));
    result_integer(&result, COLUMN(tpot_p99_ms), 44000000);
    assert_true(targets_ample(&targets, &result));
    result_integer(&result, COLUMN(tpot_p99_ms), 46000000);
    assert_false(targets_ample(&targets, &result));
    result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_is_in_the_keys_unit_or_in_its_own),
        cmocka_unit_test(figures_of_requests_are_told_from_those_of_steps),
        cmocka_unit_test(two_bounds_may_meet),
        cmocka_unit_test(what_cannot_be_meant_is_a_usage_error),
        cmocka_unit_test(more_targets_than_there_is_room_for_are_refused),
        cmocka_unit_test(a_miss_is_a_share_of_the_bound_and_the_largest_counts),
        cmocka_unit_test(sessions_too_few_for_a_rate_do_not_meet_it),
        cmocka_unit_test(a_run_that_does_not_fit_meets_nothing),
        cmocka_unit_test(a_margin_is_a_share_of_the_bound_of_a_time),
        cmocka_unit_test(a_target_is_added_where_nothing_judges_its_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
