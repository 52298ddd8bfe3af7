/* What a miniature on a GPU is said to take, worked by hand: a layer of two heads whose K and V of
 * a token are 100 bytes. */
#include "decode/miniature/miniature.h"

#include "decode/replay/replay.h"
#include "unit/fixture/load_profile.h"

#include <math.h>

/* HBM moves 100 B a ns, a link 5, two CPUs' stores 4, a CTA 1; a launch takes 500 ns, a
 * synchronisation 3000, a flag 900. */
static const char machine[] =
    "{gpu: {hbm_bandwidth: 100GB/s, hbm_share: 100%, cta_bandwidth: 1GB/s, sms: 100,"
    "       flops_bf16: 0.1TFLOP/s, flops_share: 50%, kernel_floor: 100ns, graph_node: 50ns, flag: 900ns},"
    " link: {h2d: 5GB/s, d2h: 5GB/s, duplex: 10GB/s, copy_latency: 1us, round_trip: 1us,"
    "        zero_copy: 4GB/s, cta_in_flight: 2kB,"
    "        cpu_store: {points: [[1, 2GB/s], [2, 4GB/s]], basis: measured, source: x}},"
    " host: {graph_launch: 700ns, copy_call: 400ns, sync: 3us, cores: 2, dram_bandwidth: 1000GB/s,"
    "        lookup: 10ns, update: 20ns, pageable: 4GB/s,"
    "        pool_wake: {points: [[1, 1us], [2, 1us]], basis: measured, source: x},"
    "        gather: {points: [[1, 1GB/s], [2, 2GB/s]], basis: measured, source: x},"
    "        attention: {points: [[1, 1GB/s], [2, 4GB/s]], basis: measured, source: x}}}";

static double predict_shape(enum miniature_id id, uint32_t steps, uint32_t layers, uint64_t context)
{
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
    static const struct miniature_stand_ins stand_ins = {.launch = 500};
    const struct miniature shape = {
        .site = MINIATURE_GPU,
        .layers = layers,
        .kv_heads = 2,
        .query_heads = 2,
        .head_dim = 25,
        .hidden = 40,
        .context = context,
        .capacity = 0.5,
        .repeat = 1,
        .steps = steps,
        .threads = 2,
    };
    struct profile profile = load_well(machine);
    struct ledger_row rows[2] = {cached, cached};
    const struct ledger ledger = {.steps = steps, .layers = layers, .rows = rows};
    struct error why;
    double ns;
    assert_true(miniature_require(&profile, MINIATURE_GPU, &why));
    assert_true(miniature_predict(&shape, id, &profile, &stand_ins, &ledger, &ns, &why));
    profile_release(&profile);
    return ns;
}

static double predict_layers(enum miniature_id id, uint32_t steps, uint32_t layers)
{
    return predict_shape(id, steps, layers, 4000);
}

static double predict(enum miniature_id id, uint32_t steps)
{
    return predict_layers(id, steps, 1);
}

/* An output and its log-sum-exp are 26 floats a head: 208 B for both heads. Of the whole context a
 * head has 400 000 B, which is six parts of 64 KiB: 800 000 and 6 x 208 B at 100. Of what a cache
 * gives it has 100 000 B, a single part. Merging the parts is one of the shortest kernels: 100 ns, or
 * 50 in a graph. Tasks end on whole nanoseconds, rounded up. */
enum {
    ATTENDED_WHOLE = (800000 + 6 * 208 + 99) / 100,
    ATTENDED = (200000 + 208 + 99) / 100,
    MERGED = 100,
    MERGED_IN_GRAPH = 50,
};

/* Behind a launch, and seen done. */
static void attention_reads_what_lies_in_hbm(void **state)
{
    (void)state;
    assert_int_equal(predict(MINIATURE_GPU_FULL, 1), 500 + ATTENDED_WHOLE + MERGED + 3000);
    assert_int_equal(predict(MINIATURE_GPU_FULL_GRAPH, 1),
                     700 + ATTENDED_WHOLE + MERGED_IN_GRAPH + 3000);
}

/* 80 MB would be 1220 parts, but 100 multiprocessors take two each: 100 a head, of 208 B. */
static void attention_splits_until_the_gpu_is_full(void **state)
{
    (void)state;
    int attended = (80000000 + 100 * 208) / 100, merged = (100 + 1) * 208 / 100;
    assert_int_equal(predict_shape(MINIATURE_GPU_FULL, 1, 1, 400000),
                     500 + attended + merged + 1 + 3000);
}

static void a_cache_by_the_cpu_waits_at_each_layer(void **state)
{
    (void)state;
    int asked = 3000 + 2000 + 2000 * 10 / 2;                /* synchronised, looked up */
    int started = asked + 1000 + 50000 / 2 + 400;           /* gathered, the copy called */
    int updated = started + 3 * 500 + 3000 + 2000 * 20 / 2; /* behind three launches */
    int there = started + 1000 + 50000 / 5;
    int attended = there + 50000 / 8 + ATTENDED + MERGED; /* eight CTAs put rows in their places */
    assert_true(updated > attended);
    assert_int_equal(predict(MINIATURE_GPU_LRU_COPY, 1), updated + 3000);
    /* 4000 B of row numbers instead of the rows, which a kernel loads */
    int loaded = asked + 400 + 1000 + 4000 / 5 + 1000 + 50000 / 4;
    updated = asked + 400 + 3 * 500 + 3000 + 2000 * 20 / 2;
    assert_true(updated > loaded + ATTENDED + MERGED);
    assert_int_equal(predict(MINIATURE_GPU_LRU_LOADS, 1), updated + 3000);
}

