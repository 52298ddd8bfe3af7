/* Streaming: schedules worked out by hand, as expected.h reads them. */
#include "unit/fixture/expected_times.h"

/* Weights of a layer cross in 2000 + 1680400 and are what everything waits for; one load follows
 * the other. Let those of layer 1 be there at T; the main stream has 100 B/ns for 2000 ns, then 90:
 *
 *  main    L1 pre T+31125, attend T+40059, post T+196082, edge T+218505; then L0's weights are
 *          there at T+1682400, L0 ends 196082 later, and L1's are there at T+3364800 */
static void streamed_weights_set_the_pace(void **state)
{
    enum { LOAD = 1682400, LAYER = 196082, TAIL = 218505 };
    const struct expected_times expected = {
        .step = 2 * LOAD,
        .parts = {[PART_COMPUTE] = TAIL, [PART_WEIGHTS] = 2 * LOAD - TAIL},
        .stalls = {[PART_WEIGHTS] = 2 * LOAD - TAIL - LAYER},
        .layers = {LAYER, LOAD},
        .in = 2 * TINY_LAYER_WEIGHTS,
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, weights: 0%, operators: 8}", OVERRIDES(NULL),
          &expected);
}

/* Two sequences pass one after the other; the KV of the next pass, 2000 + 80000, crosses beside
 * this one's compute, into the buffer that the pass before it attended to. New KV, 2000 + 80,
 * leaves after each pass, which costs the next kernel 8 ns.
 *
 *  launch  token 20000, copy call 21000, pre 22000, ... ahead
 *  h2d     0.1's 21000-103000, 1.0's -185000, 1.1's 250933-332933, the next 0.0's 435613-517613
 *  main    pre 22000: 1000 ns at 100, then 90, -53236, attend -62170, post: to 103000 at 90, to
 *          105000 at 100, to 185000 at 90, -214673; 0.1 pre -242893, attend -250933, post 2000 ns
 *          at 100, 80000 at 90, -399353; 1.0 pre -427573, attend -435613, post -584033; 1.1 pre
 *          -612253, attend -620293, post -760713, edge (2034000 B) -781061 */
