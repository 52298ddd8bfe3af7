/* Replay of blocks: ledgers worked by hand, and random ones put together naively. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/replay/replay.h"
#include "policy/policy.h"
#include "trace/demand.h"
#include "unit/fixture/make_trace.h"
#include "unit/fixture/trace_folder.h"

#include <math.h>

static const struct policy_kind *kind(const char *name)
{
    struct error why;
    const struct policy_kind *found = policy_find(name, NULL, 0, &why);
    assert_non_null(found);
    return found;
}

static struct trace *open_trace(const char *path)
{
    struct error why;
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    return trace;
}

/* ---- by hand ---- */

enum { HAND_STEPS = 4, HAND_HEADS = 2 };

/* Two heads want two of eight units a step, in four blocks: AB, CD, EF, GH. */
static const char *const hand_rows[HAND_HEADS][HAND_STEPS] = {
    {"AB", "AE", "GH", "CH"},
    {"AC", "CD", "EG", "FE"},
};

static struct trace *open_hand_trace(enum trace_unit_kind unit_kind)
{
    struct error why;
    char path[64];
    struct trace_header header = {.layers = 1,
                                  .kv_heads = HAND_HEADS,
                                  .query_heads = HAND_HEADS,
                                  .head_dim = 2,
                                  .context = 8,
                                  .unit_kind = unit_kind,
                                  .unit_tokens = 1,
                                  .units = 8,
                                  .keep = 2,
                                  .sequences = 1,
                                  .steps = HAND_STEPS,
                                  .steps_per_tile = HAND_STEPS,
                                  .source = (char *)"{}"};
    struct trace_writer *writer =
        trace_writer_open(make_path(folder, "hand.swt", path), &header, &why);
    make_check(writer != NULL, &why);
    struct trace_frame frame = {0};
    frame.steps = HAND_STEPS;
    make_check(trace_frame_reserve(&header, &frame, &why), &why);
    make_check(trace_rows_reserve(&frame.rows, 16, &why), &why);
    for (uint32_t row = 0; row < HAND_HEADS * HAND_STEPS; row++) {
        const char *letters = hand_rows[row / HAND_STEPS][row % HAND_STEPS];
        bool sorted = letters[0] < letters[1];
        frame.rows.start[row] = 2 * row;
        frame.rows.units[2 * row] = (uint32_t)(letters[sorted ? 0 : 1] - 'A');
        frame.rows.units[2 * row + 1] = (uint32_t)(letters[sorted ? 1 : 0] - 'A');
        frame.rows.mass[2 * row] = frame.rows.mass[2 * row + 1] = 20;
        frame.born[row] = .25f;
        frame.tail[row] = .25f;
    }
    frame.rows.start[HAND_HEADS * HAND_STEPS] = 2 * HAND_HEADS * HAND_STEPS;
    make_check(trace_writer_put(writer, &frame, &why), &why);
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    return open_trace(path);
}

static const struct replay_head hand_heads[] = {{.offloaded = true, .importance = 1},
                                                {.offloaded = true, .importance = 1}};

/* Two blocks are held; the first step is warm-up. */
static struct replay_plan hand_plan(enum block_span span, uint32_t candidates)
{
    return (struct replay_plan){.layers = 1,
                                .kv_heads = HAND_HEADS,
                                .batch = 1,
                                .context = 8,
                                .heads = hand_heads,
                                .policy = kind("lru"),
                                .selection = .25,
                                .capacity = .5,
                                .manager_unit = 2,
                                .block_span = span,
                                .block_candidates = candidates,
                                .warmup = 1,
                                .steps = HAND_STEPS - 1};
}

struct hand_case {
    const char *claim;
    enum block_span span;
    uint32_t candidates;
    uint32_t expected[HAND_STEPS - 1][7]; /* hit, missed, of the worst head, heads that fetch,
                                             lookups, updates, inserts */
    uint32_t cold;
};

