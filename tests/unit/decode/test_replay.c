/* Replay: ledgers worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_replay.h"
#include "unit/fixture/trace_folder.h"

#include <math.h>

/* Six steps of one head: units as letters, best first, with codes 10, 20, 30 (a half, a quarter, an
 * eighth of the mass); 1/16 is born, and 1/16 belongs to the five other units. Two are wanted. */
static const char *const hand_rows[] = {"ABH", "ACH", "BDH", "ABH", "CDH", "BAH"};

/* What an approximate query asks for, best first; E and F are in no row. */
static const char *const hand_guesses[] = {"ABH", "AHC", "DEB", "ABD", "DAC", "BHF"};

/* Cosines to the label, eta .8: first, .92, .6 (a miss), 1, .6 (a miss), 1. */
static const int8_t hand_queries[][2] = {{5, 0}, {12, 5}, {3, 4}, {3, 4}, {5, 0}, {5, 0}};

static struct trace_header hand_header(void)
{
    return (struct trace_header){.layers = 1,
                                 .kv_heads = 1,
                                 .query_heads = 1,
                                 .head_dim = 2,
                                 .context = 8,
                                 .unit_kind = TRACE_POSITIONS,
                                 .unit_tokens = 1,
                                 .units = 8,
                                 .keep = 3,
                                 .sequences = 1,
                                 .steps = 6,
                                 .steps_per_tile = 4,
                                 .has_queries = true,
                                 .has_approximate = true,
                                 .source = (char *)"{}"};
}

/* Letters, best first, as a row whose codes are `step`, 2 * step ... */
static void put_letters(struct trace_rows *rows, uint32_t s, const char *letters, uint32_t step)
{
    uint32_t end = rows->start[s];
    for (uint32_t unit = 0; unit < 8; unit++) {
        const char *at = strchr(letters, 'A' + (int)unit);
        if (at != NULL) {
            rows->units[end] = unit;
            rows->mass[end++] = (uint8_t)(step * (uint32_t)(at - letters + 1));
        }
    }
    rows->start[s + 1] = end;
}

static void put_hand_step(struct trace_frame *frame, uint32_t s)
{
    put_letters(&frame->rows, s, hand_rows[frame->first_step + s], 10);
    put_letters(&frame->approximate, s, hand_guesses[frame->first_step + s], 85);
    frame->born[s] = .0625f;
    frame->tail[s] = .0625f;
    frame->scale[s] = .5f;
    memcpy(frame->query + s * 2, hand_queries[frame->first_step + s], 2);
}

static struct trace *open_hand_trace(void)
{
    struct error why;
    char path[64];
    struct trace_header header = hand_header();
    struct trace_writer *writer =
        trace_writer_open(make_path(folder, "hand.swt", path), &header, &why);
    make_check(writer != NULL, &why);
    struct trace_frame frame = {0};
    for (frame.tile = 0; frame.tile < 2; frame.tile++) {
        frame.first_step = 4 * frame.tile;
        frame.steps = frame.tile == 0 ? 4 : 2;
        make_check(trace_frame_reserve(&header, &frame, &why), &why);
        make_check(trace_rows_reserve(&frame.rows, 12, &why), &why);
        make_check(trace_rows_reserve(&frame.approximate, 12, &why), &why);
        frame.rows.start[0] = frame.approximate.start[0] = 0;
        for (uint32_t s = 0; s < frame.steps; s++) {
            put_hand_step(&frame, s);
        }
        make_check(trace_writer_put(writer, &frame, &why), &why);
    }
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    return make_open(path);
}

/* One head, two of eight units wanted, three cached, at the size it was recorded. */
static struct replay_plan hand_plan(const char *policy, const struct replay_head *heads)
{
    return (struct replay_plan){.layers = 1,
                                .kv_heads = 1,
                                .batch = 1,
                                .context = 8,
                                .heads = heads,
                                .policy = make_kind(policy),
                                .selection = .25,
                                .capacity = .375,
                                .manager_unit = 1,
                                .warmup = 2,
                                .steps = 4};
}

static const struct replay_head one_head[] = {{.offloaded = true, .importance = 1}};
static const struct replay_head two_heads[] = {{.offloaded = true, .importance = 1},
                                               {.offloaded = true, .importance = 0}};