static void micro_batches_take_turns(void **state)
{
    const struct expected_times expected = {
        .step = 781061,
        .parts = {[PART_COMPUTE] = 781061 - 22000, [PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .layers = {399353 - 22000, 760713 - 399353},
        .in = 4 * 800000,
        .out = 4 * 800,
    };
    (void)state;
    check(2,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, micro_batch: zig-zag,"
          " micro_batch_sequences: 1, operators: 8}",
          OVERRIDES("batch=2", "trace=assumed:hit=0%"), &expected);
}

/* FlexGen's loop, over one layer in two halves. The launch thread copies the KV of the next step
 * into a pinned block, at 1 B/ns: 1000 + 800000; then it crosses in 2000 + 80000.
 *
 *  launch  token 20000, pre 21000 (23000), attend 24000, barrier 59332-79332, copy 880332, post
 *          881332 (884332), barrier 1029752-1049752, edge 1050752
 *  d2h     new KV 57252-59332
 *  h2d     880332-962332
 *  main    pre 21000-49212, attend -57252, post 881332: 1000 ns at 100, 80000 at 90, -1029752,
 *          edge 1050752-1070932 */
static void barriers_end_each_pass_of_pageable_copies(void **state)
{
    const struct expected_times expected = {
        .step = 1070932,
        .parts = {[PART_COMPUTE] = 36252 + 148420 + 20180,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 40000,
                  [PART_GATHER] = 801000,
                  [PART_LINK] = 2080,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 3000,
                   [PART_SYNC] = 40000,
                   [PART_GATHER] = 801000,
                   [PART_LINK] = 2080,
                   [PART_OVERHEAD] = 20000},
        .layers = {1029752 - 21000},
        .in = 800000,
        .out = 800,
    };
    (void)state;
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, transfer: pageable,"
          " halves: yes, barrier: pass, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &expected);
}

/* The same with all KV on a disk: the KV of the next step is read in 10000 + 800000 B at 2 B/ns,
 * into a pinned block, and crosses when all of it is there. New KV is written when it has left,
 * 10000 + 800 B at 1 B/ns, and the barrier waits for that, too.
 *
 *  launch  token 20000, pre 21000 (23000), attend 24000, barrier 70132-90132, copy call 91132, post
 *          92132 (95132), barrier 582132-602132, edge 603132
 *  d2h     new KV 57252-59332
 *  write   59332-70132
 *  read    90132-500132
 *  h2d     500132-582132
 *  main    pre 21000-49212, attend -57252, post 92132-232552, edge 603132-623312 */
static void whole_layers_come_from_a_disk(void **state)
{
    const struct expected_times expected = {
        .step = 623312,
        .parts = {[PART_COMPUTE] = 36252 + 20180,
                  [PART_LAUNCH] = 2000,
                  [PART_SYNC] = 40000,
                  [PART_DISK] = 10800 + 410000,
                  [PART_LINK] = 2080 + 82000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 4000,
                   [PART_SYNC] = 40000,
                   [PART_DISK] = 10800 + 500132 - 232552,
                   [PART_LINK] = 2080 + 82000,
                   [PART_OVERHEAD] = 20000},
        .layers = {232552 - 21000},
        .in = 800000,
        .out = 800,
        .read = 800000,
        .written = 800,
    };
    (void)state;
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, transfer: pageable,"
          " halves: yes, barrier: pass, operators: 8, disk_kv: 100%}",
          OVERRIDES("trace=assumed:hit=0%"), &expected);
}

/* The same with attention on the CPU: 4 heads of 1000 tokens by 4 threads at 2 B/ns, woken in 10000:
 * 110000. Queries, 2000 B, leave in 2200, and the thread wakes after 20000; answers, 2080 B, come back
 * in 2208. No KV crosses the link.
 *
 *  launch  token 20000, pre 21000 (23000), copy call 24000, sync 51412-71412, copy call 181412-182412,
 *          barrier 197500-217500, post 218500 (221500), barrier 627500-647500, edge 648500
 *  d2h     queries 49212-51412, new KV 184620-186700
 *  pool    71412-181412
 *  h2d     answers 182412-184620
 *  write   186700-197500
 *  read    217500-627500
 *  main    pre 21000-49212, post 218500-358920, edge 648500-668680 */
static void cpu_attends_to_what_a_disk_holds(void **state)
{
    const struct expected_times expected = {
        .step = 668680,
        .parts = {[PART_COMPUTE] = 28212 + 20180,
                  [PART_LAUNCH] = 3000,
                  [PART_SYNC] = 60000 + 2200 + 2208,
                  [PART_CPU_ATTENTION] = 110000,
                  [PART_DISK] = 10800 + 410000,
                  [PART_LINK] = 2080,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 4000,
                   [PART_SYNC] = 60000 + 2200 + 2208,
                   [PART_CPU_ATTENTION] = 110000,
                   [PART_DISK] = 10800 + 627500 - 358920,
                   [PART_LINK] = 2080,
                   [PART_OVERHEAD] = 20000},
        .layers = {358920 - 21000},
        .in = 2080,
        .out = 2000 + 800,
        .read = 800000,
        .written = 800,
    };
    (void)state;
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, transfer: pageable,"
          " halves: yes, barrier: pass, operators: 8, disk_kv: 100%, attention: cpu}",
          OVERRIDES("trace=assumed:hit=0%"), &expected);
}

static int64_t cpu_attention_with(const char *drafts)
{
    struct setup setup = make_tiny(
        1, "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, attention: cpu}",
        OVERRIDES("trace=assumed:hit=0%", drafts));
    struct course course;
    make_course(&setup, &course);
    int64_t ns = course.timing.part_ns[PART_CPU_ATTENTION] / 3;
    course_release(&course);
    setup_release(&setup);
    return ns;
}

/* 4 heads of 1000 tokens hold 400 000 values of K and V. One query of each of 5 query heads is as fast
 * as these are read, 100 000 ns; four take 2 * 400 000 * 5 * 4 FLOPs at 1 GFLOP/s. Waking takes 10000. */
static void several_queries_take_the_cpus_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(cpu_attention_with("drafts.count=0"), 110000);
    assert_int_equal(cpu_attention_with("drafts={count: 3, method: ngram, acceptance: 50%}"),
                     16010000);
}

