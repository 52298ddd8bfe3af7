/* Replay: ledgers of random traces, beside heads replayed one by one and added naively. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/next_use.h"
#include "trace/demand.h"
#include "unit/fixture/make_replay.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/trace_folder.h"

#include <math.h>

/* A trace of 3 layers of 2 heads, two sequences; or, where `only` is 0 or 1, of that one alone. */
static struct trace *open_random_trace(uint64_t seed, int only)
{
    struct error why;
    char name[32], path[64];
    snprintf(name, sizeof name, "random%d.swt", only);
    struct trace_header header = make_header();
    header.layers = 3;
    header.has_approximate = true;
    header.sequences = only < 0 ? 2 : 1;
    struct trace_writer *writer = trace_writer_open(make_path(folder, name, path), &header, &why);
    make_check(writer != NULL, &why);
    struct trace_frame frame = {0};
    for (uint32_t sequence = 0; sequence < 2; sequence++) {
        gsl_rng *random = random_stream(seed, "test.replay", sequence, &why);
        make_check(random != NULL, &why);
        frame.sequence = only < 0 ? sequence : 0;
        for (frame.tile = 0; frame.tile < trace_tiles(&header); frame.tile++) {
            for (frame.layer = 0; frame.layer < header.layers; frame.layer++) {
                make_frame(&header, &frame, random);
                if (only < 0 || only == (int)sequence) {
                    make_check(trace_writer_put(writer, &frame, &why), &why);
                }
            }
        }
        gsl_rng_free(random);
    }
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    return make_open(path);
}

enum { LAYERS = 4, HEADS = 3, WARMUP = 2, STEPS = 5 };

/* A target of another shape, where every third head is resident. */
static struct replay_plan random_plan(const char *policy, struct replay_head *heads)
{
    for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
        heads[i] = (struct replay_head){.offloaded = i % 3 != 2, .importance = (float)(i % 4) / 3};
        heads[i].queries = i % 5 == 0 ? 0 : i % 2 + 1; /* the recording has two a KV head */
        heads[i].query_importance[0] = heads[i].importance / 2;
        heads[i].query_importance[1] = (float)(i % 3) / 2;
    }
    return (struct replay_plan){.layers = LAYERS,
                                .kv_heads = HEADS,
                                .batch = 1,
                                .context = 333,
                                .heads = heads,
                                .policy = make_kind(policy),
                                .selection = .2,
                                .capacity = .35,
                                .sinks = 2,
                                .recent = 3,
                                .manager_unit = 3,
                                .warmup = WARMUP,
                                .cpu_threads = 4,
                                .steps = STEPS};
}

static void assert_rows_equal(const struct ledger_row *found, const struct ledger_row *expected,
                              const char *what, uint64_t seed, uint32_t row)
{
    if (found->wanted != expected->wanted || found->hit != expected->hit ||
        found->missed != expected->missed || found->missed_worst != expected->missed_worst ||
        found->for_cpu != expected->for_cpu || found->lookups != expected->lookups ||
        found->updates != expected->updates || found->inserts != expected->inserts ||
        found->fetching_heads != expected->fetching_heads ||
        found->reused_heads != expected->reused_heads ||
        found->offloaded_heads != expected->offloaded_heads ||
        fabs(found->mass - expected->mass) > 1e-9) {
        fail_msg("%s, seed %u, row %u: wanted %llu hit %llu worst %llu, expected %llu %llu %llu",
                 what, (unsigned)seed, row, (unsigned long long)found->wanted,
                 (unsigned long long)found->hit, (unsigned long long)found->missed_worst,
                 (unsigned long long)expected->wanted, (unsigned long long)expected->hit,
                 (unsigned long long)expected->missed_worst);
    }
}

/* What one source head of the only sequence wants at a step, or a layer ahead believes to; until
 * frame or buffer change. */
static struct demand head_demand(const struct trace *trace, uint32_t layer, uint32_t head,
                                 bool guessed, uint32_t step, uint32_t wanted,
                                 struct trace_frame *frame, struct demand_buffer *buffer)
{
    struct error why;
    struct demand demand;
    const struct trace_header *header = trace_header(trace);
    struct demand_shape shape = demand_shape(header, wanted, 2, 3);
    make_check(trace_read(trace, 0, step / 4, layer, frame, &why), &why);
    make_check(
        guessed
            ? demand_from_approximate(header, frame, head, step % 4, &shape, buffer, &demand, &why)
            : demand_from_frame(header, frame, head, step % 4, &shape, buffer, &demand, &why),
        &why);
    return demand;
}

