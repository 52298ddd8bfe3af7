/* Replay of verifications: unions worked by hand, and beside unions and caches put together naively. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "policy/next_use.h"
#include "trace/demand.h"
#include "unit/fixture/make_replay.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/trace_folder.h"

#include <math.h>

/* ---- by hand ---- */

enum { HAND_STEPS = 6 };

/* One head wants two of eight units a step, the first letter more. */
static const char *const hand_rows[HAND_STEPS] = {"AB", "AC", "BD", "AB", "CD", "BA"};
static const int8_t hand_queries[HAND_STEPS][2] = {{5, 0}, {12, 5}, {3, 4}, {3, 4}, {5, 0}, {5, 0}};

static struct trace *open_hand_trace(void)
{
    struct error why;
    char path[64];
    struct trace_header header = {.layers = 1,
                                  .kv_heads = 1,
                                  .query_heads = 1,
                                  .head_dim = 2,
                                  .context = 8,
                                  .unit_kind = TRACE_POSITIONS,
                                  .unit_tokens = 1,
                                  .units = 8,
                                  .keep = 2,
                                  .sequences = 1,
                                  .steps = HAND_STEPS,
                                  .steps_per_tile = HAND_STEPS,
                                  .has_queries = true,
                                  .source = (char *)"{}"};
    struct trace_writer *writer =
        trace_writer_open(make_path(folder, "hand.swt", path), &header, &why);
    make_check(writer != NULL, &why);
    struct trace_frame frame = {0};
    frame.steps = HAND_STEPS;
    make_check(trace_frame_reserve(&header, &frame, &why), &why);
    make_check(trace_rows_reserve(&frame.rows, 2 * HAND_STEPS, &why), &why);
    for (uint32_t row = 0; row <= HAND_STEPS; row++) {
        frame.rows.start[row] = 2 * row;
    }
    for (uint32_t row = 0; row < HAND_STEPS; row++) {
        const char *letters = hand_rows[row];
        uint32_t first = letters[0] < letters[1] ? 0 : 1; /* a row is sorted by position */
        for (uint32_t i = 0; i < 2; i++) {
            frame.rows.units[2 * row + i] = (uint32_t)(letters[i ^ first] - 'A');
            frame.rows.mass[2 * row + i] = (i ^ first) == 0 ? 10 : 20;
        }
        frame.born[row] = .125f;
        frame.tail[row] = .125f;
        frame.scale[row] = 1;
        memcpy(frame.query + 2 * row, hand_queries[row], 2);
    }
    make_check(trace_writer_put(writer, &frame, &why), &why);
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    return make_open(path);
}

static const struct replay_head hand_head = {.offloaded = true, .importance = 1};

/* Two drafts a step: the first step accepts none, the second one, the third none. */
static const uint32_t hand_places[] = {0, 1, 3, 4};

/* Three of eight units are cached; the first step is warm-up. */
static struct replay_plan hand_plan(bool rejected_before)
{
    return (struct replay_plan){.layers = 1,
                                .kv_heads = 1,
                                .batch = 1,
                                .context = 8,
                                .heads = &hand_head,
                                .policy = make_kind("lru"),
                                .selection = .25,
                                .capacity = .375,
                                .manager_unit = 1,
                                .warmup = 1,
                                .steps = 2,
                                .rows = hand_places,
                                .queries = 3,
                                .rejected_before = rejected_before};
}

static void assert_step(const struct ledger_row *row, uint32_t wanted, uint32_t hit)
{
    assert_int_equal(row->wanted, wanted);
    assert_int_equal(row->hit, hit);
    assert_int_equal(row->missed, wanted - hit);
    assert_int_equal(row->lookups, wanted);
}

/* The steps want AB AC BD, best first ABCD, of which LRU keeps ABC; then AC BD AB, again ABCD; then AB
 * CD BA, which is ACBD. */
static void rejected_drafts_want_what_the_next_steps_do(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan(false);
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    assert_step(&ledger.rows[0], 4, 3);
    assert_step(&ledger.rows[1], 4, 3);
    assert_int_equal(ledger.rows[0].inserts, 0); /* D is evicted again within the step */
    assert_int_equal(ledger.rows[0].offloaded_heads, 1);
    assert_float_equal(ledger.rows[0].mass, .5 + .25 + .125,
                       1e-6); /* of a query, not of the union */
    ledger_release(&ledger);
    trace_close(trace);
}

/* The steps want AB; then AC BD, which is ABCD; then AB. */
static void rejected_drafts_want_nothing_new(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan(true);
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    assert_step(&ledger.rows[0], 4, 2);
    assert_step(&ledger.rows[1], 2, 2);
    ledger_release(&ledger);
    trace_close(trace);
}