/* Two sequences, A and B, in 2 layers: while the CPU attends for one, 110000 as above, the GPU passes
 * the FFN of the other, 140420, and its next projections, 28212. The edge of two takes 20340. The last
 * answer takes 2080 B of HBM, 21, from post A.1.
 *
 *  launch  token 20000, pre A.0 21000 (23000), call 24000, sync 51412-71412, pre B.0 72412 (74412),
 *          call 75412, sync 102824-122824, call 181412-182412, post A.0 183412 (186412), pre A.1 187412
 *          (189412), call 190412, sync 355452-375452, call 376452, post B.0 377452 (380452), pre B.1
 *          381452 (383452), call 384452, sync 549492-569492, call 570492, post A.1 571492 (574492),
 *          call 679492-680492, post B.1 681492 (684492), edge 685492
 *  d2h     queries A.0 -51412, B.0 100624-102824, A.1 353252-355452, B.1 547292-549492
 *  pool    A.0 71412-181412, B.0 -291412, A.1 375452-485452, B.1 569492-679492
 *  h2d     answers -184620, 376452-378660, 570492-572700, 680492-682700
 *  main    pre A.0 21000-49212, B.0 72412-100624, post A.0 184620-325040, pre A.1 -353252, post B.0
 *          378660-519080, pre B.1 -547292, post A.1 572700-713141, post B.1 -853561, edge -873901 */
static void halves_of_a_batch_alternate_between_gpu_and_cpu(void **state)
{
    struct setup setup =
        make_tiny(2,
                  "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, operators: 8,"
                  " attention: cpu, micro_batch: alternating}",
                  OVERRIDES("trace=assumed:hit=0%", "batch=2"));
    struct course course;
    (void)state;
    make_course(&setup, &course);
    assert_int_equal(course.timing.step[0].ns, 873901);
    assert_int_equal(course.timing.step[0].moved[WAY_IN], 4 * 2080);
    course_release(&course);
    setup_release(&setup);
}

/* Half of a layer's weights, 8402000 B, is read in 4211000, and the drive never rests. The other
 * half crosses meanwhile. Let those of layer 0 be read at R:
 *
 *  read    L1's R-R+4211000, the next L0's -R+8422000
 *  h2d     L0's R-R+842200, L1's half on the host -R+1684400, L1's read half R+4211000-R+5053200,
 *          the next L0's half on the host -R+5895400
 *  main    L0 R+842200-R+1038282 as above, L1 from R+5053200, edge -R+5271705
 *
 * The step before ended at R+5271705-8422000. */
static void half_of_the_weights_come_from_a_disk(void **state)
{
    enum { READ = 4211000, COPY = 842200, LAYER = 196082, TAIL = 218505 };
    enum { STEP = 2 * READ, WAITED = STEP - READ - COPY - TAIL };
    const struct expected_times expected = {
        .step = STEP,
        .parts = {[PART_COMPUTE] = TAIL, [PART_WEIGHTS] = COPY, [PART_DISK] = READ + WAITED},
        .stalls = {[PART_WEIGHTS] = 2 * COPY, [PART_DISK] = WAITED + READ - COPY - LAYER},
        .layers = {LAYER, READ},
        .in = 2 * TINY_LAYER_WEIGHTS,
        .read = TINY_LAYER_WEIGHTS,
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, weights: 0%, operators: 8, disk_weights: 50%}",
          OVERRIDES(NULL), &expected);
}

/* Nothing is kept but activations, 2000 B a token, and K and V are made of them: 800000 B of
 * weights, 1000 * (2000 + 800) B. Those of the next step cross from its start in 2000 + 200000.
 *
 *  launch  token 20000, copy call 21000, pre 22000, ... ahead
 *  h2d     21000-223000
 *  main    pre 22000: 1000 ns at 100, then 90, -53236, recompute -93236, attend -102170, post to
 *          223000 at 90, -254673, edge, 20 ns longer for the new activations, -274873 */
