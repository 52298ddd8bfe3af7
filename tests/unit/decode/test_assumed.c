/* Ledgers without a trace: the mean and the spread that were asked for, whatever the heads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS_MOST = 64, HEADS_MOST = 16 };

static struct replay_head offloaded[LAYERS_MOST * HEADS_MOST];

static int offload_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < LAYERS_MOST * HEADS_MOST; i++) {
        offloaded[i] = (struct replay_head){.offloaded = true, .importance = 1};
    }
    return 0;
}

/* 10 % of 100 000 tokens are wanted, in manager units of 16. */
static struct replay_plan plan_of(uint32_t layers, uint32_t heads)
{
    return (struct replay_plan){.layers = layers,
                                .kv_heads = heads,
                                .batch = 1,
                                .context = 100000,
                                .heads = offloaded,
                                .policy = policies[0],
                                .selection = .1,
                                .capacity = .3,
                                .manager_unit = 16,
                                .steps = 3};
}

static void assume(double hit, double spread, uint64_t seed, const struct replay_plan *plan,
                   struct ledger *ledger)
{
    struct error why;
    ledger_init(ledger);
    if (!replay_assumed(hit, spread, seed, plan, ledger, &why)) {
        fail_msg("hit %g, spread %g: %s", hit, spread, why.found);
    }
}

/* One head a layer, so that rows are heads. */
struct spread_case {
    double hit, spread;
    uint32_t layers;
    double least_spread; /* the slices' own variation is lost */
};

static const struct spread_case spread_cases[] = {
    {.93, .05, 64, .047},  {.93, .05, 1, 0},      {.5, .001, 64, .0009}, {.5, .25, 64, .245},
    {.999, .02, 64, .007}, {.001, .02, 64, .007}, {.8, .39, 64, .38},    {.5, .499, 64, .49},
    {.93, 0, 64, 0},       {0, 0, 7, 0},          {1, 0, 7, 0},
};

static void heads_have_the_mean_and_spread_asked_for(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof spread_cases / sizeof *spread_cases; c++) {
        const struct spread_case *expected = &spread_cases[c];
        struct replay_plan plan = plan_of(expected->layers, 1);
        struct ledger ledger;
        assume(expected->hit, expected->spread, 1, &plan, &ledger);
        double sum = 0, squares = 0;
        for (uint32_t layer = 0; layer < expected->layers; layer++) {
            double ratio = (double)ledger.rows[layer].hit / 10000;
            sum += ratio;
            squares += (ratio - expected->hit) * (ratio - expected->hit);
        }
        double mean = sum / expected->layers, spread = sqrt(squares / expected->layers);
        if (fabs(mean - expected->hit) > 1e-4 / expected->layers ||
            spread > expected->spread + 1e-4 || spread < expected->least_spread) {
            fail_msg("hit %g, spread %g, %u heads: found %g and %g", expected->hit,
                     expected->spread, expected->layers, mean, spread);
        }
        ledger_release(&ledger);
    }
}

/* 93 % of 10 000 tokens, three sequences of two heads. */
static void rows_add_up_as_worked_by_hand(void **state)
{
    (void)state;
    struct replay_plan plan = plan_of(2, 2);
    plan.batch = 3;
    struct ledger ledger;
    assume(.93, 0, 1, &plan, &ledger);
    for (uint32_t i = 0; i < 3 * 2; i++) {
        const struct ledger_row *row = &ledger.rows[i];
        assert_int_equal(row->wanted, 60000);
        assert_int_equal(row->hit, 55800);
        assert_int_equal(row->missed, 4200);
        assert_int_equal(row->missed_worst, 700);
        assert_int_equal(row->lookups, 6 * 625);
        assert_int_equal(row->updates, 6 * 581); /* 9300 / 16 = 581.25 */
        assert_int_equal(row->inserts, 6 * 44);  /* 700 / 16 = 43.75 */
        assert_int_equal(row->fetching_heads, 6);
        assert_int_equal(row->reused_heads, 0);
        assert_int_equal(row->offloaded_heads, 6);
        assert_float_equal(row->mass, 6, 1e-12);
    }
    assert_int_equal(ledger.demand_cold, 0);
    assert_int_equal(ledger.demand_wanted, 3 * 2 * 60000);
    assert_int_equal(ledger.demand_hit, 3 * 2 * 55800);
    ledger_release(&ledger);
}