/* clang-format off */
static const struct hand_case hand_cases[] = {
    /* AB 3, CD 1; held AB CD. CD 2, AB 1, EF 1; the best two stay. GH 3, EF 1. EF 2, CD 1, GH 1. */
    {"one cache for both heads", BLOCK_LAYER, 0,
     {{3, 1, 1, 1, 3, 2, 0}, {0, 4, 2, 2, 2, 0, 2}, {3, 1, 1, 1, 3, 1, 1}}, 0},
    /* Held: AB; CD AB, where C, C and D find room; GH CD; EF GH. */
    {"only the block that is wanted most is admitted", BLOCK_LAYER, 1,
     {{1, 3, 2, 2, 1, 0, 1}, {0, 4, 2, 2, 1, 0, 1}, {2, 2, 2, 1, 1, 0, 1}}, 3},
    /* Held by the first: AB; AB EF, where E finds room; GH AB; CD GH. By the second: AB CD; CD AB;
     * EF GH; EF GH. */
    {"a cache for each head", BLOCK_HEAD, 0,
     {{3, 1, 1, 1, 3, 2, 1}, {0, 4, 2, 2, 3, 0, 3}, {3, 1, 1, 1, 3, 2, 1}}, 1},
};
/* clang-format on */

static void blocks_hit_and_miss_as_worked_by_hand(void **state)
{
    (void)state;
    struct error why;
    struct trace *trace = open_hand_trace(TRACE_POSITIONS);
    for (size_t c = 0; c < sizeof hand_cases / sizeof *hand_cases; c++) {
        struct replay_plan plan = hand_plan(hand_cases[c].span, hand_cases[c].candidates);
        struct ledger ledger;
        ledger_init(&ledger);
        make_check(replay_run(trace, &plan, 1, &ledger, &why), &why);
        for (uint32_t s = 0; s < plan.steps; s++) {
            const struct ledger_row *row = &ledger.rows[s];
            const uint64_t found[] = {
                row->hit,     row->missed,  row->missed_worst, row->fetching_heads,
                row->lookups, row->updates, row->inserts};
            for (size_t i = 0; i < 7; i++) {
                if (found[i] != hand_cases[c].expected[s][i]) {
                    fail_msg("%s, step %u, figure %zu: %u, not %u", hand_cases[c].claim, s, i,
                             (unsigned)found[i], hand_cases[c].expected[s][i]);
                }
            }
            assert_int_equal(row->offloaded_heads, 2);
            assert_float_equal(row->mass, 1.5, 1e-6);
        }
        assert_int_equal(ledger.demand_wanted, 12);
        assert_int_equal(ledger.demand_cold, hand_cases[c].cold);
        ledger_release(&ledger);
    }
    trace_close(trace);
}

static void what_has_no_blocks_is_refused(void **state)
{
    (void)state;
    struct error why;
    struct trace *trace = open_hand_trace(TRACE_CLUSTERS);
    struct replay_plan plan = hand_plan(BLOCK_LAYER, 0);
    struct ledger ledger;
    ledger_init(&ledger);
    assert_false(replay_run(trace, &plan, 1, &ledger, &why));
    assert_string_equal(why.found, "the units of the trace are clusters, not ranges of tokens");
    plan.policy = kind("opt");
    assert_false(replay_run(trace, &plan, 1, &ledger, &why));
    assert_string_equal(why.found, "policy 'opt' does not admit and evict blocks one by one");
    ledger_release(&ledger);
    trace_close(trace);
}

/* ---- at random ---- */

enum { LAYERS = 4, HEADS = 5, WARMUP = 2, STEPS = 5, BLOCKS = 11, HELD = 4 };

static struct trace *open_random_trace(uint64_t seed)
{
    char path[64];
    struct trace_header header = make_header();
    make_trace(&header, make_path(folder, "random.swt", path), seed);
    return open_trace(path);
}

/* A target of another shape, where every third head is resident; 333 tokens are 11 blocks of 30. */
static struct replay_plan random_plan(const char *policy, uint64_t seed, struct replay_head *heads)
{
    for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
        heads[i] = (struct replay_head){.offloaded = i % 3 != 2, .importance = 1};
    }
    return (struct replay_plan){.layers = LAYERS,
                                .kv_heads = HEADS,
                                .batch = 1 + (uint32_t)(seed % 5),
                                .context = 333,
                                .heads = heads,
                                .policy = kind(policy),
                                .order = seed % 2 ? POLICY_BATCH : POLICY_SEQUENTIAL,
                                .selection = .2,
                                .capacity = .35,
                                .sinks = 2,
                                .recent = 3,
                                .manager_unit = 30,
                                .block_span = seed % 3 ? BLOCK_LAYER : BLOCK_HEAD,
                                .block_candidates = (uint32_t)(seed % 4),
                                .warmup = WARMUP,
                                .steps = STEPS};
}

