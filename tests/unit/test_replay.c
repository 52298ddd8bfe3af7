/* Replay: ledgers worked by hand, and random ones put together naively. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/replay.h"
#include "make_trace.h"
#include "policy/next_use.h"
#include "trace/demand.h"

#include <math.h>

static char folder[32];

/* Six steps of one head: units as letters, best first, with codes 10, 20, 30 (a half, a quarter, an
 * eighth of the mass); 1/16 is born. Two are wanted. */
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
    frame->tail[s] = 0;
    frame->scale[s] = .5f;
    memcpy(frame->query + s * 2, hand_queries[frame->first_step + s], 2);
}

static struct trace *open_trace(const char *path)
{
    struct error why;
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    return trace;
}

static struct trace *open_hand_trace(void)
{
    struct error why;
    char path[64];
    struct trace_header header = hand_header();
    struct trace_writer *writer =
        trace_writer_open(make_path(folder, "hand.swt", path), &header, &why);
    make_check(writer != NULL, &why);
    struct trace_frame frame;
    trace_frame_init(&frame);
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
    return open_trace(path);
}

static const struct policy_kind *kind(const char *name)
{
    struct error why;
    const struct policy_kind *found = policy_find(name, NULL, 0, &why);
    assert_non_null(found);
    return found;
}

/* One head, two of eight units wanted, three cached, at the size it was recorded. */
static struct replay_plan hand_plan(const char *policy, const struct replay_head *heads)
{
    return (struct replay_plan){.layers = 1,
                                .kv_heads = 1,
                                .batch = 1,
                                .context = 8,
                                .heads = heads,
                                .policy = kind(policy),
                                .selection = .25,
                                .capacity = .375,
                                .manager_unit = 1,
                                .warmup = 2,
                                .steps = 4};
}

static void run_plan(const struct trace *trace, const struct replay_plan *plan, uint32_t threads,
                     struct ledger *ledger)
{
    struct error why;
    ledger_init(ledger);
    make_check(replay_run(trace, plan, threads, ledger, &why), &why);
}

static const struct replay_head one_head[] = {{true, 1}};
static const struct replay_head two_heads[] = {{true, 1}, {true, 0}};

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
    run_plan(trace, &plan, 1, &ledger);
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
    assert_true(ledger.cache_filled);
    assert_int_equal(ledger.demand_wanted, 8);
    assert_int_equal(ledger.demand_hit, 5);
    ledger_release(&ledger);

    plan.warmup = 1; /* AB are held then, of three */
    run_plan(trace, &plan, 1, &ledger);
    assert_false(ledger.cache_filled);
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
    run_plan(trace, &plan, 1, &ledger);
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
    run_plan(trace, &plan, 1, &ledger);
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
    run_plan(trace, &plan, 1, &ledger);
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
    run_plan(trace, &plan, 1, &ledger);
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
    run_plan(trace, &plan, 1, &ledger);
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
    /* Step 1 reuses AB where AC is known: A. The other head's AB is all known to row 3. */
    assert_float_equal(ledger.rows[1].mass, .5 + .0625 + .75 + .0625, 1e-6);
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
    run_plan(trace, &plan, 1, &ledger);
    for (uint32_t s = 0; s < 4; s++) {
        assert_int_equal(ledger.rows[2 * s].missed, true_ones[s]);
        assert_int_equal(ledger.rows[2 * s + 1].missed, guessed[s]);
    }
    MASSES(&ledger, 0, .8125, .8125, .8125, .8125);
    MASSES(&ledger, 1, .3125, .6875, .3125, .8125);
    ledger_release(&ledger);

    plan.speculates = false;
    run_plan(trace, &plan, 1, &ledger);
    MASSES(&ledger, 1, .8125, .8125, .8125, .8125);
    ledger_release(&ledger);
    trace_close(trace);
}

