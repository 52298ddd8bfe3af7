/* KV that stays in HBM while there is room: shares, memory and schedules by hand, for the model and
 * the machine of tiny.h. */
#include "unit/fixture/expected_times.h"

#include "core/named.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/* Two sequences of 1000 tokens in 2 layers of 4 KV heads, 1600 B a token: windows of 68 tokens take
 * 2 * 68 * 1600 = 217600, and 2 * 932 * 1600 = 2982400 may leave. Caches of twice 100 tokens take
 * 2 * 200 * 1600 = 640000, codes of 32 B for each token of a head 2 * 1000 * 8 * 32 = 512000. So a
 * batch of which nothing stays needs 1369600, 856 tokens of 1600 B, and one that stays, with its
 * caches, 4352000, 2720 tokens. */
static const struct {
    const char *pool;
    bool fits;
    double share;
    uint64_t resident, cache;
} pools[] = {
    {"kv_pool_tokens=855", false, 0, 0, 640000},
    {"kv_pool_tokens=856", true, 0, 0, 640000},
    {"kv_pool_tokens=857", true, 1600. / 2982400, 1600, 640000},
    {"kv_pool_tokens=1788", true, .5, 1491200, 640000}, /* 932 tokens more */
    {"kv_pool_tokens=2719", true, 2980800. / 2982400, 2980800, 640000},
    {"kv_pool_tokens=2720", true, 1, 2982400, 0},
    {"kv_pool_tokens=50000", true, 1, 2982400, 0},
};

#define RESIDENT_MEMORY                                                                            \
    "mechanisms={policy: lru, budget: 2x, residency: pressure, selection: 10%, retrieval: hata,"   \
    " retrieval_bytes: 32B, transfer: sm-zero-copy}"

