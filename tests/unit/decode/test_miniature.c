/* What miniatures are predicted to take, worked out by hand.
 *
 * Two heads of 25 numbers: a token's K and V are 100 B. A layer wants 2000 tokens, 1000 a head, of
 * which 500 miss. Waking a thread takes 1000 ns; rates are in B/ns:
 *
 *                 one thread   two
 *     gather          1         2
 *     attention       1         4         the thread that copies: 5 row by row, 10 in one piece
 *
 * Looking a token up takes 10 ns, updating one 20 ns. */
#include "decode/miniature/miniature.h"

#include "decode/replay/replay.h"
#include "unit/fixture/load_profile.h"
#include "unit/fixture/make_trace.h"

static const char machine[] =
    "{host: {cores: 2, dram_bandwidth: 1000GB/s, lookup: 10ns, update: 20ns,"
    " pool_wake: {points: [[1, 1us], [2, 1us]], basis: measured, source: x},"
    " gather: {points: [[1, 1GB/s], [2, 2GB/s]], basis: measured, source: x},"
    " attention: {points: [[1, 1GB/s], [2, 4GB/s]], basis: measured, source: x}}}";

static const struct miniature shape = {
    .layers = 1,
    .kv_heads = 2,
    .query_heads = 2,
    .head_dim = 25,
    .context = 4000,
    .repeat = 1,
    .steps = 1,
    .threads = 2,
};

static const struct miniature_stand_ins stand_ins = {
    .copies_whole = 10e9, .copies_rows = 5e9, .attends_whole = 1e9};

static double predict_on(const char *text, enum miniature_id id, const struct ledger_row *row,
                         uint32_t steps)
{
    struct profile profile = load_well(text);
    struct ledger_row rows[2] = {*row, *row};
    const struct ledger ledger = {.steps = steps, .layers = 1, .rows = rows};
    struct miniature of = shape;
    struct error why;
    double ns;
    of.steps = steps;
    assert_true(miniature_require(&profile, MINIATURE_HOST, &why));
    assert_true(miniature_predict(&of, id, &profile, &stand_ins, &ledger, &ns, &why));
    profile_release(&profile);
    return ns;
}

static double predict(enum miniature_id id, const struct ledger_row *row)
{
    return predict_on(machine, id, row, 1);
}

static const struct ledger_row cached = {
    .wanted = 2000,
    .hit = 1500,
    .missed = 500,
    .missed_worst = 250,
    .lookups = 2000,
    .updates = 1500,
    .inserts = 500,
    .offloaded_heads = 2,
    .fetching_heads = 2,
};

static const struct ledger_row uncached = {
    .wanted = 2000,
    .missed = 2000,
    .missed_worst = 1000,
    .offloaded_heads = 2,
    .fetching_heads = 2,
};

static void each_stage_takes_its_curve(void **state)
{
    (void)state;
    /* one woken, 2000 * 10 / 2, the caller; the first of two woken in turn, 2000 * 20 / 2, the caller */
    assert_int_equal(predict(MINIATURE_MANAGER, &cached), 12000 + 23000);
    /* one woken, 200 000 B at 2 */
    assert_int_equal(predict(MINIATURE_GATHER, &uncached), 1000 + 100000);
    /* both woken, 200 000 B at 4; a head alone would take 100 000 B at 1 */
    assert_int_equal(predict(MINIATURE_CPU_ATTENTION, &uncached), 2000 + 100000);
}

/* A head wants 1000: halfway between the points. The figures of a system's manager are not used. */
static void a_unit_takes_what_it_does_among_those_that_a_head_wants(void **state)
{
    (void)state;
    static const char by_units[] =
        "{host: {cores: 2, dram_bandwidth: 1000GB/s, lookup: 400ns, update: 600ns,"
        " lru_lookup: {points: [[500, 5ns], [1500, 15ns]], basis: measured, source: x},"
        " lru_update: {points: [[500, 30ns], [1500, 10ns]], basis: measured, source: x},"
        " pool_wake: {points: [[1, 1us], [2, 1us]], basis: measured, source: x},"
        " gather: 1GB/s, attention: 1GB/s}}";
    struct ledger_row twice = cached;
    assert_int_equal(predict_on(by_units, MINIATURE_MANAGER, &cached, 1), 12000 + 23000);
    twice.lookups = 3000; /* 1500 a head, of which 500 are touched */
    twice.updates = 1000;
    twice.inserts = 0;
    assert_int_equal(predict_on(by_units, MINIATURE_MANAGER, &twice, 1), 24500 + 8000);
}

