/* Attention on both sides of the link, worked out by hand on the model and the machine of tiny.h.
 * Each comment is the whole schedule of a step: nanoseconds since the last kernel of the step
 * before ended. Kernels are launched in 1000 ns each, pre with 3, post with 4, the edge with 3.
 *
 * A pair asks with 5 query heads of 50 numbers, 500 B, and is answered with 5 * (100 + 4) = 520 B.
 * The CPU attends at 2 B/ns a thread, with 4 threads; waking them takes 10000. */
#include "unit/fixture/expected_times.h"

#include "decode/time/prefill.h"

/* A window of 200 of 1000 tokens; what of the other 800 does not "hit" is kept. */
#define WINDOW                                                                                     \
    "mechanisms={attention: hybrid, policy: window-maw, budget: 200tok, granularity: 10tok,"       \
    " sinks: 0tok, recent: 0tok, sync: cpu, syncs: 1, operators: 8}"
#define POLLED                                                                                     \
    "mechanisms={attention: hybrid, policy: window-maw, budget: 9000tok, granularity: 10tok,"      \
    " sinks: 0tok, recent: 0tok, sync: gpu, operators: 8}"

/* Each of 4 heads keeps 200 tokens, 40000 B, in a task of its own: 20000 at 2 B/ns.
 *
 *   ask      2000 + 2000 B at 10 B/ns: 2200
 *   attend   40 + 8 * 200 = 1640
 *   average  4 * 200 entries of 5 * 2 + 8 B: no shorter than 1000
 *   combine  1000 + 2080 B at 8 B/ns: 1260
 *
 *  launch  token 20000, pre 21000 (23000), copy call 24000, attend 25000, average 26000, sync
 *          51412-71412, waits for the pool 101412, combine 102412, post 103412 (106412),
 *          edge 107412
 *  main    pre 21000-49212, attend -50852, average -51852, combine 102412-103672, post -244092,
 *          edge -264272
 *  d2h     ask 49212-51412
 *  pool    71412-101412
 *
 * The step goes back over edge, post, combine, its launch, the pool, sync, ask, pre. */
static void slower_cpu_decides_the_layer(void **state)
{
    const struct expected_times expected = {
        .step = 264272,
        .parts = {[PART_COMPUTE] = 28212 + 140420 + 20180,
                  [PART_LAUNCH] = 2000,
                  [PART_SYNC] = 22200,
                  [PART_CPU_ATTENTION] = 30000,
                  [PART_MERGE] = 1260,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 2000,
                   [PART_SYNC] = 71412 - 51852,
                   [PART_CPU_ATTENTION] = 30000,
                   [PART_OVERHEAD] = 20000},
        .layers = {244092 - 21000},
        .in = 2080,
        .out = 2000,
    };
    (void)state;
    check(1, WINDOW, OVERRIDES("trace=assumed:hit=75%"), &expected);
}

/* The same where no kernel is shorter than 5000: attend -54212, average -59212, combine
 * 102412-107412, post -247832, edge -268012. */
static void combining_is_no_shorter_than_a_kernel(void **state)
{
    const struct expected_times expected = {
        .step = 268012,
        .parts = {[PART_COMPUTE] = 28212 + 140420 + 20180,
                  [PART_LAUNCH] = 2000,
                  [PART_SYNC] = 22200,
                  [PART_CPU_ATTENTION] = 30000,
                  [PART_MERGE] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 2000,
                   [PART_SYNC] = 71412 - 59212,
                   [PART_CPU_ATTENTION] = 30000,
                   [PART_OVERHEAD] = 20000},
        .layers = {247832 - 21000},
        .in = 2080,
        .out = 2000,
    };
    (void)state;
    check(1, WINDOW, OVERRIDES("trace=assumed:hit=75%", "hardware.gpu.kernel_floor=5us"),
          &expected);
}

/* A window of 9000 of 10000 tokens: 72040. Each head keeps 100 of the others, 20000 B: 10000.
 *
 *  launch  token 20000, pre 21000 (23000), attend 24000, average 25000, combine 26000, ...
 *  main    pre 21000-49212, attend, of which 52212-52412 at 90 B/ns, -121272, average of 36000
 *          entries of 18 B -127752, combine -129012, post -269432, edge -289612
 *  ask     flag and 2000 B, 49212-52412
 *  pool    52412-72412, and a flag until 75412 */