/* eta .8. The first step fetches ABCD, of which it keeps ABC, with the label (5, 0). The second one's
 * cosines to it are 12/13, 3/5 and 3/5, and their harmonic mean is .68: it fetches ABCD again, and its
 * label is (12, 5). The third one's are 56/65, 12/13 and 12/13, and .90 is enough: all reuse ABC, of
 * which the token that stays wants AB. */
static void qsac_reuses_a_set_for_all_tokens_or_none(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan(false);
    struct ledger ledger;
    plan.policy = make_kind("qsac");
    make_ledger(trace, &plan, 1, &ledger);
    assert_int_equal(ledger.rows[0].missed, 4);
    assert_int_equal(ledger.rows[0].inserts, 3);
    assert_int_equal(ledger.rows[0].lookups, 3); /* a query head of each token */
    assert_int_equal(ledger.rows[0].updates, 1);
    assert_int_equal(ledger.rows[0].reused_heads, 0);
    assert_int_equal(ledger.rows[1].missed, 0);
    assert_int_equal(ledger.rows[1].hit, 4);
    assert_int_equal(ledger.rows[1].reused_heads, 1);
    assert_float_equal(ledger.rows[1].mass, .5 + .25 + .125, 1e-6);
    ledger_release(&ledger);

    plan.capacity = .25; /* AB are kept of ABCD, and CD is what the last token wants */
    static const uint32_t all_stay[] = {0, 1, 3, 6};
    plan.rows = all_stay;
    make_ledger(trace, &plan, 1, &ledger);
    assert_int_equal(ledger.rows[1].reused_heads, 1);
    assert_float_equal(ledger.rows[1].mass, .125 + (.75 + 0 + .75) / 3, 1e-6);
    ledger_release(&ledger);
    trace_close(trace);
}

static void more_steps_than_recorded_are_refused(void **state)
{
    (void)state;
    struct error why;
    struct ledger ledger;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan(false);
    plan.queries = 4; /* the last step would read the seventh row */
    ledger_init(&ledger);
    assert_false(replay_run(trace, &plan, 1, &ledger, &why));
    ledger_release(&ledger);
    trace_close(trace);
}

/* ---- beside a naive union ---- */

enum { LAYERS = 2, HEADS = 2, UNITS = 20, RECORDED = 23, QUERIES_MOST = 5, CAPACITY = 7 };

static struct trace *open_random_trace(uint64_t seed)
{
    char path[64];
    struct trace_header header = make_header();
    header.sequences = 1;
    header.steps = RECORDED;
    header.has_approximate = true;
    make_trace(&header, make_path(folder, "random.swt", path), seed);
    return make_open(path);
}

static struct replay_plan random_plan(const struct policy_kind *policy,
                                      const struct replay_head *heads, const uint32_t *places)
{
    return (struct replay_plan){.layers = LAYERS,
                                .kv_heads = HEADS,
                                .batch = 1,
                                .context = UNITS,
                                .heads = heads,
                                .policy = policy,
                                .selection = .2,
                                .capacity = .35,
                                .sinks = 2,
                                .recent = 3,
                                .manager_unit = 1,
                                .warmup = 2,
                                .rows = places};
}

/* Steps that accept at random, as many as were recorded; returns their number. */
static uint32_t draw_places(gsl_rng *random, uint32_t queries, uint32_t places[RECORDED + 1])
{
    uint32_t steps = 0;
    places[0] = 0;
    while (places[steps] + queries <= RECORDED) {
        uint32_t accepted = (uint32_t)gsl_rng_uniform_int(random, queries);
        places[steps + 1] = places[steps] + accepted + 1;
        steps++;
    }
    return steps;
}

/* The demand of one recorded step, copied. */
struct naive_demand {
    uint32_t units[UNITS], wanted;
    double mass;
};

static struct naive_demand read_naively(const struct trace *trace, const struct replay_plan *plan,
                                        uint32_t layer, uint32_t head, uint32_t step)
{
    struct error why;
    struct demand demand;
    struct demand_buffer buffer = {0};
    struct trace_frame frame = {0};
    const struct trace_header *header = trace_header(trace);
    struct demand_shape shape = demand_shape(header, 4, 2, 3);
    bool guessed = plan->speculates && layer > 0;
    make_check(trace_read(trace, 0, step / 4, layer, &frame, &why), &why);
    make_check((guessed ? demand_from_approximate : demand_from_frame)(
                   header, &frame, head, step % 4, &shape, &buffer, &demand, &why),
               &why);
    struct unit_set own = demand_wanted(&demand);
    struct naive_demand copy = {.wanted = demand.wanted,
                                .mass = demand_attended(&demand, &own).least};
    memcpy(copy.units, demand.units, demand.wanted * sizeof *copy.units);
    trace_frame_release(&frame);
    demand_buffer_release(&buffer);
    return copy;
}