static void assert_field(const struct ledger *ledger, const char *what, size_t offset,
                         const uint64_t *expected)
{
    for (uint32_t s = 0; s < ledger->steps; s++) {
        uint64_t found = *(const uint64_t *)((const char *)&ledger->rows[s] + offset);
        if (found != expected[s]) {
            fail_msg("%s of step %u is %llu, not %llu", what, s, (unsigned long long)found,
                     (unsigned long long)expected[s]);
        }
    }
}

#define ASSERT_STEPS(ledger, field, ...)                                                           \
    assert_field(ledger, #field, offsetof(struct ledger_row, field),                               \
                 (const uint64_t[]){__VA_ARGS__})

/* Held, best first: AB, ACB, BDA, ABD, CDA, BAC; the first two steps are warm-up. */
static void lru_gives_the_ledger_worked_by_hand(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", one_head);
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 2, 2, 2, 2);
    ASSERT_STEPS(&ledger, hit, 1, 2, 1, 1);
    ASSERT_STEPS(&ledger, missed, 1, 0, 1, 1);
    ASSERT_STEPS(&ledger, missed_worst, 1, 0, 1, 1);
    ASSERT_STEPS(&ledger, lookups, 2, 2, 2, 2);
    ASSERT_STEPS(&ledger, updates, 1, 2, 1, 1);
    ASSERT_STEPS(&ledger, inserts, 1, 0, 1, 1);
    for (uint32_t s = 0; s < 4; s++) {
        assert_int_equal(ledger.rows[s].fetching_heads, s != 1);
        assert_int_equal(ledger.rows[s].reused_heads, 0);
        assert_int_equal(ledger.rows[s].offloaded_heads, 1);
        assert_float_equal(ledger.rows[s].mass, .5 + .25 + .0625, 1e-6);
    }
    assert_int_equal(ledger.demand_cold, 0);
    assert_int_equal(ledger.demand_wanted, 8);
    assert_int_equal(ledger.demand_hit, 5);
    ledger_release(&ledger);

    plan.warmup = 1; /* AB are held then, of three */
    make_ledger(trace, &plan, 1, &ledger);
    assert_int_equal(ledger.demand_cold, 1); /* C, which finds room */
    ledger_release(&ledger);
    trace_close(trace);
}

/* Held: AB, ABC, BDA, ABD, BAC, BAC: each time what is wanted last leaves, as C and then D. */
static void opt_knows_the_future_of_the_trace(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("opt", one_head);
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, hit, 1, 2, 1, 2);
    ASSERT_STEPS(&ledger, inserts, 1, 0, 1, 0);
    ledger_release(&ledger);
    trace_close(trace);
}

/* Hits 1 2 1 1, and again two rows later: 1 1 1 2. */
static void a_batch_reads_rows_shifted(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", one_head);
    plan.batch = 2;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 4, 4, 4, 4);
    ASSERT_STEPS(&ledger, hit, 2, 3, 2, 3);
    ASSERT_STEPS(&ledger, missed_worst, 1, 1, 1, 1);
    assert_int_equal(ledger.rows[0].offloaded_heads, 2);
    assert_int_equal(ledger.rows[1].fetching_heads, 1);
    assert_int_equal(ledger.demand_wanted, 16);
    assert_int_equal(ledger.demand_hit, 10);
    ledger_release(&ledger);
    trace_close(trace);
}

/* 8 tokens stand for 100: a unit for 12.5, and a manager's unit for 5 of these. One unit missed is
 * 13 tokens, both wanted are 25. */
static void counts_scale_to_the_target_context(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", one_head);
    plan.context = 100;
    plan.manager_unit = 5;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 25, 25, 25, 25);
    ASSERT_STEPS(&ledger, missed, 13, 0, 13, 13);
    ASSERT_STEPS(&ledger, hit, 12, 25, 12, 12);
    ASSERT_STEPS(&ledger, lookups, 5, 5, 5, 5);
    ASSERT_STEPS(&ledger, updates, 3, 5, 3, 3);
    ASSERT_STEPS(&ledger, inserts, 3, 0, 3, 3);
    assert_int_equal(ledger.demand_wanted, 8);
    ledger_release(&ledger);
    trace_close(trace);
}