static void faster_cpu_is_hidden(void **state)
{
    const struct expected_times expected = {
        .step = 289612,
        .parts = {[PART_COMPUTE] = 28212 + 72060 + 140420 + 20180,
                  [PART_LAUNCH] = 1000,
                  [PART_UPDATE] = 6480,
                  [PART_MERGE] = 1260,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {269432 - 21000},
        .in = 2080,
        .out = 2000,
    };
    (void)state;
    check(1, POLLED, OVERRIDES("context=10000", "trace=assumed:hit=90%"), &expected);
}

/* The same with 0.2 B/ns a thread: pool 52412-162412, flag -165412, combine -166672, post -307092,
 * edge -327272. Nothing takes the launch thread. */
static void slower_cpu_is_polled_for(void **state)
{
    const struct expected_times expected = {
        .step = 327272,
        .parts = {[PART_COMPUTE] = 28212 + 140420 + 20180,
                  [PART_LAUNCH] = 1000,
                  [PART_SYNC] = 3200 + 3000,
                  [PART_CPU_ATTENTION] = 110000,
                  [PART_MERGE] = 1260,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000,
                   [PART_SYNC] = 3000,
                   [PART_CPU_ATTENTION] = 162412 - 127752,
                   [PART_OVERHEAD] = 20000},
        .layers = {307092 - 21000},
        .in = 2080,
        .out = 2000,
    };
    (void)state;
    check(1, POLLED,
          OVERRIDES("context=10000", "trace=assumed:hit=90%",
                    "hardware.host.attention={points: [[1, 200MB/s], [4, 800MB/s]],"
                    " basis: assumed, range: [50%, 200%], source: made up}"),
          &expected);
}

/* Nothing is kept: nobody asks, but attention is averaged. */
static void nothing_kept_is_nothing_asked(void **state)
{
    const struct expected_times expected = {
        .step = 21000 + 28212 + 1640 + 1000 + 140420 + 20180,
        .parts = {[PART_COMPUTE] = 28212 + 1640 + 140420 + 20180,
                  [PART_LAUNCH] = 1000,
                  [PART_UPDATE] = 1000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {28212 + 1640 + 1000 + 140420},
        .in = 0,
        .out = 0,
    };
    (void)state;
    check(1, WINDOW, OVERRIDES("trace=assumed:hit=100%"), &expected);
}

/* Step s writes the block that has left, 10 tokens of 204 B of 4 heads, when s is a multiple of 10;
 * Q in each. */
static void blocks_leave_the_window_whole(void **state)
{
    (void)state;
    struct setup setup = make_tiny(2, WINDOW, OVERRIDES("steps=20", "trace=assumed:hit=75%"));
    struct course course;
    make_course(&setup, &course);
    for (uint32_t s = 1; s <= 20; s++) {
        int64_t block = s % 10 == 0 ? 10 * 204 * 4 : 0;
        assert_int_equal(course.timing.step[s - 1].moved[WAY_OUT], 2 * (2000 + block));
    }
    course_release(&course);
    setup_release(&setup);
}

static int64_t pool_ns_of(const char *mechanisms, const char *const *overrides)
{
    struct setup setup = make_tiny(1, mechanisms, overrides);
    struct course course;
    int64_t ns = 0;
    make_course(&setup, &course);
    for (engine_task_id task = 0; task < engine_task_count(course.pipe.engine); task++) {
        const struct engine_record *record = engine_task_record(course.pipe.engine, task);
        if (record->resource == course.pipe.resource[PIPE_POOL]) {
            ns = record->end_ns - record->start_ns;
        }
    }
    course_release(&course);
    setup_release(&setup);
    return ns;
}

static int64_t pool_ns(const char *const *overrides)
{
    return pool_ns_of(WINDOW, overrides);
}

/* 4 threads, woken in 2500 each, at 2 B/ns: 8 pairs are two a thread, 80000 B each. Where heads differ, all
 * of a task wait for the longest; with all heads in one task, too. */
static void pool_takes_as_long_as_its_longest_task(void **state)
{
    (void)state;
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", "batch=2")), 10000 + 40000);
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", "mechanisms.pool_threads=1")),
                     2500 + 80000);
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", "hardware.host.cores=64")),
                     10000 + 20000);
    assert_true(pool_ns(OVERRIDES("trace=assumed:hit=75%,spread=10%")) > 10000 + 20000);
}

/* A NUMA node of 3 logical CPUs, one left to others: 2 heads for each thread. There is always one.
 */
static void pool_leaves_some_of_its_node_to_others(void **state)
{
    (void)state;
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", "hardware.host.node_threads=3",
                                       "mechanisms.pool_of=node", "mechanisms.pool_spare=1")),
                     5000 + 40000);
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", "hardware.host.node_threads=3",
                                       "mechanisms.pool_of=node", "mechanisms.pool_spare=7")),
                     2500 + 80000);
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", "mechanisms.pool_spare=3")),
                     2500 + 80000);
}