static void kv_stays_as_long_as_there_is_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pools); i++) {
        struct setup setup = make_tiny(2, RESIDENT_MEMORY, OVERRIDES("batch=2", pools[i].pool));
        struct plan plan = make_plan(&setup);
        const struct memory *memory = &plan.memory;
        assert_int_equal(plan.fits, pools[i].fits);
        assert_near(plan.resident_share, pools[i].share, 1e-12);
        assert_int_equal(memory->in[TIER_GPU].kv, pools[i].resident);
        assert_int_equal(memory->in[TIER_GPU].cache, pools[i].cache);
        assert_int_equal(plan.budget_bytes, 640000);
        assert_int_equal(memory->in[TIER_GPU].window, 217600);
        assert_int_equal(memory->in[TIER_HOST].kv, 2 * 1000 * 1600); /* whatever stays */
        assert_int_equal(memory->in[TIER_GPU].all, memory->in[TIER_GPU].weights +
                                                       memory->in[TIER_GPU].workspace + 217600 +
                                                       512000 + pools[i].resident + pools[i].cache);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* The largest batch is the one that fits if none stays: a fixed system's. */
static void pressure_ends_where_caches_do_not_fit(void **state)
{
    (void)state;
    uint32_t largest[2];
    for (size_t i = 0; i < COUNT(largest); i++) {
        const char *residency = i == 0 ? "mechanisms.residency=fixed" : "batch=max";
        struct setup setup =
            make_tiny(2, RESIDENT_MEMORY, OVERRIDES("batch=max", "kv_pool_tokens=9000", residency));
        struct plan plan = make_plan(&setup);
        largest[i] = plan.max_batch;
        assert_true(plan.fits && plan.batch == plan.max_batch);
        assert_true(i == 0 ? plan.resident_share == 0 : plan.resident_share > 0);
        plan_release(&plan);
        setup_release(&setup);
    }
    assert_int_equal(largest[0], largest[1]);
}

/* Sequences of 1000 and 2000 tokens in one layer, 800 B a token: codes of 20 B take 3000 * 80, and
 * caches of twice 100 and 200 tokens 600 * 800: 720000. Half of 2400000 makes 1920000, 2400 tokens.
 * A server's steps see the same HBM. */
static void every_context_keeps_the_same_share(void **state)
{
    (void)state;
    char model[128], bare[128];
    struct setup setup =
        SETUP(tiny_model(1, model), tiny_machine, bare_system(bare),
              "context=", "contexts={1000: 1, 2000: 1}", "batch=2", "kv_pool_tokens=2400",
              "mechanisms={policy: lru, budget: 2x, residency: pressure, sinks: 0tok,"
              " recent: 0tok, selection: 10%, retrieval: hata, retrieval_bytes: 20B,"
              " transfer: sm-zero-copy}");
    for (int unlimited = 0; unlimited < 2; unlimited++) {
        setup.unlimited_memory = unlimited == 1;
        struct plan plan = make_plan(&setup);
        assert_near(plan.resident_share, .5, 1e-12);
        assert_int_equal(plan.memory.in[TIER_GPU].kv, 1200000);
        plan_release(&plan);
    }
    setup_release(&setup);
}

/* 16 sequences of 65536 tokens, 61 layers of 576 values in bf16: 73685532672 B for each of 8 GPUs,
 * all of which hold the same latents. */
static void gpus_with_the_same_kv_share_a_copy(void **state)
{
    static const struct {
        const char *shared;
        uint64_t copies;
    } cases[] = {{"mechanisms.host_shared=no", 8}, {"mechanisms.host_shared=yes", 1}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = SETUP("model=deepseek-v3.2", "hardware=h200", "tensor_parallel=8",
                                   "context=65536", "batch=16", "system=hisparse", cases[i].shared);
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.memory.in[TIER_HOST].kv, cases[i].copies * 73685532672);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* ---- the ledger ------------------------------------------------------------------------------ */

/* Two parts of one row; 40 % of each part's misses are found in HBM, rounded in each part. */
static void parts_are_rounded_and_added_up(void **state)
{
    (void)state;
    struct error why;
    struct ledger one, two, sum;
    ledger_init(&one);
    ledger_init(&two);
    ledger_init(&sum);
    make_check(ledger_reserve(&one, 1, 1, 0, &why) && ledger_reserve(&two, 1, 1, 0, &why) &&
                   ledger_reserve(&sum, 1, 1, 2, &why),
               &why);
    one.rows[0] = (struct ledger_row){.wanted = 100,
                                      .hit = 93,
                                      .missed = 7,
                                      .missed_worst = 4,
                                      .lookups = 100,
                                      .updates = 93,
                                      .inserts = 7,
                                      .fetching_heads = 2,
                                      .offloaded_heads = 4,
                                      .mass = 3};
    two.rows[0] = (struct ledger_row){.wanted = 50,
                                      .hit = 49,
                                      .missed = 1,
                                      .missed_worst = 1,
                                      .lookups = 50,
                                      .updates = 49,
                                      .inserts = 1,
                                      .fetching_heads = 1,
                                      .offloaded_heads = 2,
                                      .mass = 2};
    ledger_set(&sum, 0, &one);
    ledger_set(&sum, 1, &two);
    ledger_keep(&sum, .4);
    const struct ledger_row *first = ledger_part(&sum, 0), *second = ledger_part(&sum, 1);
    assert_int_equal(first->missed, 4); /* 4.2 */
    assert_int_equal(first->hit, 96);
    assert_int_equal(first->missed_worst, 2); /* 2.4 */
    assert_int_equal(first->lookups, 60);
    assert_int_equal(first->updates, 56); /* 55.8 */
    assert_int_equal(first->inserts, 4);
    assert_int_equal(second->missed, 1); /* 0.6 */
    assert_int_equal(second->lookups, 30);
    assert_int_equal(sum.rows[0].wanted, 150);
    assert_int_equal(sum.rows[0].missed, 5);
    assert_int_equal(sum.rows[0].hit, 145);
    assert_int_equal(sum.rows[0].missed_worst, 2);
    assert_int_equal(sum.rows[0].lookups, 90);
    assert_int_equal(sum.rows[0].offloaded_heads, 6);
    assert_near(sum.rows[0].mass, 5, 0);
    ledger_keep(&sum, 1);
    assert_int_equal(sum.rows[0].missed, 0);
    assert_int_equal(sum.rows[0].hit, 150);
    assert_int_equal(sum.rows[0].fetching_heads, 0);
    ledger_release(&one);
    ledger_release(&two);
    ledger_release(&sum);
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* One sequence of 1000 tokens in one layer, 800 B a token: codes 80000, caches 160000, KV 800000.
 * 400 tokens are wanted and half of them are in the cache.
 *
 *  main  pre 25000-53212, retrieve 800 + 10000 -64012, lookup -65012, transfer 1000 and the misses
 *        at 8 B/ns, attend 1000, post 140420, edge 20188
 *
 * Nothing stays: 200 tokens miss, 40000 B, 6000. Half stays: 100, 20000 B, 3500. All stays: neither
 * lookup nor transfer. */
static const struct {
    const char *pool;
    int64_t lookup, transfer, in;
} steps[] = {
    {"kv_pool_tokens=300", 1000, 6000, 40000},
    {"kv_pool_tokens=800", 1000, 3500, 20000},
    {"kv_pool_tokens=1300", 0, 0, 0},
};

static void what_stays_need_not_cross_the_link(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(steps); i++) {
        int64_t fetch = steps[i].lookup + steps[i].transfer;
        const struct expected_times expected = {
            .step = 64012 + fetch + 1000 + 140420 + 20188,
            .parts = {[PART_COMPUTE] = 28212 + 1000 + 140420 + 20188,
                      [PART_RETRIEVAL] = 10800,
                      [PART_LOOKUP] = steps[i].lookup,
                      [PART_LINK] = steps[i].transfer,
                      [PART_LAUNCH] = 5000,
                      [PART_OVERHEAD] = 20000},
            .stalls =
                {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000, [PART_LINK] = steps[i].transfer},
            .layers = {64012 - 25000 + fetch + 1000 + 140420},
            .in = steps[i].in,
            .out = 800, /* the new token's KV is written to the host, wherever the rest lies */
        };
        check(1,
              "mechanisms={policy: lru, budget: 2x, residency: pressure, sinks: 0tok, recent: 0tok,"
              " selection: 10%, retrieval: hata, retrieval_bytes: 20B, retrieval_kernels: 3,"
              " transfer: sm-zero-copy, transfer_stream: main, sync: gpu, launch: graph,"
              " operators: 8}",
              OVERRIDES("trace=assumed:hit=50%", steps[i].pool), &expected);
    }
}

/* Half of 1000 tokens lies in HBM, and the GPU attends to it in 40 + 8 * 500. Meanwhile 4 threads attend to
 * the other half of 4 heads, 400000 B at 2 B/ns for each, woken in 10000. The new KV leaves beside the FFN,
 * which takes 8 of HBM.
 *
 *  launch  token 20000, pre 21000 (23000), copy call 24000, attend 25000 (27000), sync 51412-71412, copy call
 *          131412-132412, post 133412 (136412)
 *  d2h     queries 49212-51412
 *  pool    71412-131412
 *  h2d     answers 132412-134620
 *  main    pre 21000-49212, attend -53252, post 134620-275048, edge -295228 */
static void cpu_attends_to_what_hbm_has_no_room_for(void **state)
{
    struct setup setup = make_tiny(
        1,
        "mechanisms={residency: pressure, sinks: 0tok, recent: 0tok, prefetch: whole-layer,"
        " attention: cpu, operators: 8}",
        OVERRIDES("trace=assumed:hit=0%", "kv_pool_tokens=500"));
    struct course course;
    (void)state;
    make_course(&setup, &course);
    assert_int_equal(course.timing.step[0].ns, 295228);
    assert_int_equal(course.timing.step[0].moved[WAY_IN], 2080);
    assert_int_equal(course.timing.part_ns[PART_CPU_ATTENTION], 3 * 60000);
    course_release(&course);
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kv_stays_as_long_as_there_is_room),
        cmocka_unit_test(pressure_ends_where_caches_do_not_fit),
        cmocka_unit_test(every_context_keeps_the_same_share),
        cmocka_unit_test(gpus_with_the_same_kv_share_a_copy),
        cmocka_unit_test(parts_are_rounded_and_added_up),
        cmocka_unit_test(what_stays_need_not_cross_the_link),
        cmocka_unit_test(cpu_attends_to_what_hbm_has_no_room_for),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