/* The rows of one target head of a sequence, unshifted: its source head's frames, one by one. */
static void replay_one_head(struct trace *trace, uint32_t sequence, const struct replay_plan *plan,
                            uint32_t layer, uint32_t head, struct ledger_row *rows, uint32_t *shift)
{
    struct error why;
    bool guessed = plan->speculates && layer > 0;
    const struct replay_head *stated = &plan->heads[layer * HEADS + head];
    const float *query = stated->query_importance, all = stated->importance;
    const float importances[] = {stated->queries > 0 ? query[0] : all,
                                 stated->queries > 0 ? query[stated->queries - 1] : all};
    uint32_t wanted_units = plan->policy->chooses_own ? 6 : 4;
    const struct replay_plan target = {.layers = LAYERS, .kv_heads = HEADS, .steps = STEPS};
    struct replay_source source = replay_source(trace_header(trace), &target, layer, head);
    uint32_t source_layer = source.layer, source_head = source.head;
    *shift = source.shift;
    struct next_use future = {0};
    struct demand_buffer buffer = {0};
    struct trace_frame frame = {0};
    for (uint32_t step = 0; step < WARMUP + STEPS; step++) {
        struct demand demand = head_demand(trace, source_layer, source_head, guessed, step,
                                           wanted_units, &frame, &buffer);
        make_check(next_use_add(&future, &demand, &why), &why);
    }
    make_check(next_use_resolve(&future, 20, &why), &why);
    struct policy_env env = {.blocks = 20,
                             .capacity = 7,
                             .wanted = wanted_units,
                             .order = plan->order,
                             .sinks = 2,
                             .recent = 3,
                             .warmup = WARMUP,
                             .born = 1 / 16.65,
                             .query_heads = 2,
                             .head_dim = 3,
                             .importance = importances,
                             .kv_importance = &stated->importance,
                             .seed = (sequence * 3 + source_layer) * 2 + source_head,
                             .next_use = future.access};
    struct policy *policy = policy_create(plan->policy, NULL, &env, &why);
    make_check(policy != NULL, &why);
    for (uint32_t step = 0; step < WARMUP + STEPS; step++) {
        struct outcome outcome;
        struct demand demand = head_demand(trace, source_layer, source_head, guessed, step,
                                           wanted_units, &frame, &buffer);
        policy_access(policy, &demand, &outcome);
        if (step < WARMUP) {
            continue;
        }
        /* A unit of 1 of 20 tokens stands for 16.65 of 333, or 5.55 units of the manager. */
        uint64_t wanted = (uint64_t)llround(16.65 * (outcome.hit + outcome.missed));
        uint64_t missed = (uint64_t)llround(16.65 * outcome.missed);
        uint64_t for_cpu = (uint64_t)llround(16.65 * outcome.for_cpu);
        double mass = demand_attended(&demand, &outcome.attended).least;
        double compared = plan->policy->needs_queries ? 1 : 5.55;
        rows[step - WARMUP] = (struct ledger_row){
            .wanted = wanted + for_cpu,
            .hit = wanted - missed,
            .missed = missed,
            .for_cpu = for_cpu,
            .lookups = (uint64_t)llround(compared * outcome.lookups),
            .updates = (uint64_t)llround(compared * outcome.updates),
            .inserts = (uint64_t)llround(5.55 * outcome.inserts),
            .fetching_heads = outcome.missed > 0,
            .reused_heads = outcome.reused,
            .mass = fmax(0, mass - (double)outcome.born_lost * (double)demand.born_mass),
        };
    }
    policy_destroy(policy);
    next_use_release(&future);
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
}

/* Sequence b of the batch reads recorded sequence b mod 2, whose readers b / 2 are shifted evenly.
 */
static void add_naively(struct trace *const *alone, const struct replay_plan *plan, uint32_t layer,
                        uint32_t head, struct ledger_row *expected)
{
    for (uint32_t b = 0; b < plan->batch; b++) {
        struct ledger_row rows[STEPS];
        uint32_t shift, copies = (plan->batch - b % 2 + 1) / 2;
        replay_one_head(alone[b % 2], b % 2, plan, layer, head, rows, &shift);
        for (uint32_t s = 0; s < STEPS; s++) {
            const struct ledger_row *row = &rows[(s + shift + b / 2 * STEPS / copies) % STEPS];
            struct ledger_row *sum = &expected[s * LAYERS + layer];
            sum->wanted += row->wanted;
            sum->hit += row->hit;
            sum->missed += row->missed;
            sum->missed_worst = sum->missed_worst > row->missed ? sum->missed_worst : row->missed;
            sum->for_cpu += row->for_cpu;
            sum->lookups += row->lookups;
            sum->updates += row->updates;
            sum->inserts += row->inserts;
            sum->fetching_heads += row->fetching_heads;
            sum->reused_heads += row->reused_heads;
            sum->offloaded_heads++;
            sum->mass += rows[s].mass; /* no shift moves it */
        }
    }
}