static bool is_among(const uint32_t *units, uint32_t count, uint32_t unit)
{
    for (uint32_t i = 0; i < count; i++) {
        if (units[i] == unit) {
            return true;
        }
    }
    return false;
}

/* What a step's queries want: of each rank, the first query's first. */
static struct naive_demand unite(const struct trace *trace, const struct replay_plan *plan,
                                 uint32_t layer, uint32_t head, uint32_t step)
{
    struct naive_demand demands[QUERIES_MOST], all = {.wanted = 0};
    uint32_t first = plan->rows[step], accepted = plan->rows[step + 1] - first;
    uint32_t asking = plan->rejected_before ? accepted : plan->queries;
    for (uint32_t q = 0; q < asking; q++) {
        demands[q] = read_naively(trace, plan, layer, head, first + q);
        all.mass += q < accepted ? demands[q].mass / accepted : 0;
    }
    for (uint32_t rank = 0; rank < UNITS; rank++) {
        for (uint32_t q = 0; q < asking; q++) {
            if (rank < demands[q].wanted &&
                !is_among(all.units, all.wanted, demands[q].units[rank])) {
                all.units[all.wanted++] = demands[q].units[rank];
            }
        }
    }
    return all;
}

/* Add a head's steps to the rows of its layer. */
static void add_naively(const struct trace *trace, const struct replay_plan *plan, uint32_t layer,
                        uint32_t head, struct ledger_row *rows)
{
    struct error why;
    struct next_use future = {0};
    uint8_t masses[UNITS] = {0};
    uint32_t steps = plan->warmup + plan->steps;
    for (uint32_t step = 0; step < steps; step++) {
        struct naive_demand naive = unite(trace, plan, layer, head, step);
        struct demand demand = {.units = naive.units, .wanted = naive.wanted};
        make_check(next_use_add(&future, &demand, &why), &why);
    }
    make_check(next_use_resolve(&future, UNITS, &why), &why);
    struct policy_env env = {.blocks = UNITS,
                             .capacity = CAPACITY,
                             .wanted = UNITS,
                             .order = plan->order,
                             .sinks = 2,
                             .recent = 3,
                             .warmup = plan->warmup,
                             .born = 1,
                             .seed = layer * HEADS + head,
                             .next_use = future.access};
    struct policy *policy = policy_create(plan->policy, NULL, &env, &why);
    make_check(policy != NULL, &why);
    for (uint32_t step = 0; step < steps; step++) {
        struct outcome outcome;
        struct naive_demand naive = unite(trace, plan, layer, head, step);
        struct demand demand = {
            .units = naive.units, .mass = masses, .wanted = naive.wanted, .recorded = naive.wanted};
        policy_access(policy, &demand, &outcome);
        if (step >= plan->warmup) {
            struct ledger_row *row = &rows[(step - plan->warmup) * LAYERS + layer];
            row->wanted += naive.wanted;
            row->hit += outcome.hit;
            row->missed += outcome.missed;
            row->lookups += outcome.lookups;
            row->inserts += outcome.inserts;
            row->mass += naive.mass;
        }
    }
    policy_destroy(policy);
    next_use_release(&future);
}

static void assert_ledger(const struct ledger *ledger, const struct ledger_row *expected,
                          const char *what, uint64_t seed)
{
    for (uint32_t i = 0; i < ledger->steps * LAYERS; i++) {
        const struct ledger_row *row = &ledger->rows[i];
        if (row->wanted != expected[i].wanted || row->hit != expected[i].hit ||
            row->missed != expected[i].missed || row->lookups != expected[i].lookups ||
            row->inserts != expected[i].inserts || fabs(row->mass - expected[i].mass) > 1e-9) {
            fail_msg("%s, seed %u, row %u: wanted %u hit %u mass %g, expected %u %u %g", what,
                     (unsigned)seed, i, (unsigned)row->wanted, (unsigned)row->hit, row->mass,
                     (unsigned)expected[i].wanted, (unsigned)expected[i].hit, expected[i].mass);
        }
    }
}

static const struct replay_head random_heads[LAYERS * HEADS] = {
    {.offloaded = true, .importance = 1},
    {.offloaded = true, .importance = 1},
    {.offloaded = true, .importance = 1},
    {.offloaded = true, .importance = 1}};

/* Those that choose by themselves see no demand; QSAC's rule for unions is worked by hand. */
static bool sees_unions(const struct policy_kind *policy)
{
    return !policy->needs_queries && !policy->chooses_own;
}

