/* Kept replays: equal to fresh ones, read back without reading the trace, and found only by a plan
 * that is equal in every field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/stop_flag.h"
#include "decode/replay/replay_kept.h"
#include "unit/fixture/make_profile.h"
#include "unit/fixture/make_replay.h"

enum { LAYERS = 2, HEADS = 2, PLANS = 3 };

static char cached[32], command[64];
static struct trace_profile_head source[LAYERS * HEADS];
static struct replay_head heads[LAYERS * HEADS];

static int enter(void **state)
{
    (void)state;
    strcpy(cached, "/tmp/test_kept.XXXXXX");
    for (int i = 0; i < LAYERS * HEADS; i++) {
        source[i] = make_plain_head();
        heads[i] = (struct replay_head){.offloaded = true, .importance = (float)i / 4};
    }
    return mkdtemp(cached) != NULL ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", cached);
    return system(command);
}

static struct trace *open_trace(uint64_t seed)
{
    struct trace_profile profile = make_profile(source, LAYERS, HEADS);
    struct trace_geometry geometry = make_geometry(LAYERS, HEADS, 600, 20);
    geometry.seed = seed;
    return make_generated(&profile, &geometry);
}

static struct replay_plan make_replay_plan(double capacity)
{
    static const double values[POLICY_MOST_PARAMS];
    return (struct replay_plan){.layers = LAYERS,
                                .kv_heads = HEADS,
                                .batch = 2,
                                .context = 1200,
                                .heads = heads,
                                .policy = make_kind("lru"),
                                .policy_values = values,
                                .selection = .05,
                                .capacity = capacity,
                                .sinks = 4,
                                .recent = 64,
                                .manager_unit = 16,
                                .warmup = 5,
                                .steps = 10};
}

static void expect_equal(const struct ledger *found, const struct ledger *expected)
{
    assert_int_equal(found->steps, expected->steps);
    assert_int_equal(found->layers, expected->layers);
    assert_int_equal(found->parts, 0);
    assert_int_equal(found->demand_wanted, expected->demand_wanted);
    assert_int_equal(found->demand_hit, expected->demand_hit);
    assert_int_equal(found->demand_cold, expected->demand_cold);
    assert_memory_equal(found->rows, expected->rows,
                        (size_t)expected->steps * expected->layers * sizeof *expected->rows);
}

/* Replay all plans with the cache and compare with fresh ledgers. */
static void replay_and_compare(const struct trace *trace, const struct trace *fresh,
                               const struct replay_plan *plans, uint32_t count,
                               const struct replay_means *means)
{
    struct ledger kept[PLANS] = {0}, ledger;
    struct error why;
    make_check(replay_run_kept(trace, plans, count, means, kept, &why), &why);
    for (uint32_t i = 0; i < count; i++) {
        make_ledger(fresh, &plans[i], 1, &ledger);
        expect_equal(&kept[i], &ledger);
        ledger_release(&ledger);
        ledger_release(&kept[i]);
    }
}

/* A raised flag stops whoever reads the trace: what still answers was kept. */
static void a_kept_ledger_is_equal_and_reads_no_trace(void **state)
{
    struct replay_means means = {.threads = 1, .cache = disk_cache_open(cached, 1 << 24)};
    struct trace *trace = open_trace(1), *fresh = open_trace(1), *other = open_trace(2);
    const struct replay_plan plans[PLANS] = {make_replay_plan(.1), make_replay_plan(.2),
                                             make_replay_plan(.3)};
    struct stop_flag stop = {.raised = true};
    struct ledger ledgers[PLANS] = {0};
    struct error why;
    (void)state;
    assert_non_null(means.cache);
    replay_and_compare(trace, fresh, &plans[1], 1, &means);
    replay_and_compare(trace, fresh, plans, PLANS, &means); /* one of them is kept already */
    trace_stop_when(trace, &stop);
    trace_stop_when(other, &stop);
    replay_and_compare(trace, fresh, plans, PLANS, &means);
    assert_false(replay_run_kept(other, plans, 1, &means, ledgers, &why));
    struct replay_means none = {.threads = 1};
    assert_false(replay_run_kept(trace, plans, 1, &none, ledgers + 1, &why));
    ledger_release(&ledgers[0]);
    ledger_release(&ledgers[1]);
    trace_close(trace);
    trace_close(fresh);
    trace_close(other);
    disk_cache_close(means.cache);
}