static void ledgers_equal_heads_replayed_and_added_one_by_one(void **state)
{
    (void)state;
    const uint32_t batches[] = {1, 2, 3, 8, 17};
    for (uint64_t seed = 1; seed <= ROUNDS(7, 2); seed++) {
        struct trace *both = open_random_trace(seed, -1);
        struct trace *alone[] = {open_random_trace(seed, 0), open_random_trace(seed, 1)};
        for (size_t p = 0; policies[p] != NULL; p++) {
            struct replay_head heads[LAYERS * HEADS];
            struct replay_plan plan = random_plan(policies[p]->name, heads);
            plan.batch = batches[(seed + p) % 5];
            plan.order = seed % 2 ? POLICY_BATCH : POLICY_SEQUENTIAL;
            plan.speculates = seed % 4 < 2;
            struct ledger_row expected[STEPS * LAYERS] = {0};
            for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
                if (heads[i].offloaded) {
                    add_naively(alone, &plan, i / HEADS, i % HEADS, expected);
                }
            }
            struct ledger ledger;
            make_ledger(both, &plan, 2, &ledger);
            for (uint32_t row = 0; row < STEPS * LAYERS; row++) {
                assert_rows_equal(&ledger.rows[row], &expected[row], policies[p]->name, seed, row);
                assert_int_equal(ledger.rows[row].wanted, ledger.rows[row].hit +
                                                              ledger.rows[row].missed +
                                                              ledger.rows[row].for_cpu);
            }
            ledger_release(&ledger);
        }
        trace_close(both);
        trace_close(alone[0]);
        trace_close(alone[1]);
    }
}

static void threads_do_not_change_a_byte(void **state)
{
    (void)state;
    struct trace *trace = open_random_trace(77, -1);
    for (size_t p = 0; policies[p] != NULL; p++) {
        struct replay_head heads[LAYERS * HEADS];
        struct replay_plan plan = random_plan(policies[p]->name, heads);
        plan.batch = 3;
        struct ledger one, four;
        make_ledger(trace, &plan, 1, &one);
        make_ledger(trace, &plan, 4, &four);
        assert_memory_equal(one.rows, four.rows, STEPS * LAYERS * sizeof *one.rows);
        assert_int_equal(one.demand_hit, four.demand_hit);
        assert_int_equal(one.demand_cold, four.demand_cold);
        ledger_release(&one);
        ledger_release(&four);
    }
    trace_close(trace);
}

enum { TOGETHER = 7 };

/* Plans of one trace that differ in all that may. */
static void differ(const char *policy, struct replay_head heads[TOGETHER][LAYERS * HEADS],
                   struct replay_plan plans[TOGETHER])
{
    static const double capacities[TOGETHER] = {.35, 0, .35, 1, .05, .6, .8};
    static const uint32_t batches[TOGETHER] = {1, 5, 2, 1, 3, 1, 8};
    for (uint32_t i = 0; i < TOGETHER; i++) {
        plans[i] = random_plan(policy, heads[i]);
        plans[i].capacity = fmax(capacities[i], plans[i].policy->needs_queries ? .2 : 0);
        plans[i].batch = batches[i];
        plans[i].cpu_threads = i % 3;
        plans[i].whole_layers = i == 5;
        plans[i].speculates = true;
        for (uint32_t head = 0; head < LAYERS * HEADS; head++) {
            heads[i][head].offloaded = i == 0 || head % (i + 1) != 0;
            heads[i][head].importance = (float)((head + i / 3) % 3) / 2;
        }
    }
}

static void plans_replayed_together_write_the_ledger_of_each_alone(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct trace *trace = open_random_trace(seed, -1);
        for (size_t p = 0; policies[p] != NULL; p++) {
            struct replay_head heads[TOGETHER][LAYERS * HEADS];
            struct replay_plan plans[TOGETHER];
            struct ledger ledgers[TOGETHER], alone;
            struct error why;
            differ(policies[p]->name, heads, plans);
            for (uint32_t i = 0; i < TOGETHER; i++) {
                ledger_init(&ledgers[i]);
            }
            make_check(replay_run_many(trace, plans, TOGETHER, &(struct replay_means){.threads = 2},
                                       ledgers, &why),
                       &why);
            for (uint32_t i = 0; i < TOGETHER; i++) {
                make_ledger(trace, &plans[i], 1, &alone);
                assert_memory_equal(ledgers[i].rows, alone.rows,
                                    STEPS * LAYERS * sizeof *alone.rows);
                assert_int_equal(ledgers[i].demand_wanted, alone.demand_wanted);
                assert_int_equal(ledgers[i].demand_hit, alone.demand_hit);
                assert_int_equal(ledgers[i].demand_cold, alone.demand_cold);
                ledger_release(&alone);
                ledger_release(&ledgers[i]);
            }
        }
        trace_close(trace);
    }
}

/* 15 of 20 units are outside the window, and kept: whoever wants more gets what there is. */
static void all_may_be_wanted_where_all_is_kept(void **state)
{
    (void)state;
    char path[64];
    struct trace_header header = make_header();
    header.keep = 15;
    make_trace(&header, make_path(folder, "all-kept.swt", path), 5);
    struct trace *trace = make_open(path);
    struct replay_head heads[LAYERS * HEADS];
    struct replay_plan plan = random_plan("lru", heads);
    plan.selection = 1;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    assert_in_range(ledger.demand_wanted, 1, 15 * STEPS * 8);
    ledger_release(&ledger);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ledgers_equal_heads_replayed_and_added_one_by_one),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(plans_replayed_together_write_the_ledger_of_each_alone),
        cmocka_unit_test(all_may_be_wanted_where_all_is_kept),
    };
    return cmocka_run_group_tests(tests, make_test_folder, clear_test_folder);
}