/* Sets are fetched at steps 0, 2 and 4, as guessed: AB, DE, DA. Reused at 1 they are worth A of
 * ACH, at 3 nothing of ABH, at 5 A of BAH, though nothing asked for A then. Seen three rows later.
 */
static void a_guessed_set_is_reused_for_what_it_is_worth(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("qsac", one_head);
    const struct replay_head heads[] = {{false, 1}, {true, 1}};
    plan.layers = 2;
    plan.heads = heads;
    plan.speculates = true;
    plan.warmup = 0;
    plan.steps = 6;
    struct ledger ledger;
    run_plan(trace, &plan, 1, &ledger);
    MASSES(&ledger, 1, .0625, .3125, .3125, .8125, .5625, .3125);
    ledger_release(&ledger);
    trace_close(trace);
}

static void resident_heads_are_in_no_count(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    const struct replay_head heads[] = {{true, 1}, {false, 1}};
    struct replay_plan plan = hand_plan("lru", heads);
    plan.kv_heads = 2;
    struct ledger ledger;
    run_plan(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 2, 2, 2, 2);
    ASSERT_STEPS(&ledger, hit, 1, 2, 1, 1);
    assert_int_equal(ledger.rows[0].offloaded_heads, 1);
    ledger_release(&ledger);

    const struct replay_head none[] = {{false, 1}, {false, 1}};
    plan.heads = none;
    run_plan(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, wanted, 0, 0, 0, 0);
    assert_int_equal(ledger.rows[0].offloaded_heads, 0);
    assert_int_equal(ledger.demand_wanted, 0);
    ledger_release(&ledger);
    trace_close(trace);
}

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
    struct trace_frame frame;
    trace_frame_init(&frame);
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
    return open_trace(path);
}

enum { LAYERS = 4, HEADS = 3, WARMUP = 2, STEPS = 5 };

/* A target of another shape, where every third head is resident. */
static struct replay_plan random_plan(const char *policy, struct replay_head *heads)
{
    for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
        heads[i] = (struct replay_head){.offloaded = i % 3 != 2, .importance = (float)(i % 4) / 3};
    }
    return (struct replay_plan){.layers = LAYERS,
                                .kv_heads = HEADS,
                                .batch = 1,
                                .context = 333,
                                .heads = heads,
                                .policy = kind(policy),
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
    float importance = plan->heads[layer * HEADS + head].importance;
    const float importances[] = {importance, importance};
    uint32_t source_layer, source_head, wanted_units = plan->policy->chooses_own ? 6 : 4;
    replay_source(trace_header(trace), LAYERS, HEADS, layer, head, STEPS, &source_layer,
                  &source_head, shift);
    struct next_use future;
    struct demand_buffer buffer;
    struct trace_frame frame;
    next_use_init(&future);
    demand_buffer_init(&buffer);
    trace_frame_init(&frame);
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
                             .query_heads = 2,
                             .head_dim = 3,
                             .importance = importances,
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
            .mass = fmin(1, (double)outcome.mass + (double)demand.window_mass),
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
            sum->mass += row->mass;
        }
    }
}