/* 3 tokens a head at 93 %: 2.79, which is 3 too often by itself. */
static void rounding_keeps_the_mean(void **state)
{
    (void)state;
    struct replay_plan plan = plan_of(10, 10);
    plan.context = 30;
    struct ledger ledger;
    assume(.93, .05, 1, &plan, &ledger);
    uint64_t hit = 0;
    for (uint32_t layer = 0; layer < 10; layer++) {
        assert_int_equal(ledger.rows[layer].wanted, 30);
        hit += ledger.rows[layer].hit;
    }
    assert_int_equal(hit, 279);
    ledger_release(&ledger);
}

static void resident_heads_take_no_share(void **state)
{
    (void)state;
    struct replay_plan plan = plan_of(2, 2);
    const struct replay_head heads[] = {{.importance = 1},
                                        {.importance = 1},
                                        {.offloaded = true, .importance = 1},
                                        {.importance = 1}};
    plan.heads = heads;
    struct ledger ledger;
    assume(.8, .1, 1, &plan, &ledger);
    assert_int_equal(ledger.rows[0].wanted, 0);
    assert_int_equal(ledger.rows[1].hit, 8000);
    ledger_release(&ledger);
}

static void a_seed_deals_the_same_ratios_in_one_order(void **state)
{
    (void)state;
    struct replay_plan plan = plan_of(32, 8);
    struct ledger ledger, again, other;
    assume(.93, .05, 7, &plan, &ledger);
    assume(.93, .05, 7, &plan, &again);
    assume(.93, .05, 8, &plan, &other);
    size_t size = sizeof *ledger.rows * 32;
    assert_memory_equal(ledger.rows, again.rows, size * 3);
    assert_memory_equal(ledger.rows, ledger.rows + 32, size);
    assert_memory_equal(ledger.rows, ledger.rows + 64, size);
    assert_memory_not_equal(ledger.rows, other.rows, size);
    assert_int_equal(ledger.demand_hit, other.demand_hit);
    ledger_release(&ledger);
    ledger_release(&again);
    ledger_release(&other);
}

/* A layer's heads are not neighbours in the distribution: its worst is far below its mean. */
static void no_layer_has_all_the_bad_heads(void **state)
{
    (void)state;
    struct replay_plan plan = plan_of(32, 8);
    struct ledger ledger;
    assume(.93, .05, 7, &plan, &ledger);
    for (uint32_t layer = 0; layer < 32; layer++) {
        double ratio = (double)ledger.rows[layer].hit / (double)ledger.rows[layer].wanted;
        assert_in_range((uint64_t)(1000 * ratio), 860, 990);
        assert_true(ledger.rows[layer].missed_worst > ledger.rows[layer].missed / 8);
    }
    ledger_release(&ledger);
}

struct refusal {
    double hit, spread;
    const char *found, *expected;
};

static const struct refusal refusals[] = {
    {1.01, 0, "an assumed hit ratio of 101 %", "0 % ... 100 %"},
    {-.01, 0, "an assumed hit ratio of -1 %", "0 % ... 100 %"},
    {.9, .3, "a spread of 30 % around 90 %", "0, or 0.1 % up to below 30 %"},
    {.5, .0005, "a spread of 0.05 % around 50 %", "0, or 0.1 % up to below 50 %"},
    {.5, -.1, "a spread of -10 % around 50 %", "0, or 0.1 % up to below 50 %"},
    {1, .01, "a spread of 1 % around 100 %", "0"},
};

static void distributions_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    struct replay_plan plan = plan_of(2, 2);
    for (size_t c = 0; c < sizeof refusals / sizeof *refusals; c++) {
        struct error why;
        struct ledger ledger;
        ledger_init(&ledger);
        assert_false(replay_assumed(refusals[c].hit, refusals[c].spread, 1, &plan, &ledger, &why));
        assert_string_equal(why.found, refusals[c].found);
        assert_string_equal(why.expected, refusals[c].expected);
        ledger_release(&ledger);
    }
    struct error why;
    struct ledger ledger;
    ledger_init(&ledger);
    assert_false(replay_assumed((double)NAN, 0, 1, &plan, &ledger, &why));
    assert_false(replay_assumed(.9, (double)NAN, 1, &plan, &ledger, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_have_the_mean_and_spread_asked_for),
        cmocka_unit_test(rows_add_up_as_worked_by_hand),
        cmocka_unit_test(rounding_keeps_the_mean),
        cmocka_unit_test(resident_heads_take_no_share),
        cmocka_unit_test(a_seed_deals_the_same_ratios_in_one_order),
        cmocka_unit_test(no_layer_has_all_the_bad_heads),
        cmocka_unit_test(distributions_that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests(tests, offload_all, NULL);
}