/* A quarter of 80 tokens is a window of 2 of the 8 recorded: G and H, which is worth an eighth. */
static void a_share_for_a_window_is_one_of_what_was_recorded(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", one_head);
    plan.context = 80;
    plan.recent = 20;
    plan.recent_scales = true;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, missed, 10, 0, 10, 10);
    assert_float_equal(ledger.rows[0].mass, .5 + .25 + .125 + .0625, 1e-6);
    ledger_release(&ledger);
    trace_close(trace);
}

/* Two target heads read one source head, the second two rows later. Importance 1 misses at steps 0,
 * 2 and 4; importance 0 at step 0 only, so of rows 2 3 0 1 at the third. */
static void heads_of_one_source_have_caches_by_importance(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("qsac", two_heads);
    plan.kv_heads = 2;
    plan.warmup = 0;
    plan.context = 80;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 40, 40, 40, 40);
    ASSERT_STEPS(&ledger, missed, 20, 0, 40, 0);
    ASSERT_STEPS(&ledger, missed_worst, 20, 0, 20, 0);
    ASSERT_STEPS(&ledger, lookups, 2, 2, 2, 2); /* query heads: as many at any context */
    ASSERT_STEPS(&ledger, updates, 1, 0, 2, 0);
    ASSERT_STEPS(&ledger, inserts, 20, 0, 40, 0);
    const uint32_t reused[] = {1, 2, 0, 2};
    for (uint32_t s = 0; s < 4; s++) {
        assert_int_equal(ledger.rows[s].reused_heads, reused[s]);
        assert_int_equal(ledger.rows[s].fetching_heads, 2 - reused[s]);
    }
    /* At their step 1 both heads reuse AB where AC is known: A, and B may have all of the tail. The
     * mass is that of a step of the recording, so the shift does not move it. */
    assert_float_equal(ledger.rows[1].mass, 2 * (.5 + .0625), 1e-6);
    assert_float_equal(ledger.rows[1].mass_most, 2 * (.5 + .0625 + .0625), 1e-6);
    ledger_release(&ledger);
    trace_close(trace);
}

static void assert_masses(const struct ledger *ledger, uint32_t layer, const double *expected)
{
    for (uint32_t s = 0; s < ledger->steps; s++) {
        double found = ledger->rows[s * ledger->layers + layer].mass;
        if (fabs(found - expected[s]) > 1e-6) {
            fail_msg("mass of step %u is %g, not %g", s, found, expected[s]);
        }
    }
}

#define MASSES(ledger, layer, ...) assert_masses(ledger, layer, (const double[]){__VA_ARGS__})

/* Layer 1 reads the rows of layer 0, two later. It asks with the guesses: AB, AH, DE, AB, DA, BH,
 * of which LRU holds AB, AHB, DEA, ABD, DAB, BHD, so that it misses 2 1 0 1 reported, seen as 0 1 2
 * 1. A guess is worth what its units are in the row: D of BDH, AB of ABH, D of CDH, BH of BAH. */
static void a_layer_asked_for_ahead_attends_to_what_was_guessed(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", two_heads);
    plan.layers = 2;
    plan.speculates = true;
    struct ledger ledger;
    const uint64_t guessed[] = {0, 1, 2, 1}, true_ones[] = {1, 0, 1, 1};
    make_ledger(trace, &plan, 1, &ledger);
    for (uint32_t s = 0; s < 4; s++) {
        assert_int_equal(ledger.rows[2 * s].missed, true_ones[s]);
        assert_int_equal(ledger.rows[2 * s + 1].missed, guessed[s]);
    }
    MASSES(&ledger, 0, .8125, .8125, .8125, .8125);
    MASSES(&ledger, 1, .3125, .8125, .3125, .6875);
    ledger_release(&ledger);

    plan.speculates = false;
    make_ledger(trace, &plan, 1, &ledger);
    MASSES(&ledger, 1, .8125, .8125, .8125, .8125);
    ledger_release(&ledger);
    trace_close(trace);
}

/* Sets are fetched at steps 0, 2 and 4, as guessed: AB, DE, DA. Reused at 1 they are worth A of
 * ACH, at 3 nothing of ABH, at 5 A of BAH, though nothing asked for A then. */