static void ledgers_equal_heads_replayed_and_added_one_by_one(void **state)
{
    (void)state;
    const uint32_t batches[] = {1, 2, 3, 8, 17};
    for (uint64_t seed = 1; seed <= 10; seed++) {
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
            run_plan(both, &plan, 2, &ledger);
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
        run_plan(trace, &plan, 1, &one);
        run_plan(trace, &plan, 4, &four);
        assert_memory_equal(one.rows, four.rows, STEPS * LAYERS * sizeof *one.rows);
        assert_int_equal(one.demand_hit, four.demand_hit);
        assert_int_equal(one.cache_filled, four.cache_filled);
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
            make_check(replay_run_all(trace, plans, TOGETHER, 2, ledgers, &why), &why);
            for (uint32_t i = 0; i < TOGETHER; i++) {
                run_plan(trace, &plans[i], 1, &alone);
                assert_memory_equal(ledgers[i].rows, alone.rows,
                                    STEPS * LAYERS * sizeof *alone.rows);
                assert_int_equal(ledgers[i].demand_wanted, alone.demand_wanted);
                assert_int_equal(ledgers[i].demand_hit, alone.demand_hit);
                assert_int_equal(ledgers[i].cache_filled, alone.cache_filled);
                ledger_release(&alone);
                ledger_release(&ledgers[i]);
            }
        }
        trace_close(trace);
    }
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
    assert_refused(trace, &plan, "2 steps of warm-up and 5 reported, of 6 recorded");
    plan = hand_plan("lru", one_head);
    plan.selection = .5;
    assert_refused(trace, &plan, "a selection of 50 % wants 4 units of a row");
    plan = hand_plan("qsac", one_head);
    plan.capacity = .125;
    assert_refused(trace, &plan, "policy 'qsac' with a cache of 1 blocks where a head wants 2");
    plan = hand_plan("lru", one_head);
    plan.batch = 0;
    assert_refused(trace, &plan, "4 steps of batch 0 at context 8, wanting 0.25 of it");
    plan = hand_plan("lru", one_head);
    plan.selection = (double)NAN;
    assert_refused(trace, &plan, "4 steps of batch 1 at context 8, wanting nan of it");
    trace_close(trace);

    char path[64];
    struct trace_header header = make_header();
    header.has_queries = false;
    make_trace(&header, make_path(folder, "no-queries.swt", path), 5);
    trace = open_trace(path);
    plan = hand_plan("qsac", one_head);
    assert_refused(trace, &plan, "policy 'qsac' compares queries, and the trace has none");
    trace_close(trace);
}

/* 15 of 20 units are outside the window, and kept: whoever wants more gets what there is. */
static void all_may_be_wanted_where_all_is_kept(void **state)
{
    (void)state;
    char path[64];
    struct trace_header header = make_header();
    header.keep = 15;
    make_trace(&header, make_path(folder, "all-kept.swt", path), 5);
    struct trace *trace = open_trace(path);
    struct replay_head heads[LAYERS * HEADS];
    struct replay_plan plan = random_plan("lru", heads);
    plan.selection = 1;
    struct ledger ledger;
    run_plan(trace, &plan, 1, &ledger);
    assert_in_range(ledger.demand_wanted, 1, 15 * STEPS * 8);
    ledger_release(&ledger);
    trace_close(trace);
}

static void a_share_below_one_unit_is_one(void **state)
{
    (void)state;
    struct trace *trace = open_hand_trace();
    struct replay_plan plan = hand_plan("lru", one_head);
    plan.selection = plan.capacity = .001;
    struct ledger ledger;
    run_plan(trace, &plan, 1, &ledger); /* A A B A C B, one held: B A C B miss */
    ASSERT_STEPS(&ledger, wanted, 1, 1, 1, 1);
    ASSERT_STEPS(&ledger, missed, 1, 1, 1, 1);
    ledger_release(&ledger);
    plan.capacity = 0;
    run_plan(trace, &plan, 1, &ledger);
    ASSERT_STEPS(&ledger, missed, 1, 1, 1, 1);
    ledger_release(&ledger);
    trace_close(trace);
}

static int make_test_folder(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"hand.swt",    "random-1.swt",   "random0.swt",
                                        "random1.swt", "no-queries.swt", "all-kept.swt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        unlink(make_path(folder, names[i], path));
    }
    return rmdir(folder);
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
        cmocka_unit_test(ledgers_equal_heads_replayed_and_added_one_by_one),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(plans_replayed_together_write_the_ledger_of_each_alone),
        cmocka_unit_test(what_a_trace_cannot_tell_is_refused),
        cmocka_unit_test(all_may_be_wanted_where_all_is_kept),
        cmocka_unit_test(a_share_below_one_unit_is_one),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