/* Wanted tokens of each block, by a head of the target at a step of the replay; adds their mass and
 * that of the window at the step of the recording, if that is reported. */
static void naive_wanted(const struct trace *trace, uint32_t sequence, uint32_t layer,
                         uint32_t head, uint32_t step, uint32_t *count, struct ledger_row *rows)
{
    struct error why;
    const struct trace_header *header = trace_header(trace);
    const struct replay_plan target = {.layers = LAYERS, .kv_heads = HEADS, .steps = STEPS};
    struct replay_source source = replay_source(header, &target, layer, head);
    uint32_t source_layer = source.layer, source_head = source.head, shift = source.shift;
    uint32_t at = step + shift < WARMUP + STEPS ? step + shift : step + shift - STEPS;
    struct demand demand;
    struct demand_buffer buffer = {0};
    struct trace_frame frame = {0};
    struct demand_shape shape = demand_shape(header, 4, 2, 3);
    make_check(trace_read(trace, sequence, at / 4, source_layer, &frame, &why), &why);
    make_check(
        demand_from_frame(header, &frame, source_head, at % 4, &shape, &buffer, &demand, &why),
        &why);
    memset(count, 0, BLOCKS * sizeof *count);
    for (uint32_t i = 0; i < demand.wanted; i++) {
        count[demand.units[i] * BLOCKS / 20]++;
    }
    struct unit_set wanted = demand_wanted(&demand);
    if (step >= WARMUP) {
        rows[at - WARMUP].mass += demand_attended(&demand, &wanted).least;
    }
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* The wanted blocks, most wanted first; those given out are forgotten. */
static uint32_t naive_order(uint32_t *count, uint32_t candidates, uint32_t *blocks)
{
    uint32_t wanted = 0;
    for (;;) {
        uint32_t best = 0;
        for (uint32_t block = 0; block < BLOCKS; block++) {
            best = count[block] > count[best] ? block : best;
        }
        if (count[best] == 0 || (candidates > 0 && wanted == candidates)) {
            return wanted;
        }
        blocks[wanted++] = best;
        count[best] = 0;
    }
}

/* Add what heads [first, end) of a layer, which share a cache, give for one recorded sequence:
 * rows[step], unshifted. */
static void naive_group(const struct trace *trace, const struct replay_plan *plan,
                        uint32_t sequence, uint32_t layer, uint32_t first, uint32_t end,
                        struct ledger_row *rows)
{
    struct error why;
    const struct replay_plan target = {.layers = LAYERS, .kv_heads = HEADS, .steps = STEPS};
    struct replay_source source = replay_source(trace_header(trace), &target, layer, first);
    uint32_t source_layer = source.layer, source_head = source.head;
    struct policy_env env = {.blocks = BLOCKS,
                             .capacity = HELD,
                             .wanted = BLOCKS,
                             .order = plan->order,
                             .sinks = 2 * BLOCKS / 20,
                             .recent = BLOCKS - 1 - 16 * BLOCKS / 20,
                             .warmup = WARMUP,
                             .seed = (sequence * 2 + source_layer) * 2 + source_head};
    struct policy *policy = policy_create(plan->policy, NULL, &env, &why);
    make_check(policy != NULL, &why);
    for (uint32_t step = 0; step < WARMUP + STEPS; step++) {
        uint32_t all[BLOCKS] = {0}, blocks[BLOCKS];
        struct ledger_row scratch = {0}, *row = step >= WARMUP ? &rows[step - WARMUP] : &scratch;
        for (uint32_t head = first; head < end; head++) {
            uint32_t count[BLOCKS], wanted = 0, missed = 0;
            if (!plan->heads[layer * HEADS + head].offloaded) {
                continue;
            }
            naive_wanted(trace, sequence, layer, head, step, count, rows);
            for (uint32_t block = 0; block < BLOCKS; block++) {
                all[block] += count[block];
                wanted += count[block];
                missed += policy->kind->holds(policy, block) ? 0 : count[block];
            }
            uint64_t tokens = (uint64_t)llround(16.65 * missed);
            row->wanted += (uint64_t)llround(16.65 * wanted);
            row->missed += tokens;
            row->missed_worst = tokens > row->missed_worst ? tokens : row->missed_worst;
            row->fetching_heads += missed > 0;
            row->offloaded_heads++;
        }
        struct outcome outcome;
        uint32_t wanted = naive_order(all, plan->block_candidates, blocks);
        struct demand demand = {.units = blocks, .wanted = wanted};
        policy_access(policy, &demand, &outcome);
        row->lookups += outcome.lookups;
        row->updates += outcome.updates;
        row->inserts += outcome.inserts;
    }
    policy_destroy(policy);
}

static bool has_offloaded(const struct replay_plan *plan, uint32_t layer, uint32_t first,
                          uint32_t end)
{
    bool any = false;
    for (uint32_t head = first; head < end; head++) {
        any = any || plan->heads[layer * HEADS + head].offloaded;
    }
    return any;
}

static void naive_layer(const struct trace *trace, const struct replay_plan *plan, uint32_t layer,
                        struct ledger_row *expected)
{
    uint32_t together = plan->block_span == BLOCK_LAYER ? HEADS : 1;
    for (uint32_t b = 0; b < plan->batch; b++) {
        struct ledger_row rows[STEPS] = {0};
        uint32_t sequences = plan->batch < 2 ? plan->batch : 2;
        uint32_t copies = (plan->batch - b % sequences + sequences - 1) / sequences;
        for (uint32_t head = 0; head < HEADS; head += together) {
            if (has_offloaded(plan, layer, head, head + together)) {
                naive_group(trace, plan, b % sequences, layer, head, head + together, rows);
            }
        }
        for (uint32_t s = 0; s < STEPS; s++) {
            const struct ledger_row *row = &rows[(s + b / sequences * STEPS / copies) % STEPS];
            struct ledger_row *sum = &expected[s * LAYERS + layer];
            sum->wanted += row->wanted;
            sum->missed += row->missed;
            sum->missed_worst =
                row->missed_worst > sum->missed_worst ? row->missed_worst : sum->missed_worst;
            sum->fetching_heads += row->fetching_heads;
            sum->offloaded_heads += row->offloaded_heads;
            sum->lookups += row->lookups;
            sum->updates += row->updates;
            sum->inserts += row->inserts;
            sum->mass += rows[s].mass;
        }
    }
}

static void assert_row(const struct ledger_row *found, const struct ledger_row *expected,
                       const char *where)
{
    const uint64_t a[] = {found->wanted,         found->missed,          found->missed_worst,
                          found->fetching_heads, found->offloaded_heads, found->lookups,
                          found->updates,        found->inserts,         found->hit};
    const uint64_t b[] = {
        expected->wanted,         expected->missed,          expected->missed_worst,
        expected->fetching_heads, expected->offloaded_heads, expected->lookups,
        expected->updates,        expected->inserts,         expected->wanted - expected->missed};
    for (size_t i = 0; i < 9; i++) {
        if (a[i] != b[i]) {
            fail_msg("%s, figure %zu: %u, not %u", where, i, (unsigned)a[i], (unsigned)b[i]);
        }
    }
    assert_float_equal(found->mass, expected->mass, 1e-6);
}

static void ledgers_equal_blocks_counted_one_by_one(void **state)
{
    (void)state;
    struct error why;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct trace *trace = open_random_trace(seed);
        for (size_t p = 0; policies[p] != NULL; p++) {
            struct replay_head heads[LAYERS * HEADS];
            struct replay_plan plan = random_plan(policies[p]->name, seed, heads);
            struct ledger_row expected[STEPS * LAYERS] = {0};
            struct ledger one, four;
            if (policies[p]->holds == NULL) {
                continue;
            }
            for (uint32_t layer = 0; layer < LAYERS; layer++) {
                naive_layer(trace, &plan, layer, expected);
            }
            ledger_init(&one);
            ledger_init(&four);
            make_check(replay_run(trace, &plan, 1, &one, &why), &why);
            make_check(replay_run(trace, &plan, 4, &four, &why), &why);
            for (uint32_t row = 0; row < STEPS * LAYERS; row++) {
                char where[64];
                snprintf(where, sizeof where, "%s, seed %u, row %u", policies[p]->name,
                         (unsigned)seed, row);
                assert_row(&one.rows[row], &expected[row], where);
            }
            assert_memory_equal(one.rows, four.rows, sizeof expected);
            assert_int_equal(one.demand_hit, four.demand_hit);
            ledger_release(&one);
            ledger_release(&four);
        }
        trace_close(trace);
    }
}