#define FLAT                                                                                       \
    "hardware.host.attention={value: 8GB/s, basis: assumed, range: [50%, 200%], source: made up}"

/* DRAM of 4 B/ns carries half of what the threads could read. Where one thread reads as much as
 * all, the bytes count, and padding is read like the rest. */
static void memory_bounds_the_pool(void **state)
{
    (void)state;
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", FLAT, "hardware.host.cores=2")),
                     5000 + 20000);
    assert_true(pool_ns(OVERRIDES("trace=assumed:hit=75%,spread=10%", FLAT,
                                  "hardware.host.cores=2")) > 5000 + 20000);
    assert_int_equal(
        pool_ns(OVERRIDES("trace=assumed:hit=75%", "hardware.host.dram_bandwidth=4GB/s")),
        10000 + 40000);
}

/* Two GPUs below one uplink: 2 threads of 4, half of what they read together, for 2 heads each. */
static void gpus_share_the_pool(void **state)
{
    (void)state;
    assert_int_equal(pool_ns(OVERRIDES("trace=assumed:hit=75%", "tensor_parallel=2",
                                       "hardware.link.gpus_per_uplink=2")),
                     5000 + 20000);
    struct setup setup = make_tiny(
        1, WINDOW,
        OVERRIDES("trace=assumed:hit=75%", "tensor_parallel=2", "hardware.link.gpus_per_uplink=2"));
    struct plan plan = make_plan(&setup);
    assert_int_equal(plan.cpu_threads, 2);
    plan_release(&plan);
    setup_release(&setup);
}

/* HBM holds the window of 200 tokens with its averages, the host the other 800 with theirs. */
static void each_side_holds_its_part(void **state)
{
    (void)state;
    struct setup setup = make_tiny(3, WINDOW, OVERRIDES("batch=2", "trace=assumed:hit=75%"));
    struct plan plan = make_plan(&setup);
    const uint64_t heads = 3 * 4 * 2;
    assert_int_equal(plan.cpu_threads, 4);
    assert_int_equal(plan.cohorts[0].sizes.cache_tokens, 200);
    assert_int_equal(plan.memory.in[TIER_GPU].cache, heads * 200 * 200);
    assert_int_equal(plan.memory.in[TIER_GPU].metadata, heads * 200 * 4);
    assert_int_equal(plan.memory.in[TIER_GPU].kv, 0);
    assert_int_equal(plan.memory.in[TIER_GPU].buffers, 0);
    assert_int_equal(plan.memory.in[TIER_HOST].all, heads * 800 * 204);
    plan_release(&plan);
    setup_release(&setup);
}

/* A resident layer is attended to whole, by the GPU alone. */
static void resident_layer_asks_nobody(void **state)
{
    (void)state;
    struct setup setup = make_tiny(
        2, WINDOW, OVERRIDES("trace=assumed:hit=75%", "mechanisms.resident_heads=first-layer"));
    struct course course;
    make_course(&setup, &course);
    assert_int_equal(course.timing.step[0].moved[WAY_IN], 2080);
    assert_int_equal(course.timing.layer_ns[0], 3 * (28212 + 8040 + 140420));
    course_release(&course);
    setup_release(&setup);
}

/* ---- a selection ----------------------------------------------------------------------------- */

#define SELECTED                                                                                     \
    "mechanisms={attention: cpu, selection: 10%, sinks: 0tok, recent: 100tok, retrieval_kernels: 1," \
    " sync: cpu, syncs: 1, operators: 8, "
#define TABLES                                                                                     \
    SELECTED "retrieval: lsh, retrieval_on: cpu, retrieval_bytes: 40B, retrieval_read: 5%,"        \
             " retrieval_per_query_head: yes, retrieval_id_bytes: 10B}"
#define PAGES SELECTED "retrieval: quest, retrieval_keys: 2x, retrieval_tokens: 10tok}"

static int64_t resident_step(const char *selection)
{
    struct setup setup = make_tiny(
        1, PAGES,
        OVERRIDES("trace=assumed:hit=0%", "mechanisms.resident_heads=first-layer", selection));
    return first_step_ns(&setup);
}

/* A layer in HBM is the GPU's, which attends to what is selected of it. */
static void the_gpu_attends_to_resident_layers(void **state)
{
    (void)state;
    assert_true(resident_step("mechanisms.selection=10%") <
                resident_step("mechanisms.selection=90%"));
}