/* Four launches, of which the last three hide; 4000 units in sectors of 32 B; a head's four CTAs
 * load 8 B a ns, so that the link's 4 decide. A graph's kernels are there at once. */
static void a_cache_by_the_gpu_asks_no_cpu(void **state)
{
    (void)state;
    int fetched = 4000 * 32 / 100 + 1000 + 50000 / 4; /* looked up, then loaded */
    assert_int_equal(predict(MINIATURE_GPU_LRU_KERNELS, 1),
                     500 + fetched + ATTENDED + MERGED + 3000);
    assert_int_equal(predict(MINIATURE_GPU_LRU_GRAPH, 1),
                     700 + fetched + ATTENDED + MERGED_IN_GRAPH + 3000);
}

/* The driver copies pageable memory at 4 beside the link's 5: 40 000 longer than the link takes. */
static void whole_layers_come_at_the_rate_of_the_link(void **state)
{
    (void)state;
    int first = 400 + 1000 + 800000 / 5;
    assert_int_equal(predict(MINIATURE_GPU_STREAM, 1), first + ATTENDED_WHOLE + MERGED + 3000);
    assert_int_equal(predict(MINIATURE_GPU_STREAM_PAGEABLE, 1),
                     40000 + first + ATTENDED_WHOLE + MERGED + 3000);
    double both = 2 * predict(MINIATURE_GPU_STREAM, 2); /* two steps of a layer */
    assert_true(both >= 2 * 800000.0 / 5 + ATTENDED_WHOLE &&
                both <= 2.0 * first + ATTENDED_WHOLE + MERGED + 3000);
}

/* Of 2000 tokens 80 B of activations cross in the place of 200 B of K and V; from them 40 x 100
 * values are made at 50 FLOPs a ns: 2 x 2000 x 4000 of them, which takes longer than their bytes. */
static void what_comes_as_activations_is_made(void **state)
{
    (void)state;
    int copied = 400 + 1000 + 2000 * (200 + 80) / 5, made = 2 * 2000 * 40 * 100 / 50;
    assert_int_equal(predict(MINIATURE_GPU_ACTIVATIONS, 1),
                     copied + made + ATTENDED_WHOLE + MERGED + 3000);
}

/* The pool's 25 000 B of its longer head, at 1, hide the GPU's share. */
static void the_cpus_part_comes_back_to_be_merged(void **state)
{
    (void)state;
    int asked = 400 + 2 * 500 + 3000;
    int answered = asked + 2000 + 25000;
    int merged = answered + 400 + 1000 + (50 + 2) * 4 / 5 + 100;
    assert_true(fabs(predict(MINIATURE_GPU_HYBRID, 1) - (merged + 3000)) < 2);
}

/* Comparing is two kernels, the second of which stores 2000 B over the link. */
enum {
    ASKED = 2000 / 5,
    GATHERED = 1000 + 50000 / 2,
    COPIED = 2 * 1000 + 50000 / 5,
    STORED = 2000 + 50000 / 4,
};

static void what_the_gpu_asks_for_the_cpu_copies(void **state)
{
    (void)state;
    int called = 2 * 500 + 3000 + GATHERED + 2 * 400; /* a call a head */
    assert_int_equal(predict(MINIATURE_GPU_QSAC_COPY, 1),
                     called + COPIED + ATTENDED + MERGED + 3000);
}

static void what_the_gpu_asks_for_the_cpu_stores(void **state)
{
    (void)state;
    int heard = 700 + ASKED + 900;
    assert_int_equal(predict(MINIATURE_GPU_QSAC_STORE, 1),
                     heard + STORED + 900 + ATTENDED + MERGED_IN_GRAPH + 3000);
    /* The second layer's rows come while the first is attended to. */
    assert_int_equal(2 * predict_layers(MINIATURE_GPU_QSAC_STORE, 1, 2),
                     heard + 2 * STORED + 900 + ATTENDED + MERGED_IN_GRAPH + 3000);
}

static void stores_need_a_profile_that_knows_them(void **state)
{
    (void)state;
    struct profile profile = load_well("{link: {h2d: 5GB/s}}");
    struct error why;
    assert_true(miniature_knows(&profile, MINIATURE_GPU_QSAC_COPY, &why));
    assert_false(miniature_knows(&profile, MINIATURE_GPU_QSAC_STORE, &why));
    assert_non_null(strstr(why.expected, " link.cpu_store: "));
    profile_release(&profile);
}

static void a_profile_without_a_gpu_is_refused(void **state)
{
    (void)state;
    struct profile profile = load_well("{host: {cores: 2, dram_bandwidth: 100GB/s}}");
    struct error why;
    assert_false(miniature_require(&profile, MINIATURE_GPU, &why));
    assert_non_null(strstr(why.expected, " gpu.hbm_bandwidth: "));
    assert_non_null(strstr(why.found, "which a miniature on a GPU needs"));
    profile_release(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_reads_what_lies_in_hbm),
        cmocka_unit_test(attention_splits_until_the_gpu_is_full),
        cmocka_unit_test(a_cache_by_the_cpu_waits_at_each_layer),
        cmocka_unit_test(a_cache_by_the_gpu_asks_no_cpu),
        cmocka_unit_test(whole_layers_come_at_the_rate_of_the_link),
        cmocka_unit_test(what_comes_as_activations_is_made),
        cmocka_unit_test(the_cpus_part_comes_back_to_be_merged),
        cmocka_unit_test(what_the_gpu_asks_for_the_cpu_copies),
        cmocka_unit_test(what_the_gpu_asks_for_the_cpu_stores),
        cmocka_unit_test(stores_need_a_profile_that_knows_them),
        cmocka_unit_test(a_profile_without_a_gpu_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
