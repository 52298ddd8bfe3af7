/* Keys that stay in HBM while values lie on the host: memory and steps worked out by hand, for the model and
 * the machine of tiny.h. A token of a KV head is 100 B of key and 100 B of value. */
#include "unit/fixture/expected_times.h"

#include "decode/cost/cost.h"

/* Chunks of 10 tokens, found by their mean key; a cache of what was selected: 100 of 1000 tokens. */
#define CHUNKS                                                                                     \
    "sinks: 0tok, recent: 0tok, selection: 10%, policy: lru, budget: 1x, retrieval: landmarks,"    \
    " retrieval_keys: 1x, retrieval_tokens: 10tok, retrieval_kernels: 1, transfer: sm-zero-copy,"  \
    " transfer_ctas: 1, operators: 8, "

/* Bytes of a layer of 4 KV heads. A product of rank 40 has 1000 rows of 40 numbers, and for each head
 * 40 * 50 more. */
static const struct {
    const char *mechanisms;
    uint64_t kv, cache, host;
} sizes[] = {
    {CHUNKS "keys: host", 0, 100 * 4 * 200, 1000 * 4 * 200},
    {CHUNKS "keys: hbm", 1000 * 4 * 100, 100 * 4 * 100, 1000 * 4 * 100},
    {CHUNKS "keys: hbm, keys_bits: 4", 1000 * 4 * 25, 100 * 4 * 200, 1000 * 4 * 100},
    {CHUNKS "keys: hbm, keys_rank: 40", 1000 * 80 + 4 * 4000, 100 * 4 * 200, 1000 * 4 * 100},
    {CHUNKS "keys: hbm, keys_rank: 40, keys_bits: 4", 1000 * 20 + 4 * 1000, 100 * 4 * 200,
     1000 * 4 * 100},
};

static void values_alone_lie_on_the_host(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char mechanisms[512];
        snprintf(mechanisms, sizeof mechanisms, "mechanisms={%s}", sizes[i].mechanisms);
        struct setup setup = make_tiny(1, mechanisms, OVERRIDES("trace=assumed:hit=60%"));
        struct plan plan = make_plan(&setup);
        print_message("%s\n", sizes[i].mechanisms);
        assert_int_equal(plan.memory.in[TIER_GPU].kv, sizes[i].kv);
        assert_int_equal(plan.memory.in[TIER_GPU].cache, sizes[i].cache);
        assert_int_equal(plan.memory.in[TIER_HOST].kv, sizes[i].host);
        plan_release(&plan);
        setup_release(&setup);
    }
}

/* A latent is K and V. */
static void latents_are_not_divided(void **state)
{
    (void)state;
    struct setup setup = SETUP("model=deepseek-v3.2", "hardware=h200", "system=shadowkv",
                               "tensor_parallel=8", "context=8192");
    assert_near(keys_host_share(&setup), 1, 0);
    assert_near(keys_hbm_bytes(&setup), 0, 0);
    setup_release(&setup);
}

/* A step of ShadowKV: 40 of 100 tokens of each head miss. A CTA has 1024 B in flight for 1000 ns.
 *
 *   retrieve  400 mean keys of 100 B, 400, and top-k, 10000
 *   lookup    800 accesses of 32 B: no shorter than 1000
 *   fetch     values, 40 * 100 B of each head by a CTA: 1000 + 3906
 *   keys      rows 160 * 80 B, factors 4 * 4000 B, keys 160 * 100 B, and read and written again: 768,
 *             in two kernels of at least 1000, of which the fetch takes a thread in some thousands
 *   attend    40 + 8 * 100 = 840: no shorter than 1000
 *
 *  launch  token 20000, pre 21000 (23000), retrieve 24000, lookup 25000, fetch 26000, keys 28000, ...
 *  main    pre 21000-49212, retrieve -59612, lookup -60612, keys -62613, attend 65519-66519,
 *          post -206939, edge, of which 40 at 90 B/ns, -227123
 *  side    fetch 60612-65519
 *  d2h     new values, 206939-208979 */
static void keys_are_made_while_values_cross(void **state)
{
    const struct expected_times expected = {
        .step = 227123,
        .parts = {[PART_COMPUTE] = 28212 + 1000 + 140420 + 20184,
                  [PART_LAUNCH] = 1000,
                  [PART_RETRIEVAL] = 10400,
                  [PART_LOOKUP] = 1000,
                  [PART_LINK] = 4907,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_LINK] = 65519 - 62613, [PART_OVERHEAD] = 20000},
        .layers = {206939 - 21000},
        .in = 16000,
        .out = 400,
    };
    (void)state;
    check(1, "mechanisms={" CHUNKS "keys: hbm, keys_rank: 40}",
          OVERRIDES("trace=assumed:hit=60%", "hardware.gpu.sms=100000"), &expected);
}

/* Keys of 4 bits, whose values are loaded whole a layer ahead: 4000 * 100 B cross, and 4000 * (25 + 100) B
 * are read and written, at 90 to 100 B/ns. */
static void keys_of_few_bits_are_unpacked(void **state)
{
    (void)state;
    struct setup setup = make_tiny(1,
                                   "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer,"
                                   " keys: hbm, keys_bits: 4, operators: 8}",
                                   OVERRIDES("trace=assumed:hit=0%"));
    struct course course;
    make_course(&setup, &course);
    assert_int_equal(course.timing.step[0].moved[WAY_IN], 4000 * 100);
    uint64_t kernels;
    struct kernel made = keys_make(&setup, 4000, 4, &kernels);
    assert_int_equal(kernels, 1);
    assert_near(made.ns, 5000, 0);
    int64_t ns = 0;
    for (engine_task_id task = 0; task < engine_task_count(course.pipe.engine); task++) {
        const struct engine_record *record = engine_task_record(course.pipe.engine, task);
        const struct pipe_mark *mark = &course.pipe.marks[record->tag];
        if (mark->step == 1 && mark->part == PART_RECOMPUTE) {
            ns += record->end_ns - record->start_ns;
        }
    }
    assert_true(ns >= 5000 && ns <= 5556);
    course_release(&course);
    setup_release(&setup);
}

/* Keys that lie in HBM as they are need no making. */
static void whole_keys_are_read_where_they_lie(void **state)
{
    (void)state;
    struct setup setup =
        make_tiny(1, "mechanisms={" CHUNKS "keys: hbm}", OVERRIDES("trace=assumed:hit=60%"));
    uint64_t kernels;
    assert_near(keys_make(&setup, 160, 4, &kernels).ns, 0, 0);
    assert_int_equal(kernels, 0);
    assert_string_equal(setup_lossless(&setup), "lossy"); /* of a selection */
    setup_release(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_alone_lie_on_the_host),
        cmocka_unit_test(latents_are_not_divided),
        cmocka_unit_test(keys_are_made_while_values_cross),
        cmocka_unit_test(keys_of_few_bits_are_unpacked),
        cmocka_unit_test(whole_keys_are_read_where_they_lie),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