/* A step of MagicPIG: each of 20 query heads attends to 100 tokens of its own, 5 query heads a thread.
 *
 *   retrieve  codes, no shorter than 1000
 *   ask       2000 + 2000 B and 20 codes of 10 B at 10 B/ns: 2220
 *   attend    the window, 40 + 8 * 100: no shorter than 1000
 *   search    5 % of 4 * 1000 entries of 40 B for 5 query heads: 40000 B at 8 B/ns, behind 10000
 *   pool      20 * 100 * 200 B at 8 B/ns: 50000, behind 10000
 *   combine   1000 + 2080 B at 8 B/ns: 1260
 *
 *  launch  token 20000, pre 21000 (23000), retrieve 24000, copy call 25000, attend 26000, sync
 *          52432-72432, waits for the pool 147432, combine 148432, post 149432 (152432), edge 153432
 *  main    pre 21000-49212, retrieve -50212, attend -51212, combine 148432-149692, post -290112,
 *          edge, of which 80 at 90 B/ns, -310300
 *  d2h     ask 50212-52432, new KV 290112-292192
 *  pool    search 72432-87432, attention -147432 */
static void tables_are_searched_where_they_lie(void **state)
{
    const struct expected_times expected = {
        .step = 310300,
        .parts = {[PART_COMPUTE] = 28212 + 140420 + 20188,
                  [PART_LAUNCH] = 2000,
                  [PART_RETRIEVAL] = 1000 + 15000,
                  [PART_SYNC] = 22220,
                  [PART_CPU_ATTENTION] = 60000,
                  [PART_MERGE] = 1260,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 2000,
                   [PART_RETRIEVAL] = 15000,
                   [PART_SYNC] = 72432 - 51212,
                   [PART_CPU_ATTENTION] = 60000,
                   [PART_OVERHEAD] = 20000},
        .layers = {290112 - 21000},
        .in = 2080,
        .out = 2200 + 800,
    };
    (void)state;
    check(1, TABLES, OVERRIDES("trace=assumed:hit=0%"), &expected);
}

/* Pages that the GPU finds: 40 indices of 8 B, and one selection of all 5 query heads, 400 tokens. */
static void the_gpu_tells_what_is_selected(void **state)
{
    (void)state;
    struct setup setup = make_tiny(1, PAGES, OVERRIDES("trace=assumed:hit=0%"));
    struct course course;
    make_course(&setup, &course);
    assert_int_equal(course.timing.step[0].moved[WAY_OUT], 2000 + 40 * 8 + 800);
    assert_int_equal(course.timing.step[0].moved[WAY_IN], 2080);
    course_release(&course);
    setup_release(&setup);
    assert_int_equal(pool_ns_of(PAGES, OVERRIDES("trace=assumed:hit=0%")), 10000 + 10000);
}

/* 100 pages of 2 * 100 B for each head, or 1000 entries of 40 B; and of KV what lies on the host. */
static void an_index_lies_where_it_is_searched(void **state)
{
    static const struct {
        const char *mechanisms;
        uint64_t hbm, host;
        double leaving;
    } cases[] = {{PAGES, 4 * 100 * 200, 0, 4 * 1000 * 200},
                 {TABLES, 0, 4 * 1000 * 40, 4 * 1000 * (200 + 40)}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct setup setup = make_tiny(1, cases[i].mechanisms, OVERRIDES("trace=assumed:hit=0%"));
        struct plan plan = make_plan(&setup);
        assert_int_equal(plan.memory.in[TIER_GPU].metadata, cases[i].hbm);
        assert_int_equal(plan.memory.in[TIER_HOST].buffers, cases[i].host);
        assert_int_equal(plan.memory.in[TIER_HOST].kv, 4 * 1000 * 200);
        assert_near(prefill_leaving_bytes(&setup, &plan, 0, 0, 1000), cases[i].leaving, 0);
        plan_release(&plan);
        setup_release(&setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slower_cpu_decides_the_layer),
        cmocka_unit_test(combining_is_no_shorter_than_a_kernel),
        cmocka_unit_test(faster_cpu_is_hidden),
        cmocka_unit_test(slower_cpu_is_polled_for),
        cmocka_unit_test(nothing_kept_is_nothing_asked),
        cmocka_unit_test(blocks_leave_the_window_whole),
        cmocka_unit_test(pool_takes_as_long_as_its_longest_task),
        cmocka_unit_test(pool_leaves_some_of_its_node_to_others),
        cmocka_unit_test(memory_bounds_the_pool),
        cmocka_unit_test(gpus_share_the_pool),
        cmocka_unit_test(each_side_holds_its_part),
        cmocka_unit_test(resident_layer_asks_nobody),
        cmocka_unit_test(the_gpu_attends_to_resident_layers),
        cmocka_unit_test(tables_are_searched_where_they_lie),
        cmocka_unit_test(the_gpu_tells_what_is_selected),
        cmocka_unit_test(an_index_lies_where_it_is_searched),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