static void a_guessed_set_is_reused_for_what_it_is_worth(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("qsac", one_head);
    const struct replay_head heads[] = {{.offloaded = false, .importance = 1},
                                        {.offloaded = true, .importance = 1}};
    plan.layers = 2;
    plan.heads = heads;
    plan.speculates = true;
    plan.warmup = 0;
    plan.steps = 6;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    MASSES(&ledger, 1, .8125, .5625, .3125, .0625, .3125, .3125);
    ledger_release(&ledger);
    trace_close(trace);
}

static void resident_heads_are_in_no_count(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    const struct replay_head heads[] = {{.offloaded = true, .importance = 1},
                                        {.offloaded = false, .importance = 1}};
    struct replay_plan plan = hand_plan("lru", heads);
    plan.kv_heads = 2;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 2, 2, 2, 2);
    ASSERT_STEPS(&ledger, hit, 1, 2, 1, 1);
    assert_int_equal(ledger.rows[0].offloaded_heads, 1);
    ledger_release(&ledger);

    const struct replay_head none[] = {{.offloaded = false, .importance = 1},
                                       {.offloaded = false, .importance = 1}};
    plan.heads = none;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 0, 0, 0, 0);
    assert_int_equal(ledger.rows[0].offloaded_heads, 0);
    assert_int_equal(ledger.demand_wanted, 0);
    ledger_release(&ledger);
    trace_close(trace);
}

static void assert_refused(const struct trace *trace, const struct replay_plan *plan,
                           const char *found)
{
    struct error why;
    struct ledger ledger;
    ledger_init(&ledger);
    assert_false(replay_run(trace, plan, 2, &ledger, &why));
    assert_string_equal(why.found, found);
    ledger_release(&ledger);
}

static void what_a_trace_cannot_tell_is_refused(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", one_head);
    plan.steps = 5;
    assert_refused(trace, &plan, "2 steps of warm-up and 5 to report, but only 6 recorded");
    plan = hand_plan("lru", one_head);
    plan.selection = .5;
    assert_refused(trace, &plan, "a selection of 50 % needs 4 units a row");
    plan = hand_plan("qsac", one_head);
    plan.capacity = .125;
    assert_refused(trace, &plan, "policy 'qsac' has a cache of 1 blocks, but a head wants 2");
    plan = hand_plan("lru", one_head);
    plan.batch = 0;
    assert_refused(trace, &plan, "invalid plan: 4 steps, batch 0, context 8, selection 0.25");
    plan = hand_plan("lru", one_head);
    plan.selection = (double)NAN;
    assert_refused(trace, &plan, "invalid plan: 4 steps, batch 1, context 8, selection nan");
    trace_close(trace);

    char path[64];
    struct trace_header header = make_header();
    header.has_queries = false;
    make_trace(&header, make_path(folder, "no-queries.swt", path), 5);
    trace = make_open(path);
    plan = hand_plan("qsac", one_head);
    assert_refused(trace, &plan, "policy 'qsac' compares queries, but the trace has no queries");
    trace_close(trace);
}

static void a_share_below_one_unit_is_one(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", one_head);
    plan.selection = plan.capacity = .001;
    struct ledger ledger;
    make_ledger(trace, &plan, 1, &ledger); /* A A B A C B, one held: B A C B miss */
    ASSERT_STEPS(&ledger, wanted, 1, 1, 1, 1);
    ASSERT_STEPS(&ledger, missed, 1, 1, 1, 1);
    ledger_release(&ledger);
    plan.capacity = 0;
    make_ledger(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, missed, 1, 1, 1, 1);
    ledger_release(&ledger);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lru_gives_the_ledger_worked_by_hand),
        cmocka_unit_test(opt_knows_the_future_of_the_trace),
        cmocka_unit_test(a_batch_reads_rows_shifted),
        cmocka_unit_test(counts_scale_to_the_target_context),
        cmocka_unit_test(a_share_for_a_window_is_one_of_what_was_recorded),
        cmocka_unit_test(heads_of_one_source_have_caches_by_importance),
        cmocka_unit_test(a_layer_asked_for_ahead_attends_to_what_was_guessed),
        cmocka_unit_test(a_guessed_set_is_reused_for_what_it_is_worth),
        cmocka_unit_test(resident_heads_are_in_no_count),
        cmocka_unit_test(what_a_trace_cannot_tell_is_refused),
        cmocka_unit_test(a_share_below_one_unit_is_one),
    };
    return cmocka_run_group_tests(tests, make_test_folder, clear_test_folder);
}