static void plans_replayed_together_write_the_ledger_of_each_alone(void **state)
{
    (void)state;
    static const double capacities[] = {.35, 0, 1, .1};
    struct error why;
    struct trace *trace = open_random_trace(9);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct replay_head heads[4][LAYERS * HEADS];
        struct replay_plan plans[4];
        struct ledger together[4], alone;
        for (uint32_t i = 0; i < 4; i++) {
            plans[i] = random_plan("lru", seed, heads[i]);
            plans[i].capacity = capacities[i];
            plans[i].batch = 1 + (seed + i) % 4;
            heads[i][i].offloaded = !heads[i][i].offloaded;
            ledger_init(&together[i]);
        }
        make_check(
            replay_run_many(trace, plans, 4, &(struct replay_means){.threads = 2}, together, &why),
            &why);
        for (uint32_t i = 0; i < 4; i++) {
            ledger_init(&alone);
            make_check(replay_run(trace, &plans[i], 1, &alone, &why), &why);
            assert_memory_equal(together[i].rows, alone.rows, STEPS * LAYERS * sizeof *alone.rows);
            assert_int_equal(together[i].demand_hit, alone.demand_hit);
            assert_int_equal(together[i].demand_cold, alone.demand_cold);
            ledger_release(&alone);
            ledger_release(&together[i]);
        }
    }
    trace_close(trace);
}