/* ---- hashes ---- */

static bool same_hash(const struct replay_plan *a, const struct replay_plan *b)
{
    return replay_plan_hash(a) == replay_plan_hash(b);
}

/* Change a field; the hash must differ. */
#define EXPECT_DIFFERENT(change)                                                                   \
    do {                                                                                           \
        struct replay_plan plan = base;                                                            \
        change;                                                                                    \
        assert_false(same_hash(&plan, &base));                                                     \
    } while (0)

static void every_field_is_in_the_hash(void **state)
{
    struct replay_plan base = make_replay_plan(.1), again = make_replay_plan(.1);
    static double values[POLICY_MOST_PARAMS] = {[POLICY_MOST_PARAMS - 1] = 1};
    struct replay_head other[LAYERS * HEADS];
    (void)state;
    assert_true(same_hash(&base, &again));
    EXPECT_DIFFERENT(plan.layers = 1);
    EXPECT_DIFFERENT(plan.kv_heads = 1);
    EXPECT_DIFFERENT(plan.batch++);
    EXPECT_DIFFERENT(plan.before++);
    EXPECT_DIFFERENT(plan.behind++);
    EXPECT_DIFFERENT(plan.context++);
    EXPECT_DIFFERENT(plan.policy = make_kind("fifo"));
    EXPECT_DIFFERENT(plan.seed++);
    EXPECT_DIFFERENT(plan.policy_values = NULL);
    EXPECT_DIFFERENT(plan.policy_values = values);
    EXPECT_DIFFERENT(plan.order = POLICY_SEQUENTIAL);
    EXPECT_DIFFERENT(plan.selection = .06);
    EXPECT_DIFFERENT(plan.margin = 1);
    EXPECT_DIFFERENT(plan.capacity = .2);
    EXPECT_DIFFERENT(plan.sinks++);
    EXPECT_DIFFERENT(plan.recent++);
    EXPECT_DIFFERENT(plan.recent_scales = true);
    EXPECT_DIFFERENT(plan.manager_unit = 17);
    EXPECT_DIFFERENT(plan.block_span = BLOCK_HEAD);
    EXPECT_DIFFERENT(plan.block_candidates++);
    EXPECT_DIFFERENT(plan.warmup++);
    EXPECT_DIFFERENT(plan.steps++);
    static const uint32_t places[16] = {0}, others[16] = {[15] = 1};
    EXPECT_DIFFERENT(plan.rows = places);
    EXPECT_DIFFERENT(plan.rejected_before = true);
    base.rows = places;
    EXPECT_DIFFERENT(plan.rows = others);
    EXPECT_DIFFERENT(plan.queries++);
    base.rows = NULL;
    EXPECT_DIFFERENT(plan.cpu_threads++);
    EXPECT_DIFFERENT(plan.whole_layers++);
    EXPECT_DIFFERENT(plan.recomputed++);
    EXPECT_DIFFERENT(plan.speculates = true);
    EXPECT_DIFFERENT(plan.asks_recorded = true);
    EXPECT_DIFFERENT(plan.errors[ASKS_OWN].page = 16);
    EXPECT_DIFFERENT(plan.errors[ASKS_AHEAD].noise = .5);
    EXPECT_DIFFERENT(plan.errors[ASKS_AHEAD_EARLY].lasting = .5);
    memcpy(other, heads, sizeof other);
    other[3].importance = .1f;
    EXPECT_DIFFERENT(plan.heads = other);
    memcpy(other, heads, sizeof other);
    other[0].offloaded = false;
    EXPECT_DIFFERENT(plan.heads = other);
    struct policy_kind plugin = *base.policy;
    plugin.content = 7;
    EXPECT_DIFFERENT(plan.policy = &plugin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kept_ledger_is_equal_and_reads_no_trace, enter, leave),
        cmocka_unit_test_setup_teardown(every_field_is_in_the_hash, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
