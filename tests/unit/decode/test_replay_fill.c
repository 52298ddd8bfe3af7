/* What caches begin with: by hand, and on a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/replay/replay_job.h"
#include "unit/fixture/make_trace.h"

#include <string.h>

/* Ten units, of which the first and the last two are the window. The row records 4, 6 and 2. */
static void what_the_first_step_weighs_comes_before_the_latest(void **state)
{
    (void)state;
    static const uint32_t recorded[] = {4, 6, 2}, expected[] = {4, 6, 2, 7, 5, 3, 1};
    static const uint8_t masses[] = {10, 0, 40}, expected_mass[] = {10, 0, 40, 255, 255, 255, 255};
    const struct demand first = {.units = recorded, .mass = masses, .wanted = 1, .recorded = 3};
    const struct demand_shape shape = {.wanted = 1, .first_unit = 1, .end_unit = 8};
    uint32_t units[10];
    uint8_t mass[10];
    struct demand fill = replay_fill(&first, &shape, units, mass);
    assert_int_equal(fill.wanted, 7);
    assert_int_equal(fill.recorded, 7);
    assert_memory_equal(fill.units, expected, sizeof expected);
    assert_memory_equal(fill.mass, expected_mass, sizeof expected_mass);
}

enum { LAYERS = 3, WARMUP = 8, STEPS = 32 };

struct figures {
    double hits;
    uint64_t cold;
};

static struct figures replay(const struct trace *trace, const char *policy, double capacity,
                             enum block_span span, bool starts_full)
{
    struct error why;
    struct ledger ledger;
    static const struct replay_head head = {.offloaded = true, .importance = 1};
    const struct replay_head heads[LAYERS] = {head, head, head};
    struct replay_plan plan = {
        .layers = LAYERS,
        .kv_heads = 1,
        .batch = 1,
        .context = 3840,
        .heads = heads,
        .policy = policy_find(policy, NULL, 0, &why),
        .selection = 0.1,
        .capacity = capacity,
        .sinks = 4,
        .recent = 64,
        .starts_full = starts_full,
        .manager_unit = span == BLOCK_UNIT ? 1 : 2,
        .block_span = span,
        .warmup = WARMUP,
        .steps = STEPS,
    };
    assert_non_null(plan.policy);
    ledger_init(&ledger);
    make_check(replay_run(trace, &plan, 1, &ledger, &why), &why);
    struct figures figures = {(double)ledger.demand_hit / (double)ledger.demand_wanted,
                              ledger.demand_cold};
    ledger_release(&ledger);
    return figures;
}

static struct trace *open_recording(void)
{
    struct error why;
    struct trace *trace = trace_open("traces/gemma-3-270m-code.swt", &why);
    make_check(trace != NULL, &why);
    return trace;
}

static void a_full_cache_has_no_cold_misses(void **state)
{
    (void)state;
    struct trace *trace = open_recording();
    static const char *const policies[] = {"lru", "fifo", "lfu", "arc", "s3fifo", "sieve", "opt"};
    static const enum block_span spans[] = {BLOCK_UNIT, BLOCK_LAYER};
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < sizeof policies / sizeof *policies - s; i++) { /* opt: no blocks */
            struct figures cold = replay(trace, policies[i], 0.8, spans[s], false);
            struct figures full = replay(trace, policies[i], 0.8, spans[s], true);
            if (cold.cold == 0 || full.cold > 0 || full.hits <= cold.hits) {
                fail_msg("%s, span %zu: %llu, then %llu cold misses; hits %.4f, then %.4f",
                         policies[i], s, (unsigned long long)cold.cold,
                         (unsigned long long)full.cold, cold.hits, full.hits);
            }
        }
    }
    trace_close(trace);
}

/* The warm-up alone fills it, and what it holds then is what was wanted last. */
static void an_lru_that_is_warm_does_not_depend_on_it(void **state)
{
    (void)state;
    struct trace *trace = open_recording();
    struct figures cold = replay(trace, "lru", 0.2, BLOCK_UNIT, false);
    struct figures full = replay(trace, "lru", 0.2, BLOCK_UNIT, true);
    assert_int_equal(cold.cold, 0);
    assert_true(cold.hits == full.hits);
    trace_close(trace);
}

static void the_future_is_still_known(void **state)
{
    (void)state;
    struct trace *trace = open_recording();
    double best = replay(trace, "opt", 0.5, BLOCK_UNIT, true).hits;
    assert_true(best > replay(trace, "lru", 0.5, BLOCK_UNIT, true).hits);
    assert_true(best > replay(trace, "fifo", 0.5, BLOCK_UNIT, true).hits);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_first_step_weighs_comes_before_the_latest),
        cmocka_unit_test(a_full_cache_has_no_cold_misses),
        cmocka_unit_test(an_lru_that_is_warm_does_not_depend_on_it),
        cmocka_unit_test(the_future_is_still_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