/* ---- recordings carried ---- */

enum { CARRIED_LAYERS = 10, CARRIED_HEADS = 8, CARRIED_STEPS = 32 };

/* The hits of an LFU of a 32nd of the context in 1024 blocks of all heads, as PQCache has it. */
static double block_hits(const struct trace *trace, uint32_t layers, uint32_t kv_heads,
                         uint64_t context)
{
    struct error why;
    struct replay_head heads[CARRIED_LAYERS * CARRIED_HEADS];
    struct ledger ledger;
    for (uint32_t i = 0; i < layers * kv_heads; i++) {
        heads[i] = (struct replay_head){.offloaded = true, .importance = 1};
    }
    struct replay_plan plan = {
        .layers = layers,
        .kv_heads = kv_heads,
        .batch = 1,
        .context = context,
        .heads = heads,
        .policy = kind("lfu"),
        .selection = 0.1,
        .capacity = 1 / 32.,
        .sinks = 4,
        .recent = (uint32_t)(context / 20),
        .recent_scales = true,
        .manager_unit = (double)context / 1024,
        .block_span = BLOCK_LAYER,
        .block_candidates = 32,
        .warmup = CARRIED_STEPS,
        .steps = CARRIED_STEPS,
    };
    ledger_init(&ledger);
    make_check(replay_run(trace, &plan, 1, &ledger, &why), &why);
    double hits = (double)ledger.demand_hit / (double)ledger.demand_wanted;
    ledger_release(&ledger);
    return hits;
}

/* To 34 times the context, twice the layers and four times the heads: a block is the same share of
 * the context, and heads still want the same blocks. If the units of each head lay anywhere, the
 * cache would hit 1 wanted unit in 32, .031. */
static void a_recording_keeps_its_locality_when_it_is_carried(void **state)
{
    (void)state;
    struct trace *trace = open_trace("traces/qwen2.5-coder-0.5b-code.swt");
    double home = block_hits(trace, 5, 2, 3840);
    double away = block_hits(trace, CARRIED_LAYERS, CARRIED_HEADS, 131072);
    if (fabs(away - home) > 0.03 || home < 0.1) {
        fail_msg("at home %.3f, carried %.3f", home, away);
    }
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_hit_and_miss_as_worked_by_hand),
        cmocka_unit_test(what_has_no_blocks_is_refused),
        cmocka_unit_test(ledgers_equal_blocks_counted_one_by_one),
        cmocka_unit_test(plans_replayed_together_write_the_ledger_of_each_alone),
        cmocka_unit_test(a_recording_keeps_its_locality_when_it_is_carried),
    };
    return cmocka_run_group_tests(tests, make_test_folder, clear_test_folder);
}
