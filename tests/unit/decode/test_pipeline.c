/* All KV in HBM: schedules worked out by hand, as expected.h reads them. */
#include "unit/fixture/expected_times.h"

#include <math.h>

#define FULL "mechanisms={resident_heads: all, operators: 8}"
#define FULL_GRAPH "mechanisms={resident_heads: all, operators: 8, launch: graph}"

/*  launch  token 0-20000, pre 21000, (2 more) 23000, attend 24000, post 25000, ... far ahead
 *  main    waits for the first launch at 21000, then never again:
 *          pre 28212, attend 40 + 8 * 1000 = 8040, post 140420: 176672 a layer; edge 20180 */
static void eager_kernels_hide_their_launches(void **state)
{
    const struct expected_times expected = {
        .step = 20000 + 1000 + 2 * 176672 + 20180,
        .parts =
            {[PART_COMPUTE] = 2 * 176672 + 20180, [PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {176672, 176672},
    };
    (void)state;
    check(2, FULL, OVERRIDES(NULL), &expected);
}

/* A launch takes 100 us. The launch thread is never idle: 8 + 8 + 3 launches and the token.
 *  launch  the last two of the edge of the step before -179820, token 199820,
 *          L0 pre 299820 (499820), attend 599820, post 699820 (999820),
 *          L1 pre 1099820 (1299820), attend 1399820, post 1499820 (1799820), edge 1899820
 *  main    L0 pre 299820-328032, attend 599820-607860, post 699820-840240,
 *          L1 pre 1099820-1128032, attend 1399820-1407860, post 1499820-1640240,
 *          edge 1899820-1920000
 * Everything but the last kernel and the token is launches. */
static void slow_launches_hide_the_kernels(void **state)
{
    const struct expected_times expected = {
        .step = 19 * 100000 + 20000,
        .parts = {[PART_COMPUTE] = 20180, [PART_OVERHEAD] = 20000, [PART_LAUNCH] = 1900000 - 20180},
        .stalls = {[PART_OVERHEAD] = 20000, [PART_LAUNCH] = 1900000 - 2 * 176672 - 20180},
        .layers = {840240 - 299820, 1640240 - 840240},
    };
    (void)state;
    check(2, FULL, OVERRIDES("hardware.host.launch=100us"), &expected);
    check(2, FULL, OVERRIDES("hardware.host.launch=40us", "mechanisms.launch_cost=2.5x"),
          &expected);
}

/* No kernel is shorter than 20 us: pre 60 us for its 3, attend 20, post still 140.42, edge 60. */
static void short_kernels_last_as_long_as_the_floor(void **state)
{
    const struct expected_times expected = {
        .step = 21000 + 2 * (60000 + 20000 + 140420) + 60000,
        .parts = {[PART_COMPUTE] = 500840, [PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {220420, 220420},
    };
    (void)state;
    check(2, FULL, OVERRIDES("hardware.gpu.kernel_floor=20us"), &expected);
}

/* Of 16 kernels, 6 run before attention, where the model has 4 operators, and 8 behind it, where it
 * has 5: 5 small ones more, 1000 ns each. */
static void unfused_kernels_take_the_floor_each(void **state)
{
    const int64_t layer = 176672 + 5 * 1000;
    const struct expected_times expected = {
        .step = 21000 + 2 * layer + 20180,
        .parts =
            {[PART_COMPUTE] = 2 * layer + 20180, [PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 1000, [PART_OVERHEAD] = 20000},
        .layers = {layer, layer},
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, operators: 16}", OVERRIDES(NULL), &expected);
}

/* One launch of 5 us a step. A gap of 50 us between nodes: pre 150, attend 50, post 200, edge 150.
 */
static void graph_is_launched_once(void **state)
{
    const struct expected_times quick = {
        .step = 25000 + 2 * 176672 + 20180,
        .parts = {[PART_COMPUTE] = 373524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {176672, 176672},
    };
    const struct expected_times gaps = {
        .step = 25000 + 2 * 400000 + 150000,
        .parts = {[PART_COMPUTE] = 950000, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {400000, 400000},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("hardware.host.launch=100us"), &quick);
    check(2, FULL_GRAPH, OVERRIDES("hardware.gpu.graph_node=50us"), &gaps);
}

/* The scheduler's 1500 us come after the token's 20 us, on the launch thread. */
static void scheduler_holds_up_the_next_step(void **state)
{
    const struct expected_times expected = {
        .step = 1520000 + 5000 + 373524,
        .parts = {[PART_COMPUTE] = 373524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 1520000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 1520000},
        .layers = {176672, 176672},
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, operators: 8, launch: graph, step_overhead: 1500us}",
          OVERRIDES(NULL), &expected);
}

/* Half a context: attention alone is shorter, by 500 tokens * 8 ns. Two sequences: their 1000
 * tokens each are 8000 ns more in attend; each sequence more adds, by operator, (norm) 8000 +
 * (qkv) 4800 + (rope) 4800 + (kv_write) 1600 B to pre, 4000 to attend, 4000 + 8000 + 10000 + 12000
 * + 6000 to post and 4000 + 8000 + 4000 to the edge, at 100 B a nanosecond. */
static void batch_and_context_cost_their_bytes(void **state)
{
    const struct expected_times half = {
        .step = 25000 + 2 * 172672 + 20180,
        .parts = {[PART_COMPUTE] = 365524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {172672, 172672},
    };
    const struct expected_times two = {
        .step = 25000 + 2 * (28404 + 16080 + 140820) + 20340,
        .parts = {[PART_COMPUTE] = 390948, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {185304, 185304},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("context=500"), &half);
    check(2, FULL_GRAPH, OVERRIDES("batch=2"), &two);
}

/* Arithmetic of 0.1 TFLOP/s: 100 FLOPs a nanosecond. qkv 2 * 1000 * 1400 / 100 = 28000, less than
 * its 28048 by bytes; attention 4 * 1000 * 1000 / 100 = 40000, o 20000 (20040 by bytes), gate_up
 * 80000 (80100), down 40000 (40060), the head 20000 (20040). At half that rate, every product is
 * bound by it: qkv 56000, attention 80000, o 40000, gate_up 160000, down 80000, head 40000, and the
 * other kernels stay: pre 164 (norm 100, rope 48, kv_write 16), post 220 (norm 100, activation
 * 120), edge 140 (embedding 40, norm 100). */
static void each_operator_has_its_own_roofline(void **state)
{
    const struct expected_times even = {
        .step = 25000 + 2 * (28212 + 40000 + 140420) + 20180,
        .parts = {[PART_COMPUTE] = 437444, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {208632, 208632},
    };
    const struct expected_times slow = {
        .step = 25000 + 2 * (56164 + 80000 + 280220) + 40140,
        .parts = {[PART_COMPUTE] = 872908, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {416384, 416384},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("hardware.gpu.flops_bf16=100GFLOP/s"), &even);
    check(2, FULL_GRAPH, OVERRIDES("hardware.gpu.flops_bf16=50GFLOP/s"), &slow);
    check(2, FULL_GRAPH,
          OVERRIDES("hardware.gpu.flops_bf16=100GFLOP/s", "hardware.gpu.flops_share=50%"), &slow);
}

/* Products of bf16 at half of the bandwidth, 1 us each: qkv 2804800 / 50 + 1000 = 57096, o 41080,
 * gate_up 161200, down 81120, head 41080; the other kernels stay. Attention of 804000 B at 80 B a
 * nanosecond, 10 us, and 100 ns for each of 4 KV heads: 10050 + 10000 + 400.
 *
 * With weights of fp8, which have figures of their own, 2 us each: qkv 1404800 / 50 + 2000 = 30096,
 * o 22080, gate_up 82200, down 42120; the head stays bf16. With KV of fp8, attention of 404000 B at 40 B a
 * nanosecond, 5 us, and 50 ns for each KV head: 15300; and writing KV takes 4 ns less.
 *
 * With weights of 4 bits and a scale of 16 for 128 of them, at a quarter of the bandwidth: qkv
 * 726675 / 25 + 2000 = 31067, o 22785, gate_up 84900, down 43490. */
static void kernels_have_figures_of_their_own(void **state)
{
    const struct expected_times bf16 = {
        .step = 25000 + 2 * (57260 + 20450 + 283620) + 41220,
        .parts = {[PART_COMPUTE] = 763880, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {361330, 361330},
    };
    const struct expected_times fp8 = {
        .step = 25000 + 2 * (30256 + 15300 + 146620) + 20180,
        .parts = {[PART_COMPUTE] = 404532, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {192176, 192176},
    };
    const struct expected_times int4 = {
        .step = 25000 + 2 * (31231 + 8040 + 151395) + 20180,
        .parts = {[PART_COMPUTE] = 401512, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {190666, 190666},
    };
    (void)state;
    check(2, FULL_GRAPH,
          OVERRIDES("hardware.gpu.product_fixed=1us", "hardware.gpu.product_share=50%",
                    "hardware.gpu.attention_fixed=10us", "hardware.gpu.attention_share=80%",
                    "hardware.gpu.attention_pair=100ns"),
          &bf16);
    check(2, FULL_GRAPH,
          OVERRIDES("dtype.weights=fp8", "dtype.kv=fp8", "hardware.gpu.product_fixed_fp8=2us",
                    "hardware.gpu.product_share_fp8=50%", "hardware.gpu.flops_share_fp8=100%",
                    "hardware.gpu.attention_fixed=10us", "hardware.gpu.attention_fixed_fp8=5us",
                    "hardware.gpu.attention_share_fp8=40%", "hardware.gpu.attention_pair_fp8=50ns"),
          &fp8);
    check(2, FULL_GRAPH,
          OVERRIDES("dtype.weights=int4", "hardware.gpu.product_fixed_int4=2us",
                    "hardware.gpu.product_share_int4=25%", "hardware.gpu.flops_share_int4=100%"),
          &int4);
}

/* Two GPUs: 10 query and 2 KV heads, half of the FFN and of the head; norms, hidden states and the
 * embedding as before. Bytes: pre 10000 + (qkv) 1403400 + 2400 + 800 = 1416600; attend 2000 + 400 *
 * 1000; post (o) 1003000 + 10000 + (gate_up) 4006000 + 6000 + (down) 2004000 = 7029000; edge 4000 +
 * 10000 + 1003000. Two all-reduces of 5 us a layer, and the logits are gathered in 5 us. */
static void gpus_share_the_work_and_meet_twice_a_layer(void **state)
{
    const struct expected_times expected = {
        .step = 25000 + 2 * (14166 + 4020 + 70290 + 10000) + 10170 + 5000,
        .parts = {[PART_COMPUTE] = 2 * (14166 + 4020 + 70290) + 10170,
                  [PART_COLLECTIVE] = 25000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {98476, 98476},
    };
    (void)state;
    check(2, FULL_GRAPH, OVERRIDES("tensor_parallel=2"), &expected);
}

/* 5 query heads a KV head. K and V of what is attended to are read, written 5 times and read 5
 * times: 10 times more than in place, 10 * 800 B a token. */
static void copies_for_query_heads_are_written_and_read(void **state)
{
    const struct expected_times all = {
        .step = 25000 + 2 * (176672 + 80000) + 20180,
        .parts = {[PART_COMPUTE] = 533524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {256672, 256672},
    };
    /* 100 tokens: no shorter than 1000, and 8000. 4000 entries of 20 B, 11 times, and 30 B of
     * scores: 10000, and top-k 10000. */
    const struct expected_times some = {
        .step = 25000 + 2 * (28212 + 20000 + 9000 + 140420) + 20180,
        .parts = {[PART_COMPUTE] = 2 * (28212 + 9000 + 140420) + 20180,
                  [PART_RETRIEVAL] = 40000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {197632, 197632},
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, operators: 8, launch: graph, repeat_kv: yes}",
          OVERRIDES(NULL), &all);
    check(2,
          "mechanisms={resident_heads: all, operators: 8, launch: graph, repeat_kv: yes,"
          " sinks: 0tok, recent: 0tok, selection: 100tok, retrieval: pq, retrieval_bytes: 20B,"
          " retrieval_scores: 30B, retrieval_kernels: 4}",
          OVERRIDES(NULL), &some);
}

/* K and V of 1000 tokens are written once and read once more, 800 B each. */
static void kv_that_is_appended_by_copy_is_written_and_read(void **state)
{
    const struct expected_times expected = {
        .step = 25000 + 2 * (176672 + 16000) + 20180,
        .parts = {[PART_COMPUTE] = 405524, [PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {192672, 192672},
    };
    (void)state;
    check(2, "mechanisms={resident_heads: all, operators: 8, launch: graph, append_by_copy: yes}",
          OVERRIDES(NULL), &expected);
}

/* 0.1 TFLOP/s: 4000 keys of 50 values against 5 queries each are 2 000 000 FLOPs, 20000 ns, where
 * their 400 000 B take 4000. Attention to 100 tokens takes 4000. */
static void scores_of_keys_take_their_flops(void **state)
{
    const struct expected_times expected = {
        .step = 25000 + 2 * (28212 + 30000 + 4000 + 140420) + 20180,
        .parts = {[PART_COMPUTE] = 2 * (28212 + 4000 + 140420) + 20180,
                  [PART_RETRIEVAL] = 60000,
                  [PART_LAUNCH] = 5000,
                  [PART_OVERHEAD] = 20000},
        .stalls = {[PART_LAUNCH] = 5000, [PART_OVERHEAD] = 20000},
        .layers = {202632, 202632},
    };
    (void)state;
    check(2,
          "mechanisms={resident_heads: all, operators: 8, launch: graph, sinks: 0tok,"
          " recent: 0tok, selection: 10%, retrieval: clusters, retrieval_keys: 1x,"
          " retrieval_kernels: 3}",
          OVERRIDES("hardware.gpu.flops_bf16=100GFLOP/s"), &expected);
}

/* Shares of 3/8 and 1/8, rounded up; at least one kernel a stage. */
static void kernels_are_split_between_stages(void **state)
{
    (void)state;
    struct mechanisms m = {0};
    for (m.operators = 1; m.operators <= 1000; m.operators++) {
        uint64_t pre = m.operators < 3 ? 1 : (uint64_t)floor(0.375 * (double)m.operators);
        uint64_t attend = (uint64_t)ceil(0.125 * (double)m.operators);
        assert_int_equal(cost_stage_kernels(&m, MODEL_PRE), pre);
        assert_int_equal(cost_stage_kernels(&m, MODEL_ATTEND), attend);
        assert_int_equal(cost_stage_kernels(&m, MODEL_POST),
                         m.operators > pre + attend ? m.operators - pre - attend : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eager_kernels_hide_their_launches),
        cmocka_unit_test(slow_launches_hide_the_kernels),
        cmocka_unit_test(short_kernels_last_as_long_as_the_floor),
        cmocka_unit_test(unfused_kernels_take_the_floor_each),
        cmocka_unit_test(graph_is_launched_once),
        cmocka_unit_test(scheduler_holds_up_the_next_step),
        cmocka_unit_test(batch_and_context_cost_their_bytes),
        cmocka_unit_test(each_operator_has_its_own_roofline),
        cmocka_unit_test(kernels_have_figures_of_their_own),
        cmocka_unit_test(gpus_share_the_work_and_meet_twice_a_layer),
        cmocka_unit_test(copies_for_query_heads_are_written_and_read),
        cmocka_unit_test(kv_that_is_appended_by_copy_is_written_and_read),
        cmocka_unit_test(scores_of_keys_take_their_flops),
        cmocka_unit_test(kernels_are_split_between_stages),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