static void what_follows_adds_up(void **state)
{
    (void)state;
    /* gather 101 000; copy 2000 + 200 000 / 5; attend 2000 + 200 000 */
    assert_int_equal(predict(MINIATURE_FETCH, &uncached), 101000 + 42000 + 202000);
    /* look up 12 000; gather 1000 + 50 000 / 2; copy 2000 + 50 000 / 5; attend; update 23 000 */
    assert_int_equal(predict(MINIATURE_LRU, &cached), 12000 + 26000 + 12000 + 202000 + 23000);
}

/* One thread of the pool is left: look up 2000 + 20 000, gather 1000 + 50 000. */
static void what_overlaps_hides(void **state)
{
    (void)state;
    /* the update's 2000 + 40 000 end before attention does */
    assert_int_equal(predict(MINIATURE_LRU_OVERLAPPED, &cached), 22000 + 51000 + 12000 + 202000);
    /* hits take 2000 + 150 000, longer than gather and copy; misses 2000 + 50 000 */
    assert_int_equal(predict(MINIATURE_LRU_SPLIT, &cached), 22000 + 152000 + 52000 + 42000);
    /* hits again, longer than the pool's 1000 + 50 000 */
    assert_int_equal(predict(MINIATURE_HYBRID, &cached), 152000);
}

/* A layer is 4000 * 2 * 100 = 800 000 B: copied in 82 000, attended to in 802 000. */
static void a_stream_waits_for_its_first_copy_only(void **state)
{
    (void)state;
    assert_int_equal(predict(MINIATURE_STREAM, &uncached), 82000 + 802000);
    assert_int_equal(predict_on(machine, MINIATURE_STREAM, &uncached, 2), 82000 / 2 + 802000);
}

/* 1.1 B/ns of memory: the copy reads and writes at up to 10, attention reads at 1. While both run,
 * each gets a fair share: attention 0.55, the copy 0.275 of its own bytes. */
static void copies_and_attention_share_memory(void **state)
{
    (void)state;
    char text[sizeof machine];
    strcpy(text, machine);
    memcpy(strstr(text, "1000GB/s"), "   2GB/s", 8);
    double alone = predict_on(machine, MINIATURE_STREAM, &uncached, 2);
    double shared = predict_on(text, MINIATURE_STREAM, &uncached, 2);
    assert_true(shared > alone);
    assert_true(shared < 2 * alone);
}

static void a_profile_without_a_curve_is_refused(void **state)
{
    (void)state;
    struct profile profile = load_well("{host: {cores: 2, dram_bandwidth: 100GB/s}}");
    struct error why;
    assert_false(miniature_require(&profile, MINIATURE_HOST, &why));
    assert_non_null(strstr(why.expected, " host.pool_wake: "));
    profile_release(&profile);
}

/* Every mechanism's counts are those of its policy; a context of three recordings has three times
 * as many. */
static void counts_grow_with_the_context(void **state)
{
    (void)state;
    char folder[32], path[64];
    struct error why;
    struct trace_header header = make_header();
    make_trace(&header, make_path(make_folder(folder), "t.swt", path), 1);
    struct trace *trace = trace_open(path, &why);
    assert_non_null(trace);
    struct miniature of = {.layers = 2,
                           .kv_heads = 2,
                           .query_heads = 4,
                           .head_dim = 32,
                           .context = 20,
                           .repeat = 1,
                           .selection = 0.2,
                           .capacity = 0.3,
                           .warmup = 3,
                           .steps = 4,
                           .threads = 2};
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        struct ledger once, thrice;
        of.repeat = 1, of.context = 20;
        assert_true(miniature_replay(&of, (enum miniature_id)id, trace, &once, &why));
        of.repeat = 3, of.context = 60;
        assert_true(miniature_replay(&of, (enum miniature_id)id, trace, &thrice, &why));
        for (uint32_t i = 0; i < of.steps * of.layers; i++) {
            assert_int_equal(thrice.rows[i].wanted, 3 * once.rows[i].wanted);
            assert_int_equal(thrice.rows[i].missed, 3 * once.rows[i].missed);
            assert_int_equal(once.rows[i].wanted, once.rows[i].hit + once.rows[i].missed);
        }
        ledger_release(&once);
        ledger_release(&thrice);
    }
    trace_close(trace);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_takes_its_curve),
        cmocka_unit_test(a_unit_takes_what_it_does_among_those_that_a_head_wants),
        cmocka_unit_test(what_follows_adds_up),
        cmocka_unit_test(what_overlaps_hides),
        cmocka_unit_test(a_stream_waits_for_its_first_copy_only),
        cmocka_unit_test(copies_and_attention_share_memory),
        cmocka_unit_test(a_profile_without_a_curve_is_refused),
        cmocka_unit_test(counts_grow_with_the_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