static void activations_become_keys_and_values(void **state)
{
    const struct expected_times expected = {
        .step = 274873,
        .parts = {[PART_COMPUTE] = 274873 - 22000 - 40000,
                  [PART_RECOMPUTE] = 40000,
                  [PART_LAUNCH] = 2000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .layers = {254673 - 22000},
        .in = 2000000,
        .out = 2000,
    };
    (void)state;
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, representation: act,"
          " operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &expected);
}

/* Half of each token's KV is made of activations: a step whose edge takes so long, and what leaves. */
static void check_half_recomputed(const char *representation, int64_t edge, int64_t out)
{
    const struct expected_times expected = {
        .step = 247174 + edge,
        .parts = {[PART_COMPUTE] = 31236 + (247174 - 91570) + edge,
                  [PART_RECOMPUTE] = 24445,
                  [PART_MERGE] = 8889,
                  [PART_LAUNCH] = 2000,
                  [PART_OVERHEAD] = 25000},
        .stalls = {[PART_LAUNCH] = 2000, [PART_OVERHEAD] = 20000},
        .layers = {247174 - 22000},
        .in = 1400000,
        .out = out,
    };
    check(1,
          "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-layer, representation_share: 50%,"
          " merge: yes, micro_batch_overhead: 5us, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%", representation), &expected);
}

/* Half of each: 400000 B of KV and 1000000 B of activations in 2000 + 140000. The micro-batch costs
 * 5000 besides; what was loaded is copied behind what was made, 800000 B.
 *
 *  h2d     21000-163000
 *  main    pre 22000-53236, overhead -58236, recompute 2200000 B at 90 -82681, merge -91570, attend
 *          -100504, post to 163000 at 90, -247174, edge, 14 ns longer, -267368 */
static void hybrid_recomputes_beside_the_loads(void **state)
{
    (void)state;
    check_half_recomputed("mechanisms.representation=hybrid", 20194, 1400);
}

/* Heads of 200000 B cross in 22000 and are attended to in 2010 each, while the next crosses. Kernels run
 * at 90 B/ns beside a load:
 *
 *  launch  token 20000, pre 21000 (23000), for each head copy call and attend -31000, post 32000
 *  h2d     head 1 24000-46000, head 2 53222-75222, head 3 -97222, the next head 0 -119222
 *  main    pre 21000-51212, heads 0 -53222, 1 -55234, 2 75222-77234, 3 97222-99234, post -241653, edge,
 *          8 longer, -261841 */
static void heads_are_loaded_one_ahead(void **state)
{
    const struct expected_times expected = {
        .step = 261841,
        .parts = {[PART_COMPUTE] = 261841 - 21000 - 2 * 22000,
                  [PART_LINK] = 2 * 22000,
                  [PART_LAUNCH] = 1000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000,
                   [PART_LINK] = (75222 - 55234) + (97222 - 77234),
                   [PART_OVERHEAD] = 20000},
        .layers = {241653 - 21000},
        .in = 800000,
        .out = 800,
    };
    (void)state;
    check(1, "mechanisms={sinks: 0tok, recent: 0tok, prefetch: whole-head, operators: 8}",
          OVERRIDES("trace=assumed:hit=0%"), &expected);
}

/* The same where the host keeps K and V and activations of each token: 2800 B of a new one leave, beside
 * which the edge takes 28 ns longer. */
static void both_are_kept_and_one_crosses(void **state)
{
    (void)state;
    check_half_recomputed("mechanisms.representation=both", 20208, 2800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streamed_weights_set_the_pace),
        cmocka_unit_test(micro_batches_take_turns),
        cmocka_unit_test(barriers_end_each_pass_of_pageable_copies),
        cmocka_unit_test(whole_layers_come_from_a_disk),
        cmocka_unit_test(cpu_attends_to_what_a_disk_holds),
        cmocka_unit_test(several_queries_take_the_cpus_arithmetic),
        cmocka_unit_test(halves_of_a_batch_alternate_between_gpu_and_cpu),
        cmocka_unit_test(half_of_the_weights_come_from_a_disk),
        cmocka_unit_test(activations_become_keys_and_values),
        cmocka_unit_test(hybrid_recomputes_beside_the_loads),
        cmocka_unit_test(both_are_kept_and_one_crosses),
        cmocka_unit_test(heads_are_loaded_one_ahead),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