static void ledgers_equal_naive_unions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS(8, 2); seed++) {
        struct error why;
        struct trace *trace = open_random_trace(seed);
        gsl_rng *random = random_stream(seed, "test.union", 0, &why);
        make_check(random != NULL, &why);
        for (size_t p = 0; policies[p] != NULL; p++) {
            uint32_t places[RECORDED + 1];
            struct replay_plan plan = random_plan(policies[p], random_heads, places);
            plan.queries = 1 + (uint32_t)gsl_rng_uniform_int(random, QUERIES_MOST);
            plan.steps = draw_places(random, plan.queries, places) - plan.warmup;
            plan.rejected_before = gsl_rng_uniform_int(random, 2) == 0;
            plan.speculates = gsl_rng_uniform_int(random, 2) == 0;
            plan.order = seed % 2 ? POLICY_BATCH : POLICY_SEQUENTIAL;
            if (!sees_unions(policies[p])) {
                continue;
            }
            struct ledger_row expected[RECORDED * LAYERS] = {0};
            for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
                add_naively(trace, &plan, i / HEADS, i % HEADS, expected);
            }
            struct ledger ledger, four;
            make_ledger(trace, &plan, 1, &ledger);
            assert_ledger(&ledger, expected, policies[p]->name, seed);
            make_ledger(trace, &plan, 4, &four);
            assert_memory_equal(ledger.rows, four.rows,
                                (size_t)plan.steps * LAYERS * sizeof *four.rows);
            ledger_release(&ledger);
            ledger_release(&four);
        }
        gsl_rng_free(random);
        trace_close(trace);
    }
}

/* ---- without drafts, and in blocks ---- */

static void fill_places(uint32_t places[RECORDED + 1])
{
    for (uint32_t i = 0; i <= RECORDED; i++) {
        places[i] = i;
    }
}

/* Also where caches begin full, which reads more of the first step than it asks for. */
static void one_query_is_a_step_without_drafts(void **state)
{
    (void)state;
    static const enum block_span spans[] = {BLOCK_UNIT, BLOCK_HEAD, BLOCK_LAYER};
    uint32_t places[RECORDED + 1];
    struct trace *trace = open_random_trace(7);
    fill_places(places);
    for (size_t p = 0; policies[p] != NULL; p++) {
        for (int i = 0; i < 6 && !policies[p]->chooses_own; i++) {
            struct ledger found, expected;
            struct replay_plan plan = random_plan(policies[p], random_heads, places);
            plan.steps = RECORDED - plan.warmup;
            plan.queries = 1;
            plan.starts_full = i % 2;
            plan.block_span = policies[p]->holds != NULL ? spans[i / 2] : BLOCK_UNIT;
            make_ledger(trace, &plan, 1, &found);
            plan.rows = NULL;
            make_ledger(trace, &plan, 1, &expected);
            assert_memory_equal(found.rows, expected.rows,
                                (size_t)plan.steps * LAYERS * sizeof *found.rows);
            assert_int_equal(found.demand_cold, expected.demand_cold);
            ledger_release(&found);
            ledger_release(&expected);
        }
    }
    trace_close(trace);
}

/* LRU handles the units of a step in an order of its own where they are blocks, so a cache that holds
 * all is compared: it hits what was ever wanted. */
static void blocks_of_a_unit_want_the_same_unions(void **state)
{
    (void)state;
    struct error why;
    uint32_t places[RECORDED + 1];
    struct trace *trace = open_random_trace(8);
    gsl_rng *random = random_stream(8, "test.union", 0, &why);
    make_check(random != NULL, &why);
    struct ledger units, blocks;
    struct replay_plan plan = random_plan(make_kind("lru"), random_heads, places);
    plan.queries = 4;
    plan.steps = draw_places(random, plan.queries, places) - plan.warmup;
    plan.capacity = 1;
    make_ledger(trace, &plan, 1, &units);
    plan.block_span = BLOCK_HEAD;
    make_ledger(trace, &plan, 1, &blocks);
    for (uint32_t i = 0; i < plan.steps * LAYERS; i++) {
        assert_int_equal(blocks.rows[i].wanted, units.rows[i].wanted);
        assert_int_equal(blocks.rows[i].hit, units.rows[i].hit);
        assert_float_equal(blocks.rows[i].mass, units.rows[i].mass, 1e-9);
    }
    ledger_release(&units);
    ledger_release(&blocks);
    gsl_rng_free(random);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejected_drafts_want_what_the_next_steps_do),
        cmocka_unit_test(rejected_drafts_want_nothing_new),
        cmocka_unit_test(qsac_reuses_a_set_for_all_tokens_or_none),
        cmocka_unit_test(more_steps_than_recorded_are_refused),
        cmocka_unit_test(ledgers_equal_naive_unions),
        cmocka_unit_test(one_query_is_a_step_without_drafts),
        cmocka_unit_test(blocks_of_a_unit_want_the_same_unions),
    };
    return cmocka_run_group_tests(tests, make_test_folder, clear_test_folder);
}
